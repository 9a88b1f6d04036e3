#include <chrono>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "compiler/toolchain/child_process.h"
#include "compiler/toolchain/programs.h"
#include "compiler/toolchain/temporary_directory.h"
#include "compiler/toolchain/toolchain.h"

// A GPU kernel is one shared object: its host half, compiled as C, and device modules as arrays of bytes in
// it. Each module is compiled by its own process from the same source. Binaries serve two architectures, PTX
// whatever comes later, which the driver compiles when it loads it. nvcc is preferred; NVRTC is for systems
// that run GPU programs but have no toolkit.
namespace schaas::toolchain {
namespace {

using support::Cancellation;
using support::Result;

/// cubin or PTX for one architecture.
struct Image {
  const char* architecture;
  const char* kind;
};
constexpr Image images[] = {{"sm_80", "-cubin"}, {"sm_90", "-cubin"}, {"compute_90", "-ptx"}};

const std::vector<std::string>& code_flags() {
  static const std::vector<std::string> flags = {"-std=c++17", "-O3", "-w"};
  return flags;
}

/// The bytes as an array of C.
void append_array(const std::string& name, const std::string& bytes, std::string& out) {
  out += "static const unsigned char " + name + "[] __attribute__((aligned(16))) = {";
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    out += n % 24 == 0 ? "\n" : "";
    out += std::to_string(static_cast<unsigned>(static_cast<unsigned char>(bytes[n]))) + ",";
  }
  out += "0};\n";  // PTX is a text, and ends with a zero
}

class CudaToolchain : public Toolchain {
 public:
  CudaToolchain(std::unique_ptr<Toolchain> c, CudaToolchainOptions options)
      : c_(std::move(c)), options_(std::move(options)), program_(find_program(options_.compiler)) {
    // The toolkit's own folder is often not on PATH.
    if (!program_ && options_.compiler == "nvcc") program_ = find_program("/usr/local/cuda/bin/nvcc");
    if (program_ || options_.nvrtc.empty()) return;
    program_ = find_program(options_.nvrtc);
    by_library_ = program_.has_value();
  }

  /// Names the device compiler, the architectures and the host compiler: each changes the binary.
  std::string identity(const Target& target) const override {
    if (!support::is_for_gpu(target.isa)) return c_->identity(target);
    const auto found = version();
    std::string text = (found.ok() ? *found : "no CUDA toolkit") + " " + joined(code_flags());
    for (const auto& image : images) text += std::string(" ") + image.architecture;
    return text + " " + c_->identity(host_target());
  }

  Result<void> check(const Target& target) const override {
    if (!support::is_for_gpu(target.isa)) return c_->check(target);
    SCHAAS_RETURN_IF_ERROR(version());
    return c_->check(host_target());
  }

  Result<std::string> compile_c(const std::string& source, const Target& target,
                                const Cancellation& cancellation) override {
    if (!support::is_for_gpu(target.isa)) return c_->compile_c(source, target, cancellation);
    SCHAAS_RETURN_IF_ERROR(version());
    SCHAAS_ASSIGN_OR_RETURN(const auto directory, TemporaryDirectory::make(options_.temporary_directory));
    SCHAAS_RETURN_IF_ERROR(write_source(directory.path() + "/kernel.cu", source));
    // The host half reads the modules through a table that ends with a row of zeros.
    std::string host = source + "\n", table;
    int number = 0;
    for (const auto& image : images) {
      SCHAAS_ASSIGN_OR_RETURN(const auto bytes, compiled(image, directory.path(), cancellation));
      const std::string name = "image_" + std::to_string(number++);
      append_array(name, bytes, host);
      table += std::string("{\"") + image.architecture + "\", " + name + ", " + std::to_string(bytes.size()) +
               "}, ";
    }
    host +=
        "extern const schaas_gpu_image schaas_gpu_images[];\n__attribute__((visibility(\"default\"))) const "
        "schaas_gpu_image schaas_gpu_images[] = {" +
        table + "{0, 0, 0}};\n";
    return c_->compile_c(host, host_target(), cancellation);
  }

