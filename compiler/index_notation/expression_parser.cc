#include "compiler/index_notation/expression_parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "compiler/support/limits.h"
#include "compiler/support/nearest_name.h"

// Recursive descent, one function for each level of precedence in the grammar of the header. Depth is
// bounded: parentheses and calls by Limits::nesting, chains of operators by Limits::terms. Sums and products
// are flattened while they are joined, so `a + (b + c)` and `(a + b) + c` are one expression. A name followed
// by `(` may be a reduction, a call or an access. Reductions are told by their second pair of parentheses,
// calls by the table of functions. A misspelt call therefore reads as an access, until an argument is no
// index; the error then speaks of functions. A range is told from a call by its colon, which is looked for
// behind one bound.
namespace schaas::index_notation {

using operators::Function;
using support::Diagnostic;
using support::Limits;
using support::Result;
using support::SourceRange;

namespace {

constexpr const char* operand_expected = "expected a tensor, a number, a function or `(`";

struct Infix {
  std::string_view text;
  Function function;
};

constexpr std::array<Infix, 6> comparisons = {{{"<", Function::less},
                                               {"<=", Function::less_equal},
                                               {">", Function::greater},
                                               {">=", Function::greater_equal},
                                               {"==", Function::equal},
                                               {"!=", Function::not_equal}}};

const Infix* comparison_at(const Token& token) {
  if (token.kind != Token::Kind::symbol) return nullptr;
  const auto found = std::find_if(comparisons.begin(), comparisons.end(),
                                  [&](const Infix& c) { return c.text == token.text; });
  return found == comparisons.end() ? nullptr : &*found;
}

bool is_operator(const Token& token) {
  return token.is("+") || token.is("-") || token.is("*") || token.is("/") || token.is("^") ||
         token.is("**") || token.is("@") || comparison_at(token) != nullptr;
}

bool is_numeral(const Token& token) { return token.kind == Token::Kind::number; }
bool is_bound(const Token& token) { return is_numeral(token) || token.kind == Token::Kind::name; }

bool is_infinity(const Token& token) { return token.kind == Token::Kind::name && token.text == "inf"; }

std::vector<std::string> monoid_names() {
  using operators::Monoid;
  std::vector<std::string> names;
  for (const Monoid monoid : {Monoid::sum, Monoid::product, Monoid::minimum, Monoid::maximum,
                              Monoid::logical_or, Monoid::logical_and}) {
    names.emplace_back(operators::name(monoid));
  }
  return names;
}

// Appends `part`, or its own parts when it is the same operation.
template <class Same>
void flatten(std::vector<Expression>& to, Expression part, Same&& is_same) {
  if (!is_same(part)) {
    to.push_back(std::move(part));
    return;
  }
  const std::vector<Expression> inner = parts(part);
  to.insert(to.end(), inner.begin(), inner.end());
}

bool is_sum(const Expression& expression) {
  const auto* call = std::get_if<Call>(&expression.node);
  return call != nullptr && call->function == Function::add;
}
bool is_flat_product(const Expression& expression) {
  return std::holds_alternative<Product>(expression.node);
}

}  // namespace

// Returns the diagnostic at the next word, with a note that says what works.
Diagnostic ExpressionParser::unsupported(const char* code, const std::string& message,
                                         const std::string& note) const {
  return reader_.at_range(support::noting(support::unsupported(code, message), note), reader_.next().range);
}

Diagnostic ExpressionParser::unknown_function(const std::string& name, SourceRange range) const {
  const auto known = operators::function_names();
  Diagnostic d = support::invalid("unknown-function",
                                  quoted(name) + " is not a function" + support::did_you_mean(name, known));
  std::string all;
  for (const auto& each : known) all += (all.empty() ? "" : ", ") + each;
  return reader_.at_range(support::noting(std::move(d), "functions are " + all), range);
}

// The next word is an operator of other languages.
Diagnostic ExpressionParser::no_such_operator() const {
  const std::string_view text = reader_.next().text;
  const char* instead = text == "^" || text == "**" ? "a power is written `pow(a,b)`"
                        : text == "@"
                            ? "a product of matrices is written with indices, `A(i,k) = B(i,j) * C(j,k)`"
                        : text == "!" ? "negation is written `not(a)`"
                        : text == "&" ? "both is written `and(a,b)`"
                                      : "either is written `or(a,b)`";
  return unsupported("operator", "operator " + quoted(text) + " is not in the language", instead);
}

// Counts an operation, number or access; their bound keeps later recursion shallow.
Result<void> ExpressionParser::count(std::size_t more) {
  terms_ += more;
  if (terms_ <= Limits::terms) return {};
  return reader_.at_range(
      support::unsupported("too-many-terms", "the statement has more than " + std::to_string(Limits::terms) +
                                                 " operations, numbers and accesses"),
      reader_.next().range);
}

// Joins two operands left to right; equal sums and products become one flat node.
Expression ExpressionParser::join(Function function, Expression left, Expression right) const {
  Expression out;
  out.range = {left.range.begin, right.range.end};
  if (function == Function::multiply) {
    Product product;
    flatten(product.factors, std::move(left), is_flat_product);
    flatten(product.factors, std::move(right), is_flat_product);
    out.node = std::move(product);
    return out;
  }
  Call call{function, {}};
  if (function == Function::add) {
    flatten(call.arguments, std::move(left), is_sum);
    flatten(call.arguments, std::move(right), is_sum);
  } else {
    call.arguments.push_back(std::move(left));
    call.arguments.push_back(std::move(right));
  }
  out.node = std::move(call);
  return out;
}

// Reads one comparison at most, and names what to write for operators of other languages.
Result<Expression> ExpressionParser::expression(std::size_t depth) {
  SCHAAS_ASSIGN_OR_RETURN(Expression left, sum(depth));
  if (const Infix* comparison = comparison_at(reader_.next())) {
    SCHAAS_RETURN_IF_ERROR(count());
    reader_.take();
    SCHAAS_ASSIGN_OR_RETURN(Expression right, sum(depth));
    left = join(comparison->function, std::move(left), std::move(right));
    if (comparison_at(reader_.next()) != nullptr) {
      Diagnostic d = support::invalid("chained-comparison", "a comparison cannot be compared by " +
                                                                quoted(reader_.next().text) + " again");
      return reader_.at_range(support::noting(std::move(d), "for both at once write `and(a < b, b < c)`"),
                              reader_.next().range);
    }
  }
  const Token& next = reader_.next();
  for (const char* other : {"^", "**", "@", "!", "&", "|"})
    if (next.is(other)) return no_such_operator();
  return left;
}

Result<Expression> ExpressionParser::sum(std::size_t depth) {
  SCHAAS_ASSIGN_OR_RETURN(Expression left, product(depth));
  while (reader_.next().is("+") || reader_.next().is("-")) {
    SCHAAS_RETURN_IF_ERROR(count());
    const Function function = reader_.take().is("+") ? Function::add : Function::subtract;
    SCHAAS_ASSIGN_OR_RETURN(Expression right, product(depth));
    left = join(function, std::move(left), std::move(right));
  }
  return left;
}

Result<Expression> ExpressionParser::product(std::size_t depth) {
  SCHAAS_ASSIGN_OR_RETURN(Expression left, unary(depth));
  while (reader_.next().is("*") || reader_.next().is("/")) {
    SCHAAS_RETURN_IF_ERROR(count());
    const Function function = reader_.take().is("*") ? Function::multiply : Function::divide;
    SCHAAS_ASSIGN_OR_RETURN(Expression right, unary(depth));
    left = join(function, std::move(left), std::move(right));
  }
  return left;
}

Result<Expression> ExpressionParser::unary(std::size_t depth) {
  if (!reader_.next().is("-")) return primary(depth);
  SCHAAS_RETURN_IF_ERROR(count());
  const std::uint32_t begin = reader_.take().range.begin;
  // `inf(` begins an access to a tensor of that name, which the verifier refuses.
  const bool infinity = is_infinity(reader_.next()) && !reader_.after_next().is("(");
  if (reader_.next().kind == Token::Kind::number || infinity) return number(true, begin);
  SCHAAS_ASSIGN_OR_RETURN(Expression argument, unary(depth));
  const SourceRange range{begin, argument.range.end};
  return Expression{Call{Function::negate, {std::move(argument)}}, range};
}

// Reads a number with its sign; one outside the range of a double is an error.
Result<Expression> ExpressionParser::number(bool negative, std::uint32_t begin) {
  const Token token = reader_.take();
  double value = std::numeric_limits<double>::infinity();
  if (token.kind == Token::Kind::number) {
    const auto read = std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
    if (read.ec != std::errc()) {
      return reader_.at_range(
          support::invalid("number-range",
                           "number " + quoted(token.text) + " cannot be told in 64-bit floating point"),
          token.range);
    }
  }
  return Expression{Literal{negative ? -value : value}, {begin, token.range.end}};
}

// Reads a number, a name with what follows it, or an expression in parentheses.
Result<Expression> ExpressionParser::primary(std::size_t depth) {
  const Token& next = reader_.next();
  if (!next.is("(")) SCHAAS_RETURN_IF_ERROR(count());
  const bool infinity = is_infinity(next) && !reader_.after_next().is("(");
  if (next.kind == Token::Kind::number || infinity) return number(false, next.range.begin);
  if (next.kind == Token::Kind::name) return named(depth);
  if (next.is("(")) {
    const std::uint32_t begin = next.range.begin;
    SCHAAS_ASSIGN_OR_RETURN(Expression inner, grouped(depth));
    inner.range = {begin, reader_.taken_end()};
    return inner;
  }
  if (next.is("!")) return no_such_operator();
  return reader_.syntax(operand_expected);
}

// "(" expression ")"
Result<Expression> ExpressionParser::grouped(std::size_t depth) {
  SCHAAS_RETURN_IF_ERROR(reader_.check_depth(depth));
  reader_.take();
  SCHAAS_ASSIGN_OR_RETURN(Expression inner, expression(depth + 1));
  if (!reader_.next().is(")")) return reader_.syntax("expected an operator or `)`");
  reader_.take();
  return inner;
}

// name "(" name { "," name } ")" "(": nothing but a reduction starts so.
bool ExpressionParser::at_reduction() const {
  std::size_t n = 1;
  if (!reader_.ahead(n++).is("(")) return false;
  while (true) {
    if (reader_.ahead(n++).kind != Token::Kind::name) return false;
    if (reader_.ahead(n).is(")")) return reader_.ahead(n + 1).is("(");
    if (!reader_.ahead(n++).is(",")) return false;
  }
}

// The next word is a name.
Result<Expression> ExpressionParser::named(std::size_t depth) {
  const Token name = reader_.next();
  if (at_reduction()) return reduction(depth);
  if (reader_.after_next().is("(")) {
    if (const auto function = operators::function_named(name.text)) return call(*function, depth);
    if (operators::monoid_named(name.text)) {
      const std::string word(name.text);
      return reader_.at_range(
          support::invalid("syntax", quoted(word) + " is a reduction: expected `" + word +
                                         "(j)(...)`, the indices and then what is reduced"),
          name.range);
    }
  }
  Shifts shifts{depth, {}};
  SCHAAS_ASSIGN_OR_RETURN(Access found, access(&shifts));
  const SourceRange range = found.range;
  if (shifts.comparisons.empty()) return Expression{std::move(found), range};
  SCHAAS_RETURN_IF_ERROR(count());  // the sum
  Reduction sum;
  for (const Expression& comparison : shifts.comparisons)
    sum.indices.push_back(std::get<Coordinate>(parts(comparison).front().node).index);
  Product product{{{std::move(found), range}}};
  product.factors.insert(product.factors.end(), shifts.comparisons.begin(), shifts.comparisons.end());
  sum.body.push_back({std::move(product), range});
  return Expression{std::move(sum), range};
}

// Reads the arguments of a function and checks their number by the table of functions.
Result<Expression> ExpressionParser::call(Function function, std::size_t depth) {
  const Token name = reader_.take();
  SCHAAS_RETURN_IF_ERROR(reader_.check_depth(depth));
  Call call{function, {}};
  while (true) {
    reader_.take();
    if (call.arguments.empty() && reader_.next().is(")")) break;
    SCHAAS_ASSIGN_OR_RETURN(Expression argument, expression(depth + 1));
    call.arguments.push_back(std::move(argument));
    if (reader_.next().is(")")) break;
    if (!reader_.next().is(","))
      return reader_.syntax("expected an operator, `,` or `)` in the arguments of " + quoted(name.text));
  }
  const SourceRange range{name.range.begin, reader_.take().range.end};
  const auto& facts = operators::facts(function);
  const std::size_t found = call.arguments.size();
  if (found < facts.arity || (found > facts.arity && !facts.any_more)) {
    return reader_.at_range(
        support::invalid("arity", quoted(name.text) + " takes " + (facts.any_more ? "at least " : "") +
                                      std::to_string(facts.arity) +
                                      (facts.arity == 1 ? " argument" : " arguments") + ", found " +
                                      std::to_string(found)),
        range);
  }
  return Expression{std::move(call), range};
}

// Reads a reduction; at_reduction has looked at its words up to the second `(`, so the indices are names.
Result<Expression> ExpressionParser::reduction(std::size_t depth) {
  const Token name = reader_.take();
  const auto monoid = operators::monoid_named(name.text);
  if (!monoid) {
    const auto known = monoid_names();
    Diagnostic d = support::invalid("unknown-reduction", quoted(name.text) + " is not a reduction" +
                                                             support::did_you_mean(name.text, known));
    std::string all;
    for (const auto& each : known) all += (all.empty() ? "" : ", ") + each;
    return reader_.at_range(support::noting(std::move(d), "reductions are " + all), name.range);
  }
  Reduction reduction{*monoid, {}, {}};
  do {
    reader_.take();
    reduction.indices.emplace_back(reader_.take().text);
  } while (reader_.next().is(","));
  reader_.take();
  SCHAAS_ASSIGN_OR_RETURN(Expression body, grouped(depth));
  reduction.body.push_back(std::move(body));
  return Expression{std::move(reduction), {name.range.begin, reader_.taken_end()}};
}

// Returns the error of `B[i,j]` and `B{i,j}`.
Diagnostic ExpressionParser::bracket(const std::string& tensor) const {
  return reader_.at_range(
      support::invalid("syntax", "indices are written in parentheses, as in `" + tensor + "(i,j)`; found `" +
                                     std::string(reader_.next().text) + "`"),
      reader_.next().range);
}

// Reads a tensor with its indices; a scalar has no parentheses.
Result<Access> ExpressionParser::access() { return access(nullptr); }

Result<Access> ExpressionParser::access(Shifts* shifts) {
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
    const bool is_number = reader_.next().kind == Token::Kind::number;
    SCHAAS_RETURN_IF_ERROR(index(found, shifts));
    if (reader_.next().is(")")) break;
    if (!reader_.next().is(",") && is_number && at_operand_in_parentheses()) return not_a_function(found);
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
  if (call || is_misspelt_call(found)) return not_a_function(found);
  return unsupported("operator",
                     "what stands at an index of " + quoted(found.tensor) +
                         " is no sum of indices, of whole multiples of them and of whole numbers",
                     "an operand is read at a sum, as in `B(2*i+k-1,j)`; a part of a mode is a range, as in "
                     "`B(i(2:),j)`, also of a result");
}

// The name stands where only a function's arguments can follow.
Diagnostic ExpressionParser::not_a_function(const Access& found) const {
  const std::uint32_t begin = found.range.begin;
  return unknown_function(found.tensor, {begin, begin + static_cast<std::uint32_t>(found.tensor.size())});
}

// An operand with indices, or a call, stands before the next `,` or `)`.
bool ExpressionParser::at_operand_in_parentheses() const {
  for (std::size_t n = 0;; ++n) {
    const Token& each = reader_.ahead(n);
    if (each.kind == Token::Kind::end || each.is(",") || each.is(")")) return false;
    if (each.kind == Token::Kind::name && reader_.ahead(n + 1).is("(")) return true;
  }
}

bool ExpressionParser::is_misspelt_call(const Access& found) const {
  return support::nearest_name(found.tensor, operators::function_names()).has_value();
}

// A word or a number with its sign, and an operator behind it. Where a call or an access follows, a
// parenthesis is missing, as in `B(i,j * x(j)`.
bool ExpressionParser::at_shift() const {
  const std::size_t sign = reader_.next().is("-") ? 1 : 0;
  if (sign == 1 && reader_.ahead(1).kind == Token::Kind::name) return true;
  if (!is_bound(reader_.ahead(sign))) return false;
  const Token& behind = reader_.ahead(sign + 1);
  if (!behind.is("+") && !behind.is("-") && !behind.is("*")) return false;
  for (std::size_t n = sign + 2;
       reader_.ahead(n).kind != Token::Kind::end && !reader_.ahead(n).is(",") && !reader_.ahead(n).is(")");
       ++n) {
    if (reader_.ahead(n).kind == Token::Kind::name && reader_.ahead(n + 1).is("(")) return false;
  }
  return true;
}

/// Returns true for sums of names, whole numbers and products with one name at most.
bool is_shift(const Expression& value) {
  if (const auto* literal = std::get_if<Literal>(&value.node))
    return std::fabs(literal->value) < 1 << 30 && literal->value == std::floor(literal->value);
  if (const auto* access = std::get_if<Access>(&value.node)) return access->indices.empty();
  const auto* call = std::get_if<Call>(&value.node);
  const auto* product = std::get_if<Product>(&value.node);
  if (call != nullptr ? call->function != Function::add && call->function != Function::subtract &&
                            call->function != Function::negate
                      : product == nullptr)
    return false;
  const auto varies = [](const Expression& part) { return !std::holds_alternative<Literal>(part.node); };
  const auto& all = parts(value);
  return std::all_of(all.begin(), all.end(), is_shift) &&
         (call != nullptr || std::count_if(all.begin(), all.end(), varies) <= 1);
}

// Returns a name for the coordinate of the next mode that the text does not have.
std::string ExpressionParser::coordinate_name(const Access& found) {
  std::size_t n = 0;
  while (reader_.ahead(n).kind != Token::Kind::end) ++n;
  const std::string_view text = reader_.text_of({0, reader_.ahead(n).range.end});
  std::string suffix = "_mode" + std::to_string(found.indices.size() + 1);
  if (shifts_ > 0) suffix += "_" + std::to_string(shifts_ + 1);
  // Cut, so that the printed text keeps within the limit on names.
  const auto name = [&] {
    return found.tensor.substr(0, support::Limits::name_bytes - suffix.size()) + suffix;
  };
  while (text.find(name()) != std::string_view::npos) suffix += "_";
  return name();
}

// Reads a sum of indices at one mode. It is written out as `sum(p)(B(p) * (p == ...))` later. Parentheses and
// terms are counted as they stand there, so that this text keeps the bounds, too.
Result<void> ExpressionParser::shift(Access& found, Shifts& shifts) {
  const std::uint32_t begin = reader_.next().range.begin;
  SCHAAS_RETURN_IF_ERROR(reader_.check_depth(shifts.depth + 1));
  SCHAAS_ASSIGN_OR_RETURN(Expression value, sum(shifts.depth + 2));
  const SourceRange range{begin, reader_.taken_end()};
  if (!is_shift(value)) {
    Diagnostic error = not_an_index(found);
    error.range = range;
    return error;
  }
  SCHAAS_RETURN_IF_ERROR(count(3));  // `*`, `p` and `==`
  const std::string name = coordinate_name(found);
  ++shifts_;
  if (!first_shift_) first_shift_ = range;
  shifts.comparisons.push_back({Call{Function::equal, {{Coordinate{name}, range}, std::move(value)}}, range});
  found.indices.push_back(name);
  found.index_ranges.push_back(range);
  found.ranges.emplace_back();
  return {};
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
  if (!is_bound(reader_.next()) || (negative && !is_numeral(reader_.next())))
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
Result<void> ExpressionParser::index(Access& found, Shifts* shifts) {
  if (shifts != nullptr && at_shift() && !is_misspelt_call(found)) return shift(found, *shifts);
  const Token next = reader_.next();
  const bool word = next.kind == Token::Kind::name;
  const bool negative = next.is("-") && is_numeral(reader_.after_next());
  if (next.is(":") || ((is_numeral(next) || negative) && reader_.ahead(negative ? 2 : 1).is(":")))
    return reader_.at_range(
        support::noting(support::invalid("range", "a range of " + quoted(found.tensor) + " without an index"),
                        "name the index that runs through it, as in `" + found.tensor + "(i(2:5))`"),
        next.range);
  if (is_numeral(next) || negative || at_fixed_in_parentheses()) {
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
