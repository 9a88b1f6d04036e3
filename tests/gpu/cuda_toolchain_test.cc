#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "compiler/pipeline/pipeline.h"
#include "compiler/schedule/trace.h"
#include "compiler/toolchain/programs.h"
#include "proto/gpu_abi.h"
#include "tests/support/problem_of.h"
#include "tests/support/temporary_directory.h"

// From a schedule to a shared object with modules for GPUs; no GPU is needed.
namespace schaas::toolchain {
namespace {

const std::string shared_rows =
    "reorder(order={k,i,j}); threads(loop=k, each=2); threads(loop=i, each=1/8); "
    "group(loop=i, width=8, reduce=parallel)";

support::Result<std::string> compiled(const std::string& trace, const std::string& isa,
                                      const CudaToolchainOptions& options = {}) {
  const auto problem = test_support::problem_of("C(i,k) = A(i,j) * B(j,k)", {{"A", "csr"}});
  const auto canonical = problem::canonicalize(problem);
  const auto toolchain = make_cuda_toolchain(make_c_toolchain({}), options);
  schedule::NewNames names;
  for (const auto& [own, user] : canonical.user_index) names.emplace_back(user, own);
  return pipeline::compile(canonical, schedule::rename(schedule::parse(trace).value(), names, {}), {isa},
                           *toolchain, {});
}

const std::string nvrtc_program = SCHAAS_BINARY_DIR "/schaas-nvrtc";

bool has_nvcc() { return find_program("nvcc") || find_program("/usr/local/cuda/bin/nvcc"); }

TEST(CudaToolchain, WithoutAToolkitSaysWhatToDo) {
  CudaToolchainOptions options;
  options.compiler = "no-such-nvcc";
  const auto toolchain = make_cuda_toolchain(make_c_toolchain({}), options);
  const auto binary = toolchain->compile_c("", {"cuda"}, {});
  ASSERT_FALSE(binary.ok());
  EXPECT_EQ(
      support::render(binary.error()),
      "unsupported [no-cuda]: no CUDA toolkit here: `no-such-nvcc` is neither on PATH nor in "
      "/usr/local/cuda/bin, so no kernels are compiled for GPUs; install the CUDA toolkit (12 or newer) on "
      "the server, or take `--target cpu`");
  // Nor the library: what schaas-nvrtc says is the reason.
  const test_support::TemporaryDirectory directory;
  options.nvrtc = directory / "finds-nothing";
  std::ofstream(options.nvrtc) << "#!/bin/sh\necho 'the library NVRTC is not found'\nexit 3\n";
  std::filesystem::permissions(options.nvrtc, std::filesystem::perms::owner_all);
  const auto neither = make_cuda_toolchain(make_c_toolchain({}), options);
  EXPECT_EQ(support::render(neither->compile_c("", {"cuda"}, {}).error()),
            "unsupported [no-cuda]: no CUDA toolkit here: `no-such-nvcc` is neither on PATH nor in "
            "/usr/local/cuda/bin, and the library NVRTC is not found, so no kernels are compiled for GPUs; "
            "install the CUDA toolkit (12 or newer) on the server, or take `--target cpu`");
  EXPECT_EQ(neither->identity({"cuda"}).substr(0, 16), "no CUDA toolkit ");
  EXPECT_TRUE(toolchain->compile_c("int x;\n", {"generic"}, {}).ok());
  EXPECT_EQ(toolchain->identity({"generic"}), make_c_toolchain({})->identity({"generic"}));
  EXPECT_NE(toolchain->identity({"cuda"}), toolchain->identity({"generic"}));
}

TEST(CudaToolchain, SchedulesAreForTheCpuOrForAGpu) {
  const auto for_cpu = compiled(shared_rows, "generic");
  ASSERT_FALSE(for_cpu.ok());
  EXPECT_EQ(
      support::render(for_cpu.error()),
      "unsupported [gpu-schedule]: the schedule is for a GPU: language `cuda` prints it; without `threads` "
      "it is one for the CPU");
  const auto for_gpu = compiled("linear", "cuda");
  ASSERT_FALSE(for_gpu.ok());
  EXPECT_EQ(
      support::render(for_gpu.error()),
      "unsupported [gpu-schedule]: the schedule says nothing of the threads of a GPU: `threads(loop=...)` "
      "at its end does (docs/gpu.md); language `c` prints it for the CPU");
}

/// By nvcc, and by the library NVRTC where there is none.
class Compiled : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (GetParam() == std::string("nvcc")) {
      if (!has_nvcc()) GTEST_SKIP() << "no nvcc is installed";
      return;
    }
    options_.compiler = "no-such-nvcc";
    options_.nvrtc = nvrtc_program;
    const auto identity = make_cuda_toolchain(make_c_toolchain({}), options_)->identity({"cuda"});
    if (identity.starts_with("no CUDA toolkit")) GTEST_SKIP() << "NVRTC is not installed";
    EXPECT_EQ(identity.substr(0, 6), "NVRTC ");
  }
  CudaToolchainOptions options_;
};
INSTANTIATE_TEST_SUITE_P(By, Compiled, ::testing::Values("nvcc", "NVRTC"),
                         [](const auto& by) { return std::string(by.param); });

