#pragma once
#include <cstddef>
#include <string>

#include "compiler/support/result.h"

namespace schaas::server {

/// What clients call themselves, their jobs and their hosts: one line in any language, compared and shown,
/// never interpreted.
struct PrintableText {
  std::string what;                 ///< "label of a job"
  std::string code;                 ///< of the error
  std::size_t least = 1, most = 0;  ///< bytes
};

/// Errors: invalid [rule.code] when the text is shorter, longer, or has control characters.
support::Result<void> check_printable(const std::string& text, const PrintableText& rule);

}  // namespace schaas::server
