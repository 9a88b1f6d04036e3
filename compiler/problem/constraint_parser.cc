#include <algorithm>
#include <array>

#include "compiler/index_notation/token_reader.h"
#include "compiler/problem/constraint.h"
#include "compiler/problem/polynomial.h"
#include "compiler/support/nearest_name.h"

// Recursive descent over the tokens of index notation (token_reader.h). Values are polynomials from the
// start, so there is no syntax tree: division multiplies by a reciprocal, and each comparison becomes a
// normal form (polynomial.h). Depth is bounded by check_depth, so recursion is safe on any text. Errors of
// arithmetic have no range of their own; they are given that of the operator or comparison.
namespace schaas::problem {
namespace {

using index_notation::quoted;
using index_notation::Token;
using support::Diagnostic;
using support::Result;
using support::SourceRange;

constexpr const char* what = "constraint";

bool is_comparison(const Token& token) {
  static constexpr std::array<std::string_view, 6> symbols = {"<=", "<", ">=", ">", "==", "="};
  return token.kind == Token::Kind::symbol &&
         std::find(symbols.begin(), symbols.end(), token.text) != symbols.end();
}

struct Side {
  Polynomial value;
  SourceRange range;
};

class Parser : private index_notation::TokenReader {
 public:
  Parser(TokenReader reader, const ConstraintScope& scope) : TokenReader(std::move(reader)), scope_(scope) {}

  // chain := sum comparison sum { comparison sum }
  Result<std::vector<Comparison>> chain() {
    std::vector<Comparison> out;
    SCHAAS_ASSIGN_OR_RETURN(Side left, side());
    if (!is_comparison(next())) {
      return support::noting(syntax("expected a comparison (<=, <, >=, > or ==)"),
                             "a constraint is written as in `8 <= k <= 256` or `density(B) <= 1e-3`");
    }
    while (is_comparison(next())) {
      const std::string_view comparison = take().text;
      SCHAAS_ASSIGN_OR_RETURN(Side right, side());
      SCHAAS_RETURN_IF_ERROR(compare(left, comparison, right, out));
      left = std::move(right);
    }
    if (next().kind != Token::Kind::end) return syntax("expected an operator or the end of the constraint");
    return out;
  }

 private:
  Result<void> expect(std::string_view symbol) {
    if (!next().is(symbol)) return syntax("expected " + quoted(symbol));
    take();
    return {};
  }

  Result<Side> side() {
    const std::uint32_t begin = next().range.begin;
    SCHAAS_ASSIGN_OR_RETURN(Polynomial value, sum(0));
    return Side{std::move(value), {begin, taken_end()}};
  }

  // Appends an inequality once, an equality in both directions.
  Result<void> compare(const Side& left, std::string_view comparison, const Side& right,
                       std::vector<Comparison>& out) const {
    const bool strict = comparison == "<" || comparison == ">";
    if (comparison != ">" && comparison != ">=") SCHAAS_RETURN_IF_ERROR(ordered(left, right, strict, out));
    if (comparison != "<" && comparison != "<=") SCHAAS_RETURN_IF_ERROR(ordered(right, left, strict, out));
    return {};
  }

  // Appends the normal form of less <= more.
  Result<void> ordered(const Side& less, const Side& more, bool strict, std::vector<Comparison>& out) const {
    const SourceRange range{std::min(less.range.begin, more.range.begin),
                            std::max(less.range.end, more.range.end)};
    const auto difference = subtract(more.value, less.value);
    if (!difference.ok()) return at_range(difference.error(), range);
    auto constraint = normal_form(*difference, strict);
    if (constraint.ok()) {
      if (constraint->has_value()) out.push_back({**constraint, range});
      return {};
    }
    Diagnostic d = constraint.error();
    if (d.code == "never-true") d.message = quoted(text_of(range)) + " is never true, whatever the extents";
    return at_range(std::move(d), range);
  }

