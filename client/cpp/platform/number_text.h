#pragma once
#include <charconv>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace schaas::client {

/// Cuts words off the front of a line; words are separated by blanks and tabs.
class Words {
 public:
  explicit Words(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) {}

  /// The next word; empty (pointing at the end) when there is none.
  std::string_view next() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
    const char* begin = at_;
    while (at_ != end_ && *at_ != ' ' && *at_ != '\t') ++at_;
    return {begin, static_cast<std::size_t>(at_ - begin)};
  }

 private:
  const char* at_;
  const char* end_;
};

enum class NumberError { none, not_a_number, too_large, inexact };

/// A whole word as an integer.
inline NumberError parse_integer(std::string_view word, std::int64_t& value) {
  const char* begin = word.data();
  const char* end = begin + word.size();
  if (begin != end && *begin == '+') ++begin;
  const auto [ptr, error] = std::from_chars(begin, end, value);
  if (error == std::errc::result_out_of_range) return NumberError::too_large;
  return error == std::errc() && ptr == end ? NumberError::none : NumberError::not_a_number;
}

/// Tells whether a double holds this integer.
template <class Integer>
constexpr bool is_exact(Integer value) {
  constexpr double beyond = std::is_signed_v<Integer> ? 0x1p63 : 0x1p64;
  const auto rounded = static_cast<double>(value);
  return rounded < beyond && static_cast<Integer>(rounded) == value;
}

/// A whole word as an integer that double holds; any other number as parse_real gives it.
NumberError parse_integral(std::string_view word, double& value);

/// A whole word as an integer, also one that is written as a real number, like `1.0e+01`.
NumberError parse_whole(std::string_view word, std::int64_t& value);
NumberError parse_whole(std::string_view word, std::uint64_t& value);

/// Numbers that from_chars does not take: a leading +, Fortran's exponent letter D, values below the smallest
/// double.
NumberError parse_unusual_real(std::string_view word, double& value);

/// A whole word as a double; nan and inf are numbers.
inline NumberError parse_real(std::string_view word, double& value) {
  const char* end = word.data() + word.size();
  const auto [ptr, error] = std::from_chars(word.data(), end, value);
  if (error == std::errc() && ptr == end) return NumberError::none;
  return parse_unusual_real(word, value);
}

}  // namespace schaas::client
