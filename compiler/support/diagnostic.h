#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/source_range.h"

namespace schaas::support {

/// The four families of errors, kept apart up to the exit code and the gRPC status.
enum class Family {
  invalid,      ///< the request is wrong                               exit 2,  INVALID_ARGUMENT
  unsupported,  ///< right, but we cannot yet; says what would work     exit 3,  UNIMPLEMENTED
  exhausted,    ///< deadline, budget or quota                          exit 4,  RESOURCE_EXHAUSTED / DEADLINE_EXCEEDED
  internal,     ///< our bug: an id for the user, the facts in the log  exit 70, INTERNAL
  unreachable,  ///< no server, or it refused                           exit 5,  UNAVAILABLE (client side only)
};

/// The one error value. `code` is stable ("rank-mismatch"); `message` names the user's own symbol, says what
/// was found and what was expected. When `range` is set, `source` is the text (or, for files, the one
/// line) it points into and `source_name` says which text ("expression", "constraint", "B.mtx").
struct Diagnostic {
  Family family = Family::internal;
  std::string code;
  std::string message;
  std::string source_name;
  std::string source;
  std::uint64_t first_line = 1;  ///< line number of the first line of `source` (files: the offending line)
  std::optional<SourceRange> range;
  std::vector<std::string> notes;
};

Diagnostic invalid(std::string code, std::string message);
Diagnostic unsupported(std::string code, std::string message);
Diagnostic exhausted(std::string code, std::string message);
Diagnostic internal(std::string code, std::string message);
Diagnostic unreachable(std::string code, std::string message);

/// Returns `d` pointing at `range` of `source`.
Diagnostic at(Diagnostic d, std::string source_name, std::string source, SourceRange range);
/// Returns `d` with one more note.
Diagnostic noting(Diagnostic d, std::string note);

/// "invalid", "unsupported", ...
const char* name(Family family);
/// Process exit status of a command that failed so (docs/command_line.md).
int exit_code(Family family);

/// The text for people, several lines, no trailing newline:
///
///     invalid [rank-mismatch]: `B` is used as `B(k,l)` but has 3 indices in `B(i,j,k)`
///       --> expression:1:21
///       | A(i,l) = B(i,j,k) * B(k,l)
///       |                     ^~~~~~
///       note: ...
std::string render(const Diagnostic& diagnostic);

}  // namespace schaas::support
