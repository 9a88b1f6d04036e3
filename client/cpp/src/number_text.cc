#include "number_text.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

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

}  // namespace schaas::client
