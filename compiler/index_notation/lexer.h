#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/result.h"

namespace schaas::index_notation {

/// One word of a text. `text` points into the text that was lexed.
struct Token {
  enum class Kind {
    name,    ///< [A-Za-z][A-Za-z0-9_]*
    number,  ///< digits with an optional fraction and decimal exponent: 3, 0.5, .5, 1e-3
    symbol,  ///< <= >= == != += -= *= /= or one punctuation character
    end,     ///< after the last word; empty text
  } kind = Kind::end;
  std::string_view text;
  support::SourceRange range;

  bool is(std::string_view symbol) const { return kind == Kind::symbol && text == symbol; }
};

/// The words of `text`, an `end` token last. Shared by expressions and constraints; `what` ("expression",
/// "constraint") names the text in messages. Blanks, tabs and line ends separate words and mean nothing else.
/// Errors: invalid [too-long], [empty], [control-character], [name-too-long], [syntax] (bytes outside ASCII,
/// malformed numbers).
support::Result<std::vector<Token>> lex(std::string_view text, const std::string& what);

/// For messages: "`text`".
std::string quoted(std::string_view text);
/// For messages: "`x`", or "the end of the expression".
std::string describe(const Token& token, const std::string& what);

}  // namespace schaas::index_notation
