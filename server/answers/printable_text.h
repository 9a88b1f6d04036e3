#pragma once
#include <cstddef>
#include <string>

#include "compiler/support/result.h"

namespace schaas::server {

/// Rule for names of clients, jobs and hosts: one line in any language, compared and shown, never
/// interpreted.
struct PrintableText {
  std::string what;                          ///< "label of a job"
  std::string code;                          ///< code of the error
  std::size_t min_bytes = 1, max_bytes = 0;  ///< bytes
};

/// Checks the length and refuses control characters. Errors: invalid [rule.code].
support::Result<void> check_printable(const std::string& text, const PrintableText& rule);

}  // namespace schaas::server
