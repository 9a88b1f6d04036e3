#include "client/cpp/platform/number_text.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

// Numbers as files have them. The fast path is in the header (from_chars); here is what it refuses. Reals may
// have Fortran's exponent letter, a leading plus, or be out of range.
namespace schaas::client {

NumberError parse_unusual_real(std::string_view word, double& value) {
  std::string text(word);
  if (!text.empty() && text[0] == '+') text.erase(0, 1);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == 'd' || c == 'D'; }, 'e');
  const char* end = text.data() + text.size();
  const auto [ptr, error] = std::from_chars(text.data(), end, value);
  if (ptr != end || error == std::errc::invalid_argument) return NumberError::not_a_number;
  if (error == std::errc()) return NumberError::none;
  value = std::strtod(text.c_str(), nullptr);  // tells underflow (a tiny number) from overflow
  return std::fabs(value) > 1 ? NumberError::too_large : NumberError::none;
}

// Integers are read as such: a double in between would round those beyond 2^53 unnoticed.
NumberError parse_integral(std::string_view word, double& value) {
  const bool negative = word.starts_with('-');
  std::string_view digits = word;
  if (negative || word.starts_with('+')) digits.remove_prefix(1);
  std::uint64_t magnitude = 0;
  const char* const end = digits.data() + digits.size();
  const auto [ptr, error] = std::from_chars(digits.data(), end, magnitude);
  // A word with a point or an exponent is a real number.
  if (digits.empty() || ptr != end) return parse_real(word, value);
  if (error != std::errc() || !is_exact(magnitude)) return NumberError::inexact;
  value = negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
  return NumberError::none;
}

NumberError parse_whole(std::string_view word, std::int64_t& value) {
  const NumberError error = parse_integer(word, value);
  if (error != NumberError::not_a_number) return error;
  double real = 0;
  if (const NumberError wrong = parse_real(word, real); wrong != NumberError::none) return wrong;
  if (real != std::floor(real) || std::fabs(real) > 0x1p53) return NumberError::not_a_number;
  value = static_cast<std::int64_t>(real);
  return NumberError::none;
}

NumberError parse_whole(std::string_view word, std::uint64_t& value) {
  const std::string_view digits = word.starts_with('+') ? word.substr(1) : word;
  const char* const end = digits.data() + digits.size();
  const auto [ptr, error] = std::from_chars(digits.data(), end, value);
  if (!digits.empty() && ptr == end && error == std::errc()) return NumberError::none;
  std::int64_t whole = 0;
  if (const NumberError wrong = parse_whole(word, whole); wrong != NumberError::none) return wrong;
  if (whole < 0) return NumberError::not_a_number;
  value = static_cast<std::uint64_t>(whole);
  return NumberError::none;
}

}  // namespace schaas::client
