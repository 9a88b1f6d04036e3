#include "compiler/support/printable.h"

#include <algorithm>

// Texts of others on a terminal or page. Only the few sequences of UTF-8 that act instead of being shown are
// searched for, byte by byte; others pass as they are, valid or not. Each becomes one `?`, so a reader sees
// that something was there.
namespace schaas::support {
namespace {

/// Marks, embeddings, overrides and isolates of the bidirectional algorithm, and separators of lines: U+200E,
/// U+200F, U+2028 to U+202E, U+2066 to U+2069, U+061C.
bool is_direction(std::string_view three) {
  if (three.size() < 3 || three[0] != '\xe2') return false;
  const auto last = static_cast<unsigned char>(three[2]);
  if (three[1] == '\x80') return last == 0x8e || last == 0x8f || (last >= 0xa8 && last <= 0xae);
  return three[1] == '\x81' && last >= 0xa6 && last <= 0xa9;
}

/// Bytes of the forbidden character at the beginning of `text`; 0: it has none there.
std::size_t forbidden(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if ((first < ' ' && first != '\n' && first != '\t') || first == 0x7f) return 1;
  if (text.size() >= 2) {
    const auto second = static_cast<unsigned char>(text[1]);
    if (first == 0xc2 && second >= 0x80 && second < 0xa0) return 2;
    if (first == 0xd8 && second == 0x9c) return 2;
  }
  return is_direction(text.substr(0, 3)) ? 3 : 0;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes = forbidden(text);
    out += bytes == 0 ? text[0] : '?';
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return out;
}

std::string valid_utf8(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    const std::size_t length = first < 0x80       ? 1
                               : first >> 5 == 6  ? 2
                               : first >> 4 == 14 ? 3
                               : first >> 3 == 30 ? 4
                                                  : 0;
    bool whole = length > 0 && at + length <= text.size() && first != 0xc0 && first != 0xc1 && first < 0xf5;
    for (std::size_t n = 1; whole && n < length; ++n)
      whole = (static_cast<unsigned char>(text[at + n]) & 0xc0) == 0x80;
    if (whole && length >= 3) {  // overlong forms, surrogates, beyond the last character
      const auto second = static_cast<unsigned char>(text[at + 1]);
      whole = !(first == 0xe0 && second < 0xa0) && !(first == 0xed && second >= 0xa0) &&
              !(first == 0xf0 && second < 0x90) && !(first == 0xf4 && second >= 0x90);
    }
    out += whole ? text.substr(at, length) : "?";
    at += whole ? length : 1;
  }
  return out;
}

}  // namespace schaas::support
