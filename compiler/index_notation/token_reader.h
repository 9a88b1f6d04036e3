#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "compiler/index_notation/lexer.h"

namespace schaas::index_notation {

/// The words of one text in turn, and diagnostics that point into it: what the recursive-descent parsers of
/// expressions and constraints stand on.
class TokenReader {
 public:
  /// `tokens` are lex(text, what); `text` must outlive the reader.
  TokenReader(std::string_view text, std::string what, std::vector<Token> tokens)
      : text_(text), what_(std::move(what)), tokens_(std::move(tokens)) {}

  const Token& next() const { return tokens_[at_]; }
  const Token& after_next() const { return ahead(1); }
  /// The word `n` after the next one; the `end` token is never passed.
  const Token& ahead(std::size_t n) const;
  /// The next word, which is then behind us; the `end` token is never passed.
  Token take();
  /// Returns the end of the last consumed word.
  std::uint32_t taken_end() const { return tokens_[at_ - 1].range.end; }
  std::string_view text_of(support::SourceRange range) const;
  const std::string& what() const { return what_; }

  /// `d` pointing at `range` of the text.
  support::Diagnostic at_range(support::Diagnostic d, support::SourceRange range) const;
  /// invalid [syntax] at the next word: "expected ..., found ...".
  support::Diagnostic syntax(const std::string& expected) const;
  /// invalid [nesting] at the next word when `depth` parentheses are open already and no more may be.
  support::Result<void> check_depth(std::size_t depth) const;

 private:
  std::string_view text_;
  std::string what_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace schaas::index_notation