  // sum := term { ("+" | "-") term }
  Result<Polynomial> sum(std::size_t depth) {
    SCHAAS_ASSIGN_OR_RETURN(Polynomial total, term(depth));
    while (next().is("+") || next().is("-")) {
      const Token sign = take();
      SCHAAS_ASSIGN_OR_RETURN(const Polynomial right, term(depth));
      auto next_total = sign.is("+") ? add(total, right) : subtract(total, right);
      if (!next_total.ok()) return at_range(next_total.error(), sign.range);
      total = std::move(next_total).value();
    }
    return total;
  }

  // term := factor { ("*" | "/") factor }
  Result<Polynomial> term(std::size_t depth) {
    SCHAAS_ASSIGN_OR_RETURN(Polynomial total, factor(depth));
    while (next().is("*") || next().is("/")) {
      const Token op = take();
      const std::uint32_t begin = next().range.begin;
      SCHAAS_ASSIGN_OR_RETURN(Polynomial right, factor(depth));
      if (op.is("/")) {
        auto inverse = reciprocal(right);
        if (!inverse) return inexact(right, {begin, taken_end()});
        right = std::move(*inverse);
      }
      auto product = multiply(total, right);
      if (!product.ok()) return at_range(product.error(), op.range);
      total = std::move(product).value();
    }
    return total;
  }
  // Returns the error for a divisor that is zero or a sum.
  Diagnostic inexact(const Polynomial& divisor, SourceRange range) const {
    if (divisor.empty()) return at_range(support::invalid("syntax", "division by zero"), range);
    return at_range(
        support::unsupported("division", "division by the sum " + quoted(text_of(range)) +
                                             " is not supported; multiply both sides by it instead"),
        range);
  }

  // factor := ["-"] ( number | extent | count | "(" sum ")" )
  Result<Polynomial> factor(std::size_t depth) {
    bool negative = false;
    while (next().is("-")) {
      take();
      negative = !negative;
    }
    SCHAAS_ASSIGN_OR_RETURN(Polynomial value, atom(depth));
    return negative ? subtract({}, value) : std::move(value);
  }

  // Reads a number, an extent with or without bars, a count, or a sum in parentheses.
  Result<Polynomial> atom(std::size_t depth) {
    if (next().kind == Token::Kind::number) return literal();
    if (next().kind == Token::Kind::name) return after_next().is("(") ? count() : extent();
    if (next().is("|")) {
      take();
      if (next().kind != Token::Kind::name) return syntax("expected an index");
      SCHAAS_ASSIGN_OR_RETURN(Polynomial value, extent());
      SCHAAS_RETURN_IF_ERROR(expect("|"));
      return value;
    }
    if (!next().is("(")) return syntax("expected a number, an index, nnz(...) or density(...)");
    SCHAAS_RETURN_IF_ERROR(check_depth(depth));
    take();
    SCHAAS_ASSIGN_OR_RETURN(Polynomial value, sum(depth + 1));
    SCHAAS_RETURN_IF_ERROR(expect(")"));
    return value;
  }

  Result<Polynomial> literal() {
    const Token token = take();
    const auto value = rational_of_literal(token.text);
    if (value) return constant(*value);
    return at_range(support::invalid("constant-range", quoted(token.text) +
                                                           " does not fit in 64 bits; whole numbers reach "
                                                           "9223372036854775807, fractions 1e-18"),
                    token.range);
  }

  Result<Polynomial> extent() {
    const Token token = take();
    const std::string name(token.text);
    if (std::find(scope_.indices.begin(), scope_.indices.end(), name) != scope_.indices.end()) {
      return symbol({Symbol::Kind::extent, name, 0});
    }
    const bool is_tensor = find(name) != nullptr;
    return at_range(
        support::invalid("unknown-index", is_tensor ? "`" + name + "` is a tensor; its nonzeros are `nnz(" +
                                                          name + ")`, its density is `density(" + name + ")`"
                                                    : "unknown index `" + name + "`" +
                                                          support::did_you_mean(name, scope_.indices)),
        token.range);
  }

