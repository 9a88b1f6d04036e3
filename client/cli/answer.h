#pragma once
#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "compiler/support/result.h"

namespace schaas::cli {

using Json = nlohmann::ordered_json;

/// Result of a command: the same facts as text for people and as one JSON object. The program prints exactly
/// one of them, on standard output.
struct Answer {
  std::string text;  ///< ends with a newline
  Json json;
  /// Set when the command ran to its end but its result is a failure, such as a result that does not verify.
  /// It is reported on standard error, after the answer, and gives the exit status.
  std::optional<support::Diagnostic> failure;
  /// Standard output holds a tensor (`-o -`), so the answer goes to standard error.
  bool beside_output = false;
};

/// A command with its options bound, ready to run.
using Action = std::function<support::Result<Answer>()>;

/// {"error": {family, code, message, source_name, source, begin, end, notes}}; the range only when there is
/// one.
Json error_object(const support::Diagnostic& diagnostic);

/// One line of JSON; bytes that are not UTF-8 are replaced, never an exception.
std::string dump(const Json& json);

}  // namespace schaas::cli
