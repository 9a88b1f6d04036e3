#include "compiler/index_notation/token_reader.h"

#include <algorithm>

#include "compiler/support/limits.h"

// Look-ahead and errors of the recursive-descent parsers. The `end` token is never passed, so no parser has
// to check bounds: looking beyond the text finds `end` again.
namespace schaas::index_notation {

using support::Diagnostic;
using support::SourceRange;

const Token& TokenReader::ahead(std::size_t n) const {
  return tokens_[std::min(at_ + n, tokens_.size() - 1)];
}

Token TokenReader::take() { return next().kind == Token::Kind::end ? next() : tokens_[at_++]; }

std::string_view TokenReader::text_of(SourceRange range) const {
  return text_.substr(range.begin, range.end - range.begin);
}

Diagnostic TokenReader::at_range(Diagnostic d, SourceRange range) const {
  return support::at(std::move(d), what_, std::string(text_), range);
}

Diagnostic TokenReader::syntax(const std::string& expected) const {
  return at_range(support::invalid("syntax", expected + ", found " + describe(next(), what_)), next().range);
}

support::Result<void> TokenReader::check_depth(std::size_t depth) const {
  if (depth < support::Limits::nesting) return {};
  return at_range(support::invalid("nesting", "parentheses are nested deeper than " +
                                                  std::to_string(support::Limits::nesting) + " levels"),
                  next().range);
}

}  // namespace schaas::index_notation