  // count := "nnz" "(" tensor [ "," levels ] ")" | "density" "(" tensor ")"
  Result<Polynomial> count() {
    const Token function = take();
    if (function.text != "nnz" && function.text != "density") {
      return at_range(
          support::invalid("syntax", "unknown function " + quoted(function.text) +
                                         "; constraints know `nnz` and `density`" +
                                         support::did_you_mean(function.text, {"nnz", "density"})),
          function.range);
    }
    take();
    if (next().kind != Token::Kind::name) return syntax("expected a tensor");
    const Token name = take();
    SCHAAS_ASSIGN_OR_RETURN(const ConstraintScope::Tensor* tensor, known(name));
    const int order = static_cast<int>(tensor->indices.size());
    if (order == 0) {
      return at_range(
          support::invalid("levels", quoted(name.text) + " is a scalar and has no nonzeros to count"),
          name.range);
    }
    if (function.text == "density") {
      SCHAAS_RETURN_IF_ERROR(expect(")"));
      return density(*tensor);
    }
    int levels = order;
    if (next().is(",")) {
      take();
      SCHAAS_ASSIGN_OR_RETURN(levels, level_count(*tensor));
    }
    SCHAAS_RETURN_IF_ERROR(expect(")"));
    return symbol({Symbol::Kind::nonzeros, tensor->name, levels});
  }

  Result<int> level_count(const ConstraintScope::Tensor& tensor) {
    const int order = static_cast<int>(tensor.indices.size());
    const Token token = next();
    if (token.kind != Token::Kind::number) return syntax("expected a number of levels");
    take();
    const auto value = rational_of_literal(token.text);
    if (value && value->denominator == 1 && value->numerator >= 1 && value->numerator <= order) {
      return static_cast<int>(value->numerator);
    }
    return at_range(support::invalid("levels", "`" + tensor.name + "` has levels 1 to " +
                                                   std::to_string(order) + ", found " + quoted(token.text)),
                    token.range);
  }

  // Returns the nonzeros over the product of the extents.
  static Polynomial density(const ConstraintScope::Tensor& tensor) {
    Powers powers;
    powers[{Symbol::Kind::nonzeros, tensor.name, static_cast<int>(tensor.indices.size())}] = 1;
    for (const auto& index : tensor.indices) powers[{Symbol::Kind::extent, index, 0}] = -1;
    return {{powers, Rational{1, 1}}};
  }

  const ConstraintScope::Tensor* find(const std::string& name) const {
    const auto found =
        std::find_if(scope_.tensors.begin(), scope_.tensors.end(),
                     [&](const ConstraintScope::Tensor& tensor) { return tensor.name == name; });
    return found == scope_.tensors.end() ? nullptr : &*found;
  }
  // Returns the tensor of that name. Errors suggest the nearest one.
  Result<const ConstraintScope::Tensor*> known(const Token& token) const {
    const std::string name(token.text);
    if (const auto* tensor = find(name)) return tensor;
    const bool is_index =
        std::find(scope_.indices.begin(), scope_.indices.end(), name) != scope_.indices.end();
    std::vector<std::string> names;
    for (const auto& tensor : scope_.tensors) names.push_back(tensor.name);
    return at_range(support::invalid("unknown-tensor", is_index ? "`" + name + "` is an index, not a tensor"
                                                                : "unknown tensor `" + name + "`" +
                                                                      support::did_you_mean(name, names)),
                    token.range);
  }

  const ConstraintScope& scope_;
};

}  // namespace

Result<std::vector<Comparison>> parse_comparisons(std::string_view text, const ConstraintScope& scope) {
  SCHAAS_ASSIGN_OR_RETURN(std::vector<Token> tokens, index_notation::lex(text, what));
  return Parser({text, what, std::move(tokens)}, scope).chain();
}

Result<std::vector<Constraint>> parse_constraint(std::string_view text, const ConstraintScope& scope) {
  SCHAAS_ASSIGN_OR_RETURN(const std::vector<Comparison> comparisons, parse_comparisons(text, scope));
  std::vector<Constraint> constraints;
  for (const Comparison& one : comparisons) constraints.push_back(one.constraint);
  return constraints;
}

}  // namespace schaas::problem
