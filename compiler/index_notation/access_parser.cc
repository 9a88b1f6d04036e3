#include <algorithm>
#include <charconv>
#include <utility>

#include "compiler/index_notation/expression_parser.h"
#include "compiler/support/nearest_name.h"

// Accesses: a tensor and what stands at its modes. A misspelt call reads as an access until an argument is no
// index; the error then speaks of functions. A range is told from a call by its colon, which is looked for
// behind one bound.
namespace schaas::index_notation {

using support::Diagnostic;
using support::Result;

namespace {

// True of what joins values. A comparison begins with <, > or one of ==, !=.
bool is_operator(const Token& token) {
  return token.is("+") || token.is("-") || token.is("*") || token.is("/") || token.is("^") ||
         token.is("**") || token.is("@") || token.is("<") || token.is("<=") || token.is(">") ||
         token.is(">=") || token.is("==") || token.is("!=");
}

bool is_number(const Token& token) { return token.kind == Token::Kind::number; }
bool is_bound(const Token& token) { return is_number(token) || token.kind == Token::Kind::name; }

}  // namespace

// Returns the error of `B[i,j]` and `B{i,j}`.
Diagnostic ExpressionParser::bracket(const std::string& tensor) const {
  return reader_.at_range(
      support::invalid("syntax", "indices are written in parentheses, as in `" + tensor + "(i,j)`; found `" +
                                     std::string(reader_.next().text) + "`"),
      reader_.next().range);
}

// Reads a tensor with its indices; a scalar has no parentheses.
Result<Access> ExpressionParser::access() {
  Access found;
  found.tensor = std::string(reader_.next().text);
  found.range = reader_.take().range;
  if (reader_.next().is("[") || reader_.next().is("{")) return bracket(found.tensor);
  if (!reader_.next().is("(")) return found;
  reader_.take();
  if (reader_.next().is(")"))
    return reader_.syntax(quoted(found.tensor) +
                          " has no indices; a scalar is written without parentheses: expected an index");
  while (true) {
    SCHAAS_RETURN_IF_ERROR(index(found));
    if (reader_.next().is(")")) break;
    if (!reader_.next().is(","))
      return reader_.syntax("expected `,` or `)` after index " +
                            quoted(reader_.text_of(found.index_ranges.back())) + " of " +
                            quoted(found.tensor));
    reader_.take();
  }
  found.range.end = reader_.take().range.end;
  const bool whole = std::none_of(found.ranges.begin(), found.ranges.end(),
                                  [](const std::optional<Range>& part) { return part.has_value(); });
  if (whole) found.ranges.clear();
  return found;
}

// A call of an unknown function looks like an access until an argument that is no index.
Diagnostic ExpressionParser::not_an_index(const Access& found) const {
  const Token& next = reader_.next();
  const bool call = (next.kind == Token::Kind::name && reader_.after_next().is("(")) || next.is("(");
  if (call || support::nearest_name(found.tensor, operators::function_names())) {
    const std::uint32_t begin = found.range.begin;
    return unknown_function(found.tensor, {begin, begin + static_cast<std::uint32_t>(found.tensor.size())});
  }
  return unsupported("operator",
                     "arithmetic on an index of " + quoted(found.tensor) + " is not supported yet",
                     "an index is a name, as in `B(i,j)`; a part of a mode is a range, as in `B(i(2:),j)`");
}

// "i(": the colon of a range follows at once, or after one bound.
bool ExpressionParser::at_range_of_index() const {
  if (reader_.next().kind != Token::Kind::name || !reader_.ahead(1).is("(")) return false;
  std::size_t n = 2;
  if (reader_.ahead(n).is("-")) ++n;
  if (is_bound(reader_.ahead(n))) ++n;
  return reader_.ahead(n).is(":");
}

// "(n)" or "(-1)", a fixed coordinate.
bool ExpressionParser::at_fixed_in_parentheses() const {
  if (!reader_.next().is("(")) return false;
  const std::size_t n = reader_.ahead(1).is("-") ? 2 : 1;
  return is_bound(reader_.ahead(n)) && reader_.ahead(n + 1).is(")");
}

// Reads a name, or a whole number with its sign.
Result<Bound> ExpressionParser::bound(const std::string& tensor) {
  const bool negative = reader_.next().is("-");
  if (negative) reader_.take();
  if (!is_bound(reader_.next()) || (negative && !is_number(reader_.next())))
    return reader_.syntax("expected a whole number or a name in a range of " + quoted(tensor));
  const Token token = reader_.take();
  if (token.kind == Token::Kind::name) return Bound(std::string(token.text));
  std::int64_t value = 0;
  const char* const end = token.text.data() + token.text.size();
  const auto read = std::from_chars(token.text.data(), end, value);
  if (read.ec == std::errc() && read.ptr == end) return Bound(negative ? -value : value);
  return reader_.at_range(support::invalid("range", "the coordinate " + quoted(token.text) + " of " +
                                                        quoted(tensor) + " is no whole number below 2^63"),
                          token.range);
}

// Reads `(begin:end:step)` behind an index. A range of everything is none.
Result<std::optional<Range>> ExpressionParser::range(const std::string& tensor) {
  reader_.take();
  Range found;
  const auto part = [&](std::optional<Bound>& to) -> Result<void> {
    if (reader_.next().is(":") || reader_.next().is(")")) return {};
    SCHAAS_ASSIGN_OR_RETURN(to, bound(tensor));
    return {};
  };
  SCHAAS_RETURN_IF_ERROR(part(found.begin));
  reader_.take();
  SCHAAS_RETURN_IF_ERROR(part(found.end));
  if (reader_.next().is(":")) {
    const Token colon = reader_.take();
    SCHAAS_RETURN_IF_ERROR(part(found.step));
    if (found.step == Bound(std::int64_t{0}))
      return reader_.at_range(support::invalid("range", "the step of a range of " + quoted(tensor) +
                                                            " is 0; expected another whole number"),
                              {colon.range.begin, reader_.taken_end()});
    if (found.step == Bound(std::int64_t{1})) found.step.reset();
  }
  if (!reader_.next().is(")")) return reader_.syntax("expected `:` or `)` in a range of " + quoted(tensor));
  reader_.take();
  if (!found.begin && !found.end && !found.step) return std::optional<Range>();
  return std::optional<Range>(std::move(found));
}

// Reads a coordinate that is the same for all indices: a number, or a number or name in parentheses.
Result<void> ExpressionParser::fixed_coordinate(Access& found) {
  const std::uint32_t begin = reader_.next().range.begin;
  const bool in_parentheses = reader_.next().is("(");
  if (in_parentheses) reader_.take();
  Range fixed;
  fixed.is_fixed = true;
  SCHAAS_ASSIGN_OR_RETURN(fixed.begin, bound(found.tensor));
  if (in_parentheses) reader_.take();
  found.indices.emplace_back();
  found.index_ranges.push_back({begin, reader_.taken_end()});
  found.ranges.emplace_back(std::move(fixed));
  return {};
}

// Reads what stands at one mode. Anything else that could begin an expression is an unknown call or
// arithmetic.
Result<void> ExpressionParser::index(Access& found) {
  const Token next = reader_.next();
  const bool word = next.kind == Token::Kind::name;
  const bool negative = next.is("-") && is_number(reader_.after_next());
  if (next.is(":") || ((is_number(next) || negative) && reader_.ahead(negative ? 2 : 1).is(":")))
    return reader_.at_range(
        support::noting(support::invalid("range", "a range of " + quoted(found.tensor) + " without an index"),
                        "name the index that runs through it, as in `" + found.tensor + "(i(2:5))`"),
        next.range);
  if (is_number(next) || negative || at_fixed_in_parentheses()) {
    SCHAAS_RETURN_IF_ERROR(fixed_coordinate(found));
  } else if (at_range_of_index()) {
    reader_.take();
    SCHAAS_ASSIGN_OR_RETURN(auto part, range(found.tensor));
    found.indices.emplace_back(next.text);
    found.index_ranges.push_back({next.range.begin, reader_.taken_end()});
    found.ranges.push_back(std::move(part));
  } else if (next.is("(") || (word && reader_.after_next().is("("))) {
    return not_an_index(found);
  } else if (word) {
    found.indices.emplace_back(next.text);
    found.index_ranges.push_back(next.range);
    found.ranges.emplace_back();
    reader_.take();
  } else if (!is_operator(next) || next.is("*")) {
    return reader_.syntax("expected an index of " + quoted(found.tensor));
  }
  const bool product = reader_.next().is("*");
  if (!is_operator(reader_.next()) ||
      (product && !support::nearest_name(found.tensor, operators::function_names())))
    return {};
  return not_an_index(found);
}

}  // namespace schaas::index_notation
