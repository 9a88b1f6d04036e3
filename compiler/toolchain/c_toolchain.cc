#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>

#include "compiler/support/instruction_set.h"
#include "compiler/support/nearest_name.h"
#include "compiler/toolchain/child_process.h"
#include "compiler/toolchain/programs.h"
#include "compiler/toolchain/temporary_directory.h"
#include "compiler/toolchain/toolchain.h"

// C compilation in a temporary folder of its own, by the system's compiler in an isolated child. Flags that
// change code are part of the identity, and so of the kernel's key: another compiler or flag makes other
// rows. Failures are sorted by whose fault they are. Time, size and a full disk are exhausted resources;
// anything else that the compiler refuses is a bug of the code generator.
namespace schaas::toolchain {
namespace {

std::vector<std::string> known_isas() {
  std::vector<std::string> isas;
  for (const auto& one : support::instruction_sets())
    if (one.device == support::Device::processor) isas.push_back(support::exact_isa(one.name));
  return isas;
}

/// Flags of the code, not of where it lies: part of the identity. No OpenMP runtime: -fopenmp-simd only reads
/// pragmas.
std::vector<std::string> code_flags(const Target& target, bool of_gcc) {
  std::vector<std::string> flags = {"-std=c11",
                                    target.baseline ? "-Og" : "-O3",
                                    "-ffp-contract=fast",
                                    "-fno-math-errno",
                                    "-fopenmp-simd",
                                    "-fPIC",
                                    "-shared",
                                    "-fvisibility=hidden",
                                    "-w",
                                    "-s"};
  // The loop over rows clears the rows behind the last one, where GCC splits it and makes the body twice. No
  // kernel gains, and compilation takes twice as long, at worst. Clang does not know the flag.
  if (of_gcc) flags.emplace_back("-fno-split-loops");
  if (const auto* found = support::find_instruction_set(target.isa))
    flags.insert(flags.end(), found->flags.begin(), found->flags.end());
  return flags;
}

/// Refuses instruction sets that this compiler cannot make, before any process starts.
support::Result<void> check_isa(const Target& target) {
  if (support::is_native(target.isa) && target.isa != support::native_isa()) {
    return support::noting(
        support::unsupported("isa", "`" + target.isa +
                                        "` is another processor than this server's, which compiles for `" +
                                        support::native_isa() + "`"),
        "a server on that machine compiles for it; `x86-64-v4` and the others run on every processor that "
        "has them");
  }
  const auto known = known_isas();
  if (std::find(known.begin(), known.end(), target.isa) == known.end()) {
    return support::unsupported("isa", "unknown instruction set `" + target.isa + "`" +
                                           support::did_you_mean(target.isa, known) + "; known are " +
                                           joined(known));
  }
#if !defined(__x86_64__)
  if (support::find_instruction_set(target.isa)->x86) {
    return support::unsupported("isa", "instruction set `" + target.isa +
                                           "` needs a compiler for x86-64, this one is not; `generic` works");
  }
#endif
  return {};
}

/// ChildResult::exit_code of programs that are not there or may not be executed, also by a script in between.
constexpr int not_found = 127, not_executable = 126;
constexpr const char* unknown = "unknown compiler";
constexpr int version_seconds = 10;  // a busy machine takes one to answer `cc --version`

class CToolchain : public Toolchain {
 public:
  explicit CToolchain(CToolchainOptions options)
      : options_(std::move(options)), program_(find_program(options_.compiler)) {}

  std::string identity(const Target& target) const override {
    return version() + " " + joined(code_flags(target, is_gcc()));
  }

  support::Result<void> check(const Target& target) const override {
    SCHAAS_RETURN_IF_ERROR(check_program(target));
    if (version() == unknown) return does_not_start();
    return {};
  }

