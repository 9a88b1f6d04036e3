#include "compiler/loop_ir/tokenizer.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

#include "compiler/operators/operators.h"

// Splits the text form of loop IR into words on demand. A word is a view into the text; no list of tokens is
// built. After the first error the text counts as consumed and the present word is empty. No rule of a
// parser accepts the empty word, so parsers need no error paths of their own.
namespace schaas::loop_ir {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void Tokenizer::fail(const std::string& expected) {
  const std::string found = word_.empty() ? "the end of the text" : "`" + std::string(word_) + "`";
  stop(support::invalid("loops-syntax", "expected " + expected + " but found " + found));
}

void Tokenizer::stop(support::Diagnostic diagnostic) {
  // Later errors follow from the first one.
  if (error_) return;
  const auto begin = static_cast<std::uint32_t>(word_begin_);
  // The range has at least one character: a caret is shown at the end of the text, too.
  const auto end = static_cast<std::uint32_t>(word_begin_ + std::max<std::size_t>(word_.size(), 1));
  error_ = support::at(std::move(diagnostic), "loops", std::string(text_), {begin, end});
  word_begin_ = text_.size();
  word_ = {};
}

bool Tokenizer::at_number() const { return !word_.empty() && is_digit(word_.front()); }

bool Tokenizer::digit_at(std::size_t at) const { return at < text_.size() && is_digit(text_[at]); }
/// Returns one past a number that begins at `at`: digits, a fraction, an exponent.
std::size_t Tokenizer::number_end(std::size_t at) const {
  while (digit_at(at)) ++at;
  // A dot belongs to a number only before a digit: `0..n` has three words.
  if (at < text_.size() && text_[at] == '.' && digit_at(at + 1)) {
    for (++at; digit_at(at);) ++at;
  }
  // An `e` without digits after it is no exponent.
  if (at < text_.size() && text_[at] == 'e') {
    const bool sign = at + 1 < text_.size() && (text_[at + 1] == '-' || text_[at + 1] == '+');
    std::size_t digits = at + (sign ? 2 : 1);
    if (digit_at(digits)) {
      while (digit_at(digits)) ++digits;
      return digits;
    }
  }
  return at;
}

/// Returns one past the word that begins at `at`. Words are names, numbers with an optional minus, `-inf`,
/// assignments (`+=`), operators of one or two characters, and other single characters.
std::size_t Tokenizer::word_end(std::size_t at) const {
  static constexpr std::string_view pairs[] = {"..", "+=", "*=", "<=", ">=", "==", "!="};
  for (const auto pair : pairs) {
    if (text_.substr(at, 2) == pair) return at + 2;
  }
  // A minus right before a digit is a sign; the printer sets spaces around operators.
  if (digit_at(at) || (text_[at] == '-' && digit_at(at + 1))) return number_end(at + 1);
  if (text_.substr(at, 4) == "-inf" || text_.substr(at, 4) == "-nan") return at + 4;
  if (!is_letter(text_[at])) return at + 1;
  std::size_t end = at;
  while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
  // `max=` is one word since `max` is a monoid; `max==` and `x=` are two.
  const bool writes = end < text_.size() && text_[end] == '=' && text_.substr(end, 2) != "==" &&
                      operators::monoid_named(text_.substr(at, end - at));
  return writes ? end + 1 : end;
}

void Tokenizer::advance() {
  std::size_t at = word_begin_ + word_.size();
  while (at < text_.size() && is_space(text_[at])) ++at;
  word_begin_ = at;
  word_ = at < text_.size() ? text_.substr(at, word_end(at) - at) : std::string_view();
}

bool Tokenizer::accept(std::string_view word) {
  if (word_ != word) return false;
  advance();
  return true;
}

void Tokenizer::expect(std::string_view word) {
  if (!accept(word)) fail("`" + std::string(word) + "`");
}

int Tokenizer::choose(const std::vector<std::string>& words) {
  std::string all;
  for (std::size_t n = 0; n < words.size(); ++n) {
    if (accept(words[n])) return static_cast<int>(n);
    all += (n == 0 ? "`" : n + 1 == words.size() ? " or `" : ", `") + words[n] + "`";
  }
  fail(all);
  return 0;
}

std::string Tokenizer::identifier() {
  if (word_.empty() || !is_letter(word_.front())) fail("a name");  // leaves an empty word
  std::string text(word_);
  advance();
  return text;
}

std::int64_t Tokenizer::whole_number() {
  const bool negative = !word_.empty() && word_.front() == '-';
  const auto digits = word_.substr(negative ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != digits.npos) {
    fail("a whole number");
    return 0;
  }
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  std::int64_t value = 0;
  for (const char c : digits) {
    // Tested before the product is formed: signed overflow is undefined.
    const std::int64_t digit = c - '0';
    if (value > (most - digit) / 10) {
      fail("a number below 2^63");
      return 0;
    }
    value = value * 10 + digit;
  }
  advance();
  return negative ? -value : value;
}

bool Tokenizer::at_value() const {
  const auto digits = word_.substr(!word_.empty() && word_.front() == '-' ? 1 : 0);
  if (digits == "inf" || digits == "nan") return true;
  // An index has neither fraction nor exponent.
  return !digits.empty() && is_digit(digits.front()) && digits.find_first_of(".e") != digits.npos;
}

double Tokenizer::value() {
  double value = 0;
  if (!at_value()) fail("a number with a fraction");
  // Does not depend on the locale, as strtod would.
  const auto read = std::from_chars(word_.data(), word_.data() + word_.size(), value);
  if (read.ec != std::errc()) fail("a number that 64 bits can hold");
  advance();
  return value;
}

int Tokenizer::small_number() {
  const auto value = whole_number();
  if (value >= 0 && value <= 1'000'000) return static_cast<int>(value);
  fail("a smaller number before this");
  return 0;
}

}  // namespace schaas::loop_ir
