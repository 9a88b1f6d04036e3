#include "server/answers/printable_text.h"

#include <algorithm>

namespace schaas::server {

support::Result<void> check_printable(const std::string& text, const PrintableText& rule) {
  const bool printable =
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= ' ' && c != 0x7f; });
  if (printable && text.size() >= rule.min_bytes && text.size() <= rule.max_bytes) return {};
  const std::string min_bytes = rule.min_bytes == 0 ? "at most " : std::to_string(rule.min_bytes) + " to ";
  return support::invalid(rule.code, "the " + rule.what + " must be " + min_bytes +
                                         std::to_string(rule.max_bytes) + " printable characters; found " +
                                         std::to_string(text.size()) +
                                         (printable ? "" : ", some of them not printable"));
}

}  // namespace schaas::server
