#include "compiler/index_notation/lexer.h"

#include <algorithm>
#include <array>

#include "compiler/support/limits.h"

// One pass, longest match. Words are views of the text, without copies. Only ASCII is read, by tests of bytes
// that do not depend on the locale. The same text has the same words on every machine, and so the same key.
namespace schaas::index_notation {
namespace {

using support::Diagnostic;
using support::Limits;
using support::Result;

// <cctype> depends on the locale; these do not.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string hexadecimal(unsigned char byte) {
  static constexpr char digits[] = "0123456789abcdef";
  return {'0', 'x', digits[byte >> 4], digits[byte & 15]};
}

class Lexer {
 public:
  Lexer(std::string_view text, const std::string& what) : text_(text), what_(what) {}

  // Ends with a token of kind `end`, so parsers need not watch for the last word.
  Result<std::vector<Token>> lex() {
    if (text_.size() > Limits::expression_bytes) {
      return support::invalid("too-long", "the " + what_ + " has " + std::to_string(text_.size()) +
                                              " bytes; at most " + std::to_string(Limits::expression_bytes) +
                                              " are allowed");
    }
    while (true) {
      while (at_ < text_.size() && is_space(text_[at_])) ++at_;
      if (at_ == text_.size()) break;
      SCHAAS_RETURN_IF_ERROR(word());
    }
    if (tokens_.empty()) return support::invalid("empty", "the " + what_ + " is empty");
    push(Token::Kind::end, 0);
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void push(Token::Kind kind, std::size_t size) {
    tokens_.push_back({kind, text_.substr(at_, size), range(size)});
    at_ += size;
  }
  support::SourceRange range(std::size_t size) const {
    return {static_cast<std::uint32_t>(at_), static_cast<std::uint32_t>(at_ + size)};
  }
  Diagnostic fail(std::string code, std::string message, std::size_t size) const {
    return support::at(support::invalid(std::move(code), std::move(message)), what_, std::string(text_),
                       range(size));
  }

  // Reads the next word, or says which byte cannot begin one.
  Result<void> word() {
    const char c = text_[at_];
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      return fail("control-character", "control character " + hexadecimal(byte) + " in the " + what_, 1);
    }
    if (byte >= 0x80) {
      return fail(
          "syntax",
          "byte " + hexadecimal(byte) + " is not ASCII; a product is written `*`, comparisons `<=` and `>=`",
          1);
    }
    if (is_letter(c)) return name();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (c == '_') return fail("syntax", "a name starts with a letter, not with `_`", 1);
    symbol();
    return {};
  }

  std::size_t word_size(std::size_t size) const {
    while (is_word(peek(size))) ++size;
    return size;
  }

  Result<void> name() {
    const std::size_t size = word_size(0);
    if (size > Limits::name_bytes) {
      return fail("name-too-long",
                  "a name of " + std::to_string(size) + " characters; at most " +
                      std::to_string(Limits::name_bytes) + " are allowed",
                  size);
    }
    push(Token::Kind::name, size);
    return {};
  }

  // Reads digits with an optional fraction and exponent; letters right behind them make it an error.
  Result<void> number() {
    std::size_t size = 0;
    const auto digits = [&] {
      while (is_digit(peek(size))) ++size;
    };
    digits();
    if (peek(size) == '.') {
      ++size;
      digits();
    }
    // An `e` without digits is no exponent; the check below then refuses it as part of the word.
    if (peek(size) == 'e' || peek(size) == 'E') {
      const std::size_t sign = peek(size + 1) == '+' || peek(size + 1) == '-' ? 1 : 0;
      if (is_digit(peek(size + 1 + sign))) {
        size += 1 + sign;
        digits();
      }
    }
    if (is_word(peek(size)) || peek(size) == '.') {
      const std::size_t whole = word_size(peek(size) == '.' ? size + 1 : size);
      return fail("syntax", quoted(text_.substr(at_, whole)) + " is neither a number nor a name", whole);
    }
    push(Token::Kind::number, size);
    return {};
  }

  // Takes two characters where they are one operator. Any other is a symbol of its own, for the parser to
  // refuse.
  void symbol() {
    static constexpr std::array<std::string_view, 9> pairs = {
        "<=", ">=", "==", "!=", "+=", "-=", "*=", "/=", "**"};
    const std::string_view two = text_.substr(at_, 2);
    push(Token::Kind::symbol, std::find(pairs.begin(), pairs.end(), two) == pairs.end() ? 1 : 2);
  }

  std::string_view text_;
  const std::string& what_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

Result<std::vector<Token>> lex(std::string_view text, const std::string& what) {
  return Lexer(text, what).lex();
}

std::string quoted(std::string_view text) {
  std::string out = "`";
  out += text;
  out += '`';
  return out;
}

std::string describe(const Token& token, const std::string& what) {
  return token.kind == Token::Kind::end ? "the end of the " + what : quoted(token.text);
}

}  // namespace schaas::index_notation
