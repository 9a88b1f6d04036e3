#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>

#include "compiler/problem/canonical.h"
#include "compiler/schedule/trace.h"
#include "schaas/gpu.h"
#include "schaas/tensor.h"
#include "tests/support/gpu_batch.h"
#include "tests/support/problem_of.h"

// The client's side of kernels for GPUs against a driver on the host (fake_driver.c), which runs the kernel's
// emulation; and, where there is one, a device.
namespace schaas::client {
namespace {

const char* const trace =
    "reorder(order={k,i,j}); threads(loop=k, each=2); pos(loop=j, from=i); threads(loop=i, each=1); "
    "group(loop=i, width=8, reduce=segment)";

/// An object as the CUDA toolchain makes it, but that its device code is emulated and its modules are texts.
const std::string& binary() {
  static const std::string bytes = [] {
    const auto problem =
        problem::canonicalize(test_support::problem_of("C(i,k) = A(i,j) * B(j,k)", {{"A", "csr"}}));
    schedule::NewNames names;
    for (const auto& [own, user] : problem.user_index) names.emplace_back(user, own);
    const auto canonical = schedule::rename(schedule::parse(trace).value(), names, {});
    return test_support::emulated_object(canonical, problem.problem, problem.text).value();
  }();
  return bytes;
}

GpuKernel kernel() { return GpuKernel::load(binary(), support::digest_of(binary())).value(); }

class FakeGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    library_ = dlopen(SCHAAS_FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
    set<int>("fake_devices", 1);
    set<int>("fake_architecture", 90);
    set<std::size_t>("fake_free_bytes", std::size_t{1} << 30);
    set(
        "fake_launch", +[](const char* function, unsigned blocks, unsigned threads, void* parameters) {
          launched() +=
              std::string(function) + " " + std::to_string(blocks) + " " + std::to_string(threads) + "\n";
          return failing() ? 719 : launcher()(parameters, blocks, nullptr);
        });
    launched().clear();
    failing() = false;
  }
  void TearDown() override {
    EXPECT_EQ(*static_cast<std::int64_t*>(dlsym(library_, "fake_allocations")), 0)
        << "memory is not released";
    dlclose(library_);
  }
  template <class T>
  void set(const char* name, T value) {
    *static_cast<T*>(dlsym(library_, name)) = value;
  }
  std::string image() const {
    const auto* image = *static_cast<const void**>(dlsym(library_, "fake_image"));
    return static_cast<const char*>(image);
  }
  static support::Result<Gpu> open() { return Gpu::open({SCHAAS_FAKE_DRIVER, 0}); }
  static std::string& launched() {
    static std::string text;
    return text;
  }
  static bool& failing() {
    static bool fails = false;
    return fails;
  }
  using Launch = int32_t (*)(const void*, int64_t, void*);
  static Launch& launcher() {
    static Launch launch = nullptr;
    return launch;
  }