TEST_P(Compiled, AnObjectHasTheHostHalfAndModules) {
  const auto binary = compiled(shared_rows, "cuda", options_);
  ASSERT_TRUE(binary.ok()) << support::render(binary.error());
  const test_support::TemporaryDirectory directory;
  const std::string path = directory / "kernel.so";
  std::ofstream(path, std::ios::binary) << *binary;
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto* kernel = static_cast<const schaas_gpu_descriptor*>(dlsym(library, SCHAAS_GPU_SYMBOL));
  const auto* images = static_cast<const schaas_gpu_image*>(dlsym(library, SCHAAS_GPU_IMAGES_SYMBOL));
  ASSERT_NE(kernel, nullptr);
  ASSERT_NE(images, nullptr);
  EXPECT_EQ(kernel->abi_version, SCHAAS_GPU_ABI_VERSION);
  EXPECT_EQ(kernel->argument_count, 3);
  ASSERT_EQ(kernel->phase_count, 1);
  EXPECT_EQ(kernel->writes_all, 1);
  EXPECT_EQ(std::string(kernel->phases[0].function), "schaas_phase_0");
  EXPECT_EQ(kernel->phases[0].launch, nullptr);
  EXPECT_EQ(std::string(images[0].architecture), "sm_80");
  EXPECT_EQ(std::string(images[1].architecture), "sm_90");
  EXPECT_EQ(std::string(images[2].architecture), "compute_90");
  EXPECT_EQ(images[3].architecture, nullptr);
  const std::string elf =
      "\x7f"
      "ELF";
  EXPECT_EQ(std::string(static_cast<const char*>(images[0].bytes), 4), elf);
  EXPECT_EQ(std::string(static_cast<const char*>(images[1].bytes), 4), elf);
  const std::string ptx = static_cast<const char*>(images[2].bytes);
  EXPECT_EQ(static_cast<std::int64_t>(ptx.size()), images[2].size);
  EXPECT_NE(ptx.find(".visible .entry schaas_phase_0("), std::string::npos);

  // 100 rows of 8 threads, 5 columns by two: 2400 threads, 10 blocks of 256.
  const std::array<std::int64_t, 2> result_extents = {100, 5}, rows_extents = {100, 7},
                                    columns_extents = {7, 5};
  const std::array<std::int32_t, 2> modes = {0, 1};
  std::array<schaas_level, 2> dense{}, csr{};
  csr[1].format = SCHAAS_LEVEL_COMPRESSED;
  csr[1].index_bits = 64;
  const schaas_tensor c{2, SCHAAS_F64, result_extents.data(), modes.data(), dense.data(), nullptr};
  const schaas_tensor a{2, SCHAAS_F64, rows_extents.data(), modes.data(), csr.data(), nullptr};
  const schaas_tensor b{2, SCHAAS_F64, columns_extents.data(), modes.data(), dense.data(), nullptr};
  const std::array<const schaas_tensor*, 3> arguments = {&c, &a, &b};
  alignas(16) std::array<char, 4096> parameters{};
  ASSERT_LE(kernel->phases[0].parameter_bytes, static_cast<std::int32_t>(parameters.size()));
  const auto blocks = [&] {
    return kernel->phases[0].prepare(arguments.data(), nullptr, nullptr, 0, parameters.data());
  };
  EXPECT_EQ(blocks(), 10);
  csr[1].index_bits = 32;
  EXPECT_EQ(blocks(), -1);
  dlclose(library);
}

TEST_P(Compiled, WhatIsNoCodeIsRefusedWithTheCompilersWords) {
  const auto toolchain = make_cuda_toolchain(make_c_toolchain({}), options_);
  const auto binary = toolchain->compile_c("int f() { return not_there; }\n", {"cuda"}, {});
  ASSERT_FALSE(binary.ok());
  EXPECT_EQ(binary.error().code, "compiler-failed");
  const std::string start = "`" + std::string(GetParam()) + "` did not accept generated code (exit ";
  EXPECT_EQ(binary.error().message.substr(0, start.size()), start);
  EXPECT_NE(support::render(binary.error()).find("identifier \"not_there\" is undefined"), std::string::npos);
}

}  // namespace
}  // namespace schaas::toolchain
