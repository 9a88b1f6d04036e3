#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/diagnostic.h"

namespace schaas::loop_ir {

/// Splits a text into words. The first error is kept and moves to the end of the text, where no word is left
/// for a parser to accept.
class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) { advance(); }

  const std::optional<support::Diagnostic>& error() const { return error_; }
  std::string_view word() const { return word_; }  ///< the present one; "": the end of the text

  void advance();
  bool accept(std::string_view word);
  void expect(std::string_view word);
  /// Consumes one of these words and returns its number.
  int choose(const std::vector<std::string>& words);
  std::string identifier();
  /// The present word begins with a digit.
  bool at_number() const;
  /// Consumes an index.
  std::int64_t whole_number();
  int small_number();  ///< 0 to a million
  /// The present word is a value: a number with a fraction or exponent, or `inf`, `-inf`, `nan`.
  bool at_value() const;
  double value();

  /// Records error `loops-syntax` at the present word.
  void fail(const std::string& expected);
  void stop(support::Diagnostic diagnostic);

 private:
  bool digit_at(std::size_t at) const;
  std::size_t number_end(std::size_t at) const;
  std::size_t word_end(std::size_t at) const;

  std::string_view text_;
  std::string_view word_;
  std::size_t word_begin_ = 0;
  std::optional<support::Diagnostic> error_;
};

bool is_digit(char c);

}  // namespace schaas::loop_ir