  void* library_ = nullptr;
};

/// A 3 by 4 matrix times 4 by 3.
struct Product {
  Product() {
    CooTensor sparse{{3, 4}, {{0, 0, 2, 2, 2}, {1, 3, 0, 1, 2}}, {1, 2, 3, 4, 5}};
    CooTensor dense{{4, 3}, {{}, {}}, {}};
    for (std::int64_t j = 0; j < 4; ++j) {
      for (std::int64_t k = 0; k < 3; ++k) {
        dense.coordinates[0].push_back(j);
        dense.coordinates[1].push_back(k);
        dense.values.push_back(static_cast<double>(10 * j + k + 1));
      }
    }
    PackOptions options;
    a = pack(sparse, format::parse("csr", 2, "A").value(), options).value();
    b = pack(dense, format::parse("dense", 2, "B").value(), options).value();
    c = zeros({3, 3}, format::parse("dense", 2, "B").value(), options).value();
  }
  std::vector<PackedTensor*> arguments() { return {&c, &a, &b}; }
  std::string result() const {
    std::string text;
    for (int at = 0; at < 9; ++at)
      text += (at == 0 ? "" : " ") + std::to_string(static_cast<int>(c.value(at)));
    return text;
  }
  PackedTensor a, b, c;
};

TEST_F(FakeGpu, RunsAKernelAgainAndAgain) {
  const auto gpu = open();
  ASSERT_TRUE(gpu.ok()) << support::render(gpu.error());
  EXPECT_EQ(gpu->name(), "Fake GPU");
  EXPECT_EQ(gpu->architecture(), 90);
  const auto k = kernel();
  launcher() = k.descriptor().phases[0].launch;
  Product product;
  auto execution = GpuExecution::prepare(*gpu, k, product.arguments());
  ASSERT_TRUE(execution.ok()) << support::render(execution.error());
  EXPECT_EQ(image(), "module sm_90");
  for (int times = 0; times < 2; ++times) {
    const auto run = execution->run();
    ASSERT_TRUE(run.ok()) << support::render(run.error());
    EXPECT_EQ(product.result(), "73 76 79 0 0 0 152 164 176");
  }
  product.a.values().as<double>()[0] = 0;
  ASSERT_TRUE(execution->run().ok());
  EXPECT_EQ(product.result(), "62 64 66 0 0 0 152 164 176");
  // Five entries in a tile of 32, two pairs of columns: 64 threads.
  EXPECT_EQ(launched(), "schaas_phase_0 1 256\nschaas_phase_0 1 256\nschaas_phase_0 1 256\n");
}

TEST_F(FakeGpu, TakesTheModuleForTheDevice) {
  const auto k = kernel();
  Product product;
  const std::map<int, std::string> expected = {
      {80, "module sm_80"}, {86, "module sm_80"}, {100, "module compute_90"}};
  for (const auto& [architecture, module] : expected) {
    set<int>("fake_architecture", architecture);
    ASSERT_TRUE(GpuExecution::prepare(open().value(), k, product.arguments()).ok());
    EXPECT_EQ(image(), module);
  }
  set<int>("fake_architecture", 75);
  EXPECT_EQ(support::render(GpuExecution::prepare(open().value(), k, product.arguments()).error()),
            "unsupported [gpu-image]: the kernel has no module for Fake GPU (sm_75); kernels for the CPU "
            "(`--target cpu`) work");
}

TEST_F(FakeGpu, SaysWhatDoesNotFitBeforeItAllocates) {
  set<std::size_t>("fake_free_bytes", 100);
  Product product;
  const auto gpu = open().value();
  EXPECT_EQ(
      support::render(GpuExecution::prepare(gpu, kernel(), product.arguments()).error()),
      "exhausted [gpu-memory]: the kernel and its tensors need 1 MiB on Fake GPU, and 1 MiB are free there; "
      "kernels for the CPU (`--target cpu`) work");
}

TEST_F(FakeGpu, SaysWhatTheDriverSays) {
  const auto gpu = open().value();
  Product product;
  auto execution = GpuExecution::prepare(gpu, kernel(), product.arguments()).value();
  failing() = true;
  EXPECT_EQ(support::render(execution.run().error()),
            "internal [gpu-failed]: the GPU driver refused to launch `schaas_phase_0`: launch failed (719)");
}

TEST_F(FakeGpu, NoDriverAndNoDevice) {
  set<int>("fake_devices", 0);
  EXPECT_EQ(
      support::render(open().error()),
      "unsupported [no-gpu]: no GPU can be used: device 0 is asked for and the driver has 0; kernels for "
      "the CPU (`--target cpu`) work");
  EXPECT_EQ(support::render(Gpu::open({"libcuda-that-is-not-there.so.1", 0}).error()),
            "unsupported [no-gpu]: no GPU can be used: the NVIDIA driver's library "
            "`libcuda-that-is-not-there.so.1` is not installed; kernels for the CPU (`--target cpu`) work");
  EXPECT_EQ(
      support::render(Gpu::open({"libm.so.6", 0}).error()),
      "unsupported [no-gpu]: no GPU can be used: `libm.so.6` has no `cuInit`, so the driver is too old; "
      "kernels for the CPU (`--target cpu`) work");
}

TEST(GpuKernels, ArgumentsAndBinariesAreChecked) {
  const std::string text = "no object";
  EXPECT_EQ(GpuKernel::load(text, support::digest_of(text)).error().code, "kernel-binary");
  EXPECT_EQ(GpuKernel::load(text, support::digest_of("another")).error().code, "kernel-digest");
}

/// Compiled for a device and run on it, where there is one.
TEST(Device, IsThere) {
  const auto gpu = Gpu::open();
  if (!gpu.ok()) GTEST_SKIP() << support::render(gpu.error());
  EXPECT_GE(gpu->architecture(), 50);
  EXPECT_GT(gpu->memory_bytes(), 0);
}

}  // namespace
}  // namespace schaas::client