  support::Result<std::string> compile_c(const std::string& source, const Target& target,
                                         const support::Cancellation& cancellation) override {
    SCHAAS_RETURN_IF_ERROR(check_program(target));
    if (source.size() > options_.source_bytes) {
      return support::noting(
          support::exhausted("source-size", "the source of the kernel has " + std::to_string(source.size()) +
                                                " bytes; at most " + std::to_string(options_.source_bytes) +
                                                " are compiled"),
          "ask for a schedule with fewer loops side by side, or for `linear`");
    }
    SCHAAS_ASSIGN_OR_RETURN(const auto directory, TemporaryDirectory::make(options_.temporary_directory));
    const std::string input = directory.path() + "/kernel.c";
    const std::string output = directory.path() + "/kernel.so";
    SCHAAS_RETURN_IF_ERROR(write_source(input, source));

    auto arguments = code_flags(target, is_gcc(cancellation));
    // Values that are integers wrap around (codegen/c_printer.cc). Other kernels keep the freedom of indices.
    if (source.find("#define VALUE_IS_INTEGER") != std::string::npos) arguments.emplace_back("-fwrapv");
    arguments.insert(arguments.end(), {"-o", "kernel.so", "kernel.c", "-Wl,--as-needed", "-lm"});
    // Whoever loads a kernel has a C library. To read it, and start files that do nothing here, takes the
    // linker an eighth of the time of a small compilation.
    if (is_gcc(cancellation)) arguments.insert(arguments.end(), {"-nostdlib", "-lgcc"});
    SCHAAS_ASSIGN_OR_RETURN(const auto result,
                            run(arguments, directory.path(), options_.timeout_seconds, cancellation));
    if (result.timed_out) {
      return support::exhausted("compiler-timeout", "`" + options_.compiler + "` took more than " +
                                                        std::to_string(options_.timeout_seconds) + " s");
    }
    if (result.exit_code == not_found || result.exit_code == not_executable) {
      auto error = support::exhausted("compiler-start", "`" + options_.compiler + "` could not be started");
      if (result.exit_code == not_executable) {
        error =
            support::noting(std::move(error),
                            "compilers read the folders of the system and those of `--compiler-reads` alone");
      }
      return with_output(std::move(error), result.output, 20);
    }
    std::string bytes = read_made_file(output);
    if (result.exit_code != 0 || bytes.empty()) {
      if (const auto error = resource_error(result)) return *error;
      return with_output(support::internal("compiler-failed", "`" + options_.compiler +
                                                                  "` did not accept generated code (exit " +
                                                                  std::to_string(result.exit_code) + ")"),
                         result.output, 20);
    }
    return bytes;
  }

 private:
  support::Result<void> check_program(const Target& target) const {
    SCHAAS_RETURN_IF_ERROR(check_isa(target));
    return program_ ? support::Result<void>() : missing();
  }

  support::Diagnostic missing() const {
    return support::unsupported("no-compiler",
                                "no C compiler: `" + options_.compiler +
                                    "` is not on PATH; install one, on Debian: apt install gcc libc6-dev");
  }

  support::Diagnostic does_not_start() const {
    return support::exhausted("compiler-start", "`" + options_.compiler + "` could not be started: `" +
                                                    *program_ + " --version` does not answer");
  }

  support::Result<ChildResult> run(const std::vector<std::string>& arguments, const std::string& directory,
                                   int seconds, const support::Cancellation& cancellation) const {
    ChildOptions child;
    child.program = *program_;
    child.arguments = arguments;
    child.environment = compiler_environment(directory);
    child.working_directory = directory;
    child.wall_time = std::chrono::seconds(seconds);
    child.cpu_seconds = seconds;
    child.memory_bytes = options_.memory_bytes;
    child.readable = options_.readable;
    return run_child(child, cancellation);
  }

  /// First line of `cc --version`, asked once; a failure is not remembered.
  std::string version(const support::Cancellation& cancellation = {}) const {
    // Held while the compiler answers: callers at the same time wait for the one process.
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!version_.empty()) return version_;
    if (!program_) return "no compiler";
    const auto result =
        run({"--version"}, "/", std::min(version_seconds, options_.timeout_seconds), cancellation);
    if (!result.ok() || result->exit_code != 0) return unknown;
    version_ = result->output.substr(0, result->output.find('\n'));
    return version_;
  }

  bool is_gcc(const support::Cancellation& cancellation = {}) const {
    return version(cancellation).find("clang") == std::string::npos;
  }

  const CToolchainOptions options_;
  const std::optional<std::string> program_;
  mutable std::mutex mutex_;
  mutable std::string version_;
};

}  // namespace

std::string print(const Target& target) { return target.isa + (target.baseline ? ", draft" : ""); }

std::unique_ptr<Toolchain> make_c_toolchain(CToolchainOptions options) {
  return std::make_unique<CToolchain>(std::move(options));
}

}  // namespace schaas::toolchain
