#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/result.h"

/// Helpers shared by the toolchains.
namespace schaas::toolchain {

/// PATH, or where programs are without it.
std::string search_path();
/// The path of a program: itself when it has a slash, else where search_path() has it.
std::optional<std::string> find_program(const std::string& program);
/// Returns the environment of a compiler that works in `directory`; some `cc` are caching wrappers, which get
/// nothing to write to.
std::vector<std::string> compiler_environment(const std::string& directory);
std::string joined(const std::vector<std::string>& words);  ///< with blanks between
/// Writes a generated source. Errors: exhausted [disk-full].
support::Result<void> write_source(const std::string& path, const std::string& source);
/// Returns the error that a compiler's output tells of when the machine, not the source, made it fail; none
/// otherwise. exhausted [disk-full]; [file-size]: a file beyond RLIMIT_FSIZE.
std::optional<support::Diagnostic> resource_error(const std::string& output);
/// At most `lines` lines of a compiler's output, as notes.
support::Diagnostic with_output(support::Diagnostic diagnostic, const std::string& output, int lines);

}  // namespace schaas::toolchain
