#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "compiler/toolchain/child_process.h"

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
/// Reads a file that a child made. Empty where there is none, or a link, a pipe or a file with a second name:
/// the daemon may read more than its child.
std::string read_made_file(const std::string& path);
/// Returns the error of a compiler that the machine, not the source, made fail; none otherwise. exhausted
/// [disk-full]; [file-size]: a file beyond RLIMIT_FSIZE; [compiler-memory]; [compiler-ended]: by a signal
/// from outside.
std::optional<support::Diagnostic> resource_error(const ChildResult& result);
/// At most `lines` lines of a compiler's output, as notes.
support::Diagnostic with_output(support::Diagnostic diagnostic, const std::string& output, int lines);

}  // namespace schaas::toolchain
