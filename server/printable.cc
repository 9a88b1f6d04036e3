#include "server/printable.h"

#include <algorithm>

namespace schaas::server {

support::Result<void> check_printable(const std::string& text, const PrintableText& rule) {
  const bool printable =
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= ' ' && c != 0x7f; });
  if (printable && text.size() >= rule.least && text.size() <= rule.most) return {};
  const std::string least = rule.least == 0 ? "at most " : std::to_string(rule.least) + " to ";
  return support::invalid(rule.code, "the " + rule.what + " must be " + least + std::to_string(rule.most) +
                                         " printable characters; found " + std::to_string(text.size()) +
                                         (printable ? "" : ", some of them not printable"));
}

}  // namespace schaas::server
