#include "tests/support/gpu_batch.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "compiler/codegen/cuda_printer.h"
#include "compiler/concrete_notation/checks/verifier.h"
#include "compiler/loop_ir/verifier.h"
#include "compiler/lower/lower.h"
#include "compiler/schedule/replay/apply.h"
#include "tests/support/temporary_directory.h"

// Joins many CUDA sources to one text, because starting a compiler takes longer than compiling a kernel;
// macros number the names of each. emulated_batch() compiles it as C++ after cuda_emulation.h and runs it by
// the kernel ABI of the CPU. That shows wrong values and wrong shuffles; it shows neither races nor timing.
// nvcc_error() and nvrtc_error() only compile, for real architectures. An emulated object has texts as
// modules, so the client's handling is tested without a device.
namespace schaas::test_support {
namespace {

/// Returns the output of the command; "" when it ends with 0.
std::string error_of_command(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return "no process for " + command;
  std::string output;
  std::array<char, 4096> buffer{};
  while (const std::size_t read = fread(buffer.data(), 1, buffer.size(), pipe)) {
    if (output.size() < 8192) output.append(buffer.data(), read);
  }
  const int status = pclose(pipe);
  return status == 0 ? "" : command + "\n" + output;
}

const std::string nvrtc_program = SCHAAS_BINARY_DIR "/schaas-nvrtc ";

std::string number(std::size_t n) { return std::to_string(n); }

/// A shared object of a CUDA source, for the host.
support::Result<std::string> emulated_bytes(const std::string& source) {
  const TemporaryDirectory directory;
  const std::string input = directory / "batch.cc", output = directory / "batch.so";
  std::ofstream(input) << source;
  const std::string root = SCHAAS_SOURCE_DIR;
  const auto error = error_of_command(
      "c++ -std=c++17 -O1 -w -fPIC -shared -fvisibility=hidden -fno-gnu-unique -Wl,-Bsymbolic "
      "-ffp-contract=off -I" +
      root + " -include " + root + "/tests/support/cuda_emulation.h -o " + output + " " + input);
  if (!error.empty()) return support::internal("compiler-failed", error);
  std::ifstream file(output, std::ios::binary);
  return std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

support::Result<std::string> cuda_source_of(const schedule::Trace& trace, const problem::Problem& problem,
                                            const std::string& text) {
  SCHAAS_ASSIGN_OR_RETURN(const auto tree, schedule::apply(trace, problem));
  SCHAAS_ASSIGN_OR_RETURN(const auto with_copies, schedule::problem_of(trace, problem));
  SCHAAS_RETURN_IF_ERROR(concrete_notation::verify(tree, with_copies));
  SCHAAS_ASSIGN_OR_RETURN(const auto kernel, lower::lower(tree, with_copies, {.verify = true}));
  SCHAAS_RETURN_IF_ERROR(loop_ir::verify(kernel));
  if (!kernel.for_gpu()) return support::unsupported("gpu-loop", "the schedule is none for a GPU");
  codegen::KernelLabel label;
  label.schedule = schedule::print(trace);
  label.problem = text;
  return codegen::print_cuda(kernel, label);
}

std::string join_cuda_sources(const std::vector<std::string>& sources) {
  std::string out = "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n";
  out += "#include \"proto/gpu_abi.h\"\n#define SCHAAS_GPU_PROLOGUE 1\n";
  for (std::size_t n = 0; n < sources.size(); ++n) {
    std::string names = "schaas_gpu_kernel";
    out += "#define schaas_gpu_kernel schaas_gpu_kernel_" + number(n) + "\n";
    for (std::size_t phase = 0; phase < 8; ++phase) {
      const std::string name = "schaas_phase_" + number(phase);
      out += "#define " + name + " " + name + "_" + number(n) + "\n";
      names += " " + name;
    }
    out += "namespace kernel_" + number(n) + " {\n" + sources[n] + "}\n";
    for (std::size_t begin = 0; begin < names.size();) {
      const std::size_t end = std::min(names.find(' ', begin), names.size());
      out += "#undef " + names.substr(begin, end - begin) + "\n";
      begin = end + 1;
    }
  }
  return out;
}

support::Result<std::vector<LoadedKernel>> emulated_batch(const std::vector<std::string>& sources) {
  std::string source = join_cuda_sources(sources);
  for (std::size_t n = 0; n < sources.size(); ++n) {
    const std::string kernel = "kernel_" + number(n) + "::schaas_gpu_kernel_" + number(n);
    source +=
        "extern \"C\" __attribute__((visibility(\"default\"))) const schaas_kernel_descriptor "
        "schaas_kernel_" +
        number(n) + " = schaas_emulation::described<" + kernel + ">();\n";
  }
  SCHAAS_ASSIGN_OR_RETURN(const std::string bytes, emulated_bytes(source));
  std::vector<LoadedKernel> out;
  for (std::size_t n = 0; n < sources.size(); ++n) {
    const std::string symbol = "schaas_kernel_" + number(n);
    SCHAAS_ASSIGN_OR_RETURN(auto kernel,
                            n == 0 ? LoadedKernel::load(bytes, symbol) : out.front().sibling(symbol));
    out.push_back(std::move(kernel));
  }
  return out;
}

support::Result<std::string> emulated_object(const schedule::Trace& trace, const problem::Problem& problem,
                                             const std::string& text) {
  SCHAAS_ASSIGN_OR_RETURN(const std::string source, cuda_source_of(trace, problem, text));
  return emulated_object(source);
}

support::Result<std::string> emulated_object(std::string source) {
  source +=
      "extern \"C\" __attribute__((visibility(\"default\"))) const schaas_gpu_image schaas_gpu_images[] = "
      "{\n";
  for (const std::string architecture : {"sm_80", "sm_90", "compute_90"})
    source += "    {\"" + architecture + "\", \"module " + architecture + "\", 13},\n";
  return emulated_bytes(source + "    {0, 0, 0}};\n");
}

namespace {

/// Compiles for the target "cuda" by emulated_object(), for every other target by `c`.
class EmulatingToolchain final : public toolchain::Toolchain {
 public:
  explicit EmulatingToolchain(std::unique_ptr<toolchain::Toolchain> c) : c_(std::move(c)) {}
  std::string identity(const toolchain::Target& target) const override {
    return target.isa == "cuda" ? "emulation" : c_->identity(target);
  }
  support::Result<std::string> compile_c(const std::string& source, const toolchain::Target& target,
                                         const support::Cancellation& cancellation) override {
    return target.isa == "cuda" ? emulated_object(source) : c_->compile_c(source, target, cancellation);
  }

 private:
  const std::unique_ptr<toolchain::Toolchain> c_;
};

}  // namespace

std::unique_ptr<toolchain::Toolchain> make_emulating_toolchain(std::unique_ptr<toolchain::Toolchain> c) {
  return std::make_unique<EmulatingToolchain>(std::move(c));
}

std::string find_nvcc() {
  for (const char* path : {"/usr/local/cuda/bin/nvcc", "/usr/bin/nvcc"}) {
    if (access(path, X_OK) == 0) return path;
  }
  return "";
}

std::string nvcc_error(const std::string& nvcc, const std::vector<std::string>& sources) {
  const TemporaryDirectory directory;
  const std::string input = directory / "batch.cu";
  std::ofstream(input) << join_cuda_sources(sources);
  return error_of_command(nvcc +
                          " -std=c++17 -O1 -fatbin -gencode arch=compute_80,code=sm_80 -gencode "
                          "'arch=compute_90,code=[sm_90,compute_90]' -I" SCHAAS_SOURCE_DIR " -o " +
                          (directory / "batch.fatbin") + " " + input);
}

std::string nvrtc_error(const std::string& source, const std::string& architecture) {
  const TemporaryDirectory directory;
  const std::string input = directory / "kernel.cu", output = directory / "module";
  std::ofstream(input) << source;
  const std::string error = error_of_command(nvrtc_program + architecture + " " + input + " " + output);
  if (!error.empty()) return error;
  std::ifstream file(output, std::ios::binary);
  const std::string module{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const bool is_cubin = module.starts_with(
      "\x7f"
      "ELF");
  const bool is_ptx = module.find(".visible .entry schaas_phase_0(") != std::string::npos;
  return is_cubin == architecture.starts_with("sm_") && is_ptx != is_cubin ? ""
                                                                           : "no module for " + architecture;
}

bool has_nvrtc() { return error_of_command(nvrtc_program + "--version").empty(); }

}  // namespace schaas::test_support
