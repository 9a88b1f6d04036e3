#include "compiler/support/hexadecimal.h"

// Small letters only, in both directions: a digest or key has exactly one text.
namespace schaas::support {
namespace {

constexpr std::string_view alphabet = "0123456789abcdef";

}  // namespace

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += alphabet[byte >> 4];
    text += alphabet[byte & 15];
  }
  return text;
}

std::optional<std::string> bytes_of_hexadecimal(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t n = 0; n < digits.size(); n += 2) {
    const std::size_t high = alphabet.find(digits[n]), low = alphabet.find(digits[n + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

}  // namespace schaas::support
