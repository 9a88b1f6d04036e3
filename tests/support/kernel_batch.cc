#include "tests/support/kernel_batch.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>

// Joins generated sources unchanged, so the compiler sees the C that users get. A regular expression finds
// the names that a source defines at file scope, and macros around the source number them. A name that the
// expression misses is defined twice and fails to compile; nothing is shared unseen. Kernels are compiled at
// -O1, and instrumented when the test program is, so that their accesses outside of arrays are reported.
namespace schaas::test_support {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized_program = true;
#else
constexpr bool sanitized_program = false;
#endif

/// Returns the flags that follow those of the toolchain: little optimisation, or sanitizers.
std::string more_flags() {
  const bool sanitize = sanitized_program || std::getenv("SCHAAS_SANITIZE_KERNELS") != nullptr;
  return sanitize ? "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined" : "-O1";
}

/// The names a generated source defines at file scope, but for those of its prologue, which guards itself
/// against being read twice. A name this misses is defined twice and does not compile.
std::set<std::string> file_scope_names(const std::string& source) {
  static const std::regex definition(R"(\nstatic [^=;{(]*?(\w+)(?:\(|\[\]))");
  std::set<std::string> names{SCHAAS_KERNEL_SYMBOL};
  for (std::sregex_iterator at(source.begin(), source.end(), definition), end; at != end; ++at) {
    names.insert((*at)[1]);
  }
  return names;
}

}  // namespace

std::string join_sources(const std::vector<std::string>& sources) {
  std::string out;
  for (std::size_t n = 0; n < sources.size(); ++n) {
    const auto names = file_scope_names(sources[n]);
    for (const auto& name : names) out += "#define " + name + " " + name + "_" + std::to_string(n) + "\n";
    out += sources[n];
    for (const auto& name : names) out += "#undef " + name + "\n";
  }
  return out;
}

support::Result<std::vector<LoadedKernel>> compile_batch(const std::vector<std::string>& sources,
                                                         toolchain::Toolchain& toolchain) {
  SCHAAS_ASSIGN_OR_RETURN(
      const std::string bytes,
      toolchain.compile_c(join_sources(sources), toolchain::Target{}, support::Cancellation()));
  std::vector<LoadedKernel> out;
  for (std::size_t n = 0; n < sources.size(); ++n) {
    const std::string symbol = std::string(SCHAAS_KERNEL_SYMBOL) + "_" + std::to_string(n);
    SCHAAS_ASSIGN_OR_RETURN(auto kernel,
                            n == 0 ? LoadedKernel::load(bytes, symbol) : out.front().sibling(symbol));
    out.push_back(std::move(kernel));
  }
  return out;
}

QuickToolchain::QuickToolchain() {
  const char* directory = std::getenv("TMPDIR");
  script_ = std::string(directory && *directory ? directory : "/tmp") + "/schaas-cc-XXXXXX";
  const int file = mkstemp(script_.data());
  SCHAAS_CHECK(file >= 0, "a temporary file");
  close(file);
  std::ofstream(script_) << "#!/bin/sh\nexec cc \"$@\" " << more_flags() << "\n";  // the last -O counts
  chmod(script_.c_str(), 0700);
  toolchain::CToolchainOptions options;
  options.compiler = script_;
  options.timeout_seconds = 240;
  options.source_bytes = std::size_t{256} << 20;  // many kernels at once
  toolchain_ = toolchain::make_c_toolchain(options);
}

QuickToolchain::~QuickToolchain() { unlink(script_.c_str()); }

}  // namespace schaas::test_support