 private:
  // The host half only launches kernels, so it is compiled for any processor.
  static Target host_target() { return {"generic"}; }

  Result<std::string> compiled(const Image& image, const std::string& directory,
                               const Cancellation& cancellation) const {
    std::vector<std::string> arguments = {image.architecture, "kernel.cu", "image"};
    if (!by_library_) {
      arguments = code_flags();
      arguments.insert(arguments.end(),
                       {image.kind, std::string("-arch=") + image.architecture, "-o", "image", "kernel.cu"});
    }
    SCHAAS_ASSIGN_OR_RETURN(const auto result, run(arguments, directory, cancellation));
    if (result.timed_out)
      return support::exhausted("compiler-timeout", "`" + compiler() + "` took more than " +
                                                        std::to_string(options_.timeout_seconds) + " s");
    std::string bytes = read_made_file(directory + "/image");
    if (result.exit_code == 0 && !bytes.empty()) return bytes;
    if (const auto error = resource_error(result)) return *error;
    return with_output(
        support::internal("compiler-failed", "`" + compiler() + "` did not accept generated code (exit " +
                                                 std::to_string(result.exit_code) + ")"),
        result.output, 20);
  }

  Result<ChildResult> run(const std::vector<std::string>& arguments, const std::string& directory,
                          const Cancellation& cancellation) const {
    ChildOptions child;
    child.program = *program_;
    child.arguments = arguments;
    child.environment = compiler_environment(directory);
    // NVRTC may stand where only this variable points.
    if (const char* libraries = by_library_ ? std::getenv("LD_LIBRARY_PATH") : nullptr)
      child.environment.push_back(std::string("LD_LIBRARY_PATH=") + libraries);
    child.working_directory = directory;
    child.wall_time = std::chrono::seconds(options_.timeout_seconds);
    child.cpu_seconds = options_.timeout_seconds;
    // A bound on address space; the option for it concerns C compilers alone.
    child.memory_bytes = std::size_t{16} << 30;
    child.readable = options_.readable;
    return run_child(child, cancellation);
  }

  std::string compiler() const { return by_library_ ? "NVRTC" : options_.compiler; }

  support::Diagnostic no_toolkit(const std::string& library) const {
    return support::unsupported("no-cuda", "no CUDA toolkit here: `" + options_.compiler +
                                               "` is neither on PATH nor in /usr/local/cuda/bin" + library +
                                               ", so no kernels are compiled for GPUs; install the CUDA "
                                               "toolkit (12 or newer) on the server, or take `--target cpu`");
  }

  /// Last line of what the compiler says of itself, asked once; that no process could be had is not
  /// remembered.
  Result<std::string> version() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!version_.empty()) return version_;
    if (!program_) return no_toolkit("");
    if (missing_) return *missing_;
    const auto result = run({"--version"}, "/", Cancellation());
    if (!result.ok()) return result.error();
    const auto end = result->output.find_last_not_of('\n') + 1;
    const auto begin = end == 0 ? 0 : result->output.rfind('\n', end - 1) + 1;
    const std::string line = result->output.substr(begin, end - begin);
    if (result->exit_code == 0) return version_ = by_library_ ? line : "nvcc " + line;
    if (by_library_) return *(missing_ = no_toolkit(", and " + line));
    return with_output(support::internal("compiler-failed", "`" + compiler() + " --version` ends with " +
                                                                std::to_string(result->exit_code)),
                       result->output, 20);
  }

  const std::unique_ptr<Toolchain> c_;
  const CudaToolchainOptions options_;
  std::optional<std::string> program_;
  bool by_library_ = false;  ///< `program_` is schaas-nvrtc
  mutable std::mutex mutex_;
  mutable std::string version_;
  mutable std::optional<support::Diagnostic> missing_;  ///< the library
};

}  // namespace

std::unique_ptr<Toolchain> make_cuda_toolchain(std::unique_ptr<Toolchain> c, CudaToolchainOptions options) {
  return std::make_unique<CudaToolchain>(std::move(c), std::move(options));
}

}  // namespace schaas::toolchain
