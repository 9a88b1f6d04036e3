#include "compiler/index_notation/parser.h"

#include <algorithm>
#include <array>

#include "compiler/index_notation/token_reader.h"

// Recursive descent. What the language will have one day (sums, literals, calls, ...) is recognised where it
// starts, so that the answer is "unsupported, this works", not "syntax error".
namespace schaas::index_notation {
namespace {

using support::Diagnostic;
using support::Result;
using support::SourceRange;

constexpr const char* what = "expression";
constexpr const char* what_works =
    "a right-hand side is a product of accesses, as in `A(i,l) = B(i,j) * C(j,l)`";

// Kept for the language to come: followed by `(` these are calls, never tensors.
bool is_function(std::string_view name) {
  static constexpr std::array<std::string_view, 20> names = {
      "abs",  "ceil",  "cos",  "exp",     "floor", "log",  "max", "min", "pow",  "prod",
      "relu", "round", "sign", "sigmoid", "sin",   "sqrt", "sum", "tan", "tanh", "where"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_operator(const Token& token) {
  static constexpr std::array<std::string_view, 10> operators = {"+",  "-",  "/",  "<",  ">",
                                                                 "<=", ">=", "==", "!=", "^"};
  return token.kind == Token::Kind::symbol &&
         std::find(operators.begin(), operators.end(), token.text) != operators.end();
}

bool is_update(const Token& token) {
  return token.is("+=") || token.is("-=") || token.is("*=") || token.is("/=");
}

class Parser : private TokenReader {
 public:
  using TokenReader::TokenReader;

  Result<Assignment> statement() {
    if (next().kind != Token::Kind::name) return syntax("expected the name of the result");
    Assignment assignment;
    SCHAAS_ASSIGN_OR_RETURN(assignment.result, access());
    SCHAAS_RETURN_IF_ERROR(equals(assignment.result));
    std::vector<Access> factors;
    SCHAAS_RETURN_IF_ERROR(product(factors, 0));
    SCHAAS_RETURN_IF_ERROR(finish());
    const SourceRange value{factors.front().range.begin, factors.back().range.end};
    assignment.range = {assignment.result.range.begin, value.end};
    assignment.value = product_of(std::move(factors));
    assignment.value.range = value;
    return assignment;
  }

 private:
  Diagnostic unsupported(const char* code, const std::string& message, const std::string& note) const {
    return place(support::noting(support::unsupported(code, message), note), next().range);
  }
  Diagnostic bracket(const std::string& tensor) const {
    return place(support::invalid("syntax", "indices are written in parentheses, as in `" + tensor +
                                                "(i,j)`; found `" + std::string(next().text) + "`"),
                 next().range);
  }

  Result<void> equals(const Access& result) {
    if (is_update(next())) {
      return unsupported(
          "accumulate", quoted(next().text) + " is not supported yet",
          "`=` works: indices that are not on the left are summed, and the result starts from zero");
    }
    if (!next().is("=")) return syntax("expected `=` after the result " + quoted(text_of(result.range)));
    take();
    return {};
  }

  // product := factor { "*" factor }
  Result<void> product(std::vector<Access>& factors, std::size_t depth) {
    while (true) {
      SCHAAS_RETURN_IF_ERROR(factor(factors, depth));
      if (!next().is("*")) break;
      take();
    }
    if (is_operator(next())) return arithmetic();
    return {};
  }
  Diagnostic arithmetic() const {
    return unsupported("operator", "operator " + quoted(next().text) + " is not supported yet", what_works);
  }

  // factor := access | "(" product ")"
  Result<void> factor(std::vector<Access>& factors, std::size_t depth) {
    if (next().kind == Token::Kind::name) {
      SCHAAS_ASSIGN_OR_RETURN(Access found, access());
      factors.push_back(std::move(found));
      return {};
    }
    if (next().kind == Token::Kind::number) {
      return unsupported("literal", "number " + quoted(next().text) + " is not supported yet",
                         "a scalar tensor works, as in `A(i) = alpha * B(i,j)`");
    }
    if (next().is("+") || next().is("-")) return arithmetic();
    if (!next().is("(")) return syntax("expected a tensor");
    SCHAAS_RETURN_IF_ERROR(check_depth(depth));
    take();
    SCHAAS_RETURN_IF_ERROR(product(factors, depth + 1));
    if (!next().is(")")) return syntax("expected `*` or `)`");
    take();
    return {};
  }

  // access := name [ "(" name { "," name } ")" ]
  Result<Access> access() {
    Access found;
    found.tensor = std::string(next().text);
    found.range = next().range;
    if (is_function(next().text) && after_next().is("(")) return call(next().text);
    take();
    if (next().is("[") || next().is("{")) return bracket(found.tensor);
    if (!next().is("(")) return found;
    take();
    if (next().is(")"))
      return syntax(quoted(found.tensor) +
                    " has no indices; a scalar is written without parentheses: expected an index");
    while (true) {
      SCHAAS_RETURN_IF_ERROR(index(found));
      if (next().is(")")) break;
      if (!next().is(","))
        return syntax("expected `,` or `)` after index " + quoted(found.indices.back()) + " of " +
                      quoted(found.tensor));
      take();
    }
    found.range.end = take().range.end;
    if (next().is("(")) {
      return unsupported(
          "function",
          quoted(text_of(found.range)) + " followed by `(`: reductions and calls are not supported yet",
          what_works);
    }
    return found;
  }
  Diagnostic call(std::string_view name) const {
    const bool sum = name == "sum";
    return unsupported("function", "function " + quoted(name) + " is not supported yet",
                       sum ? "sums are implied: indices that are not on the left are summed" : what_works);
  }

  Result<void> index(Access& found) {
    const std::string of = " of " + quoted(found.tensor);
    if (next().kind == Token::Kind::number) {
      return unsupported("literal",
                         "the fixed coordinate " + quoted(next().text) + of + " is not supported yet",
                         "an index is a name, as in `B(i,j)`");
    }
    if (next().kind == Token::Kind::name && after_next().is("(")) {
      return unsupported(
          "function", "calling " + quoted(found.tensor) + " with an access is not supported yet", what_works);
    }
    if (next().kind == Token::Kind::name) {
      found.indices.emplace_back(next().text);
      found.index_ranges.push_back(next().range);
      take();
    } else if (!is_operator(next())) {
      return syntax("expected an index" + of);
    }
    if (!is_operator(next())) return {};
    return unsupported("operator", "arithmetic on an index" + of + " is not supported yet",
                       "an index is a name, as in `B(i,j)`");
  }

  // A `;` may end the statement.
  Result<void> finish() {
    if (next().is(";")) {
      take();
      if (next().kind == Token::Kind::end) return {};
      return unsupported("several-statements", "a second statement after `;` is not supported yet",
                         "give one statement at a time");
    }
    if (next().kind == Token::Kind::end) return {};
    if (next().is("[") || next().is("{")) return bracket("B");
    return syntax("expected `*` or the end of the expression");
  }
};

}  // namespace

Result<Assignment> parse(std::string_view text) {
  SCHAAS_ASSIGN_OR_RETURN(std::vector<Token> tokens, lex(text, what));
  return Parser(text, what, std::move(tokens)).statement();
}

}  // namespace schaas::index_notation
