#include "compiler/index_notation/parser.h"

#include <set>
#include <utility>

#include "compiler/index_notation/expression_parser.h"
#include "compiler/support/contains.h"
#include "compiler/support/limits.h"
#include "compiler/support/nearest_name.h"

// Statements around expressions, by recursive descent. A semiring is told from a statement by the colon after
// its name, which is looked for beyond names joined by `-`; nothing else in the language has a colon. The
// result and its update operator stand before the expression, so that `=` never needs look-ahead inside of
// one. A name without parentheses is read as a scalar: only the whole program tells whether it is an index. A
// name that is an index and a tensor as well stays a scalar, which the verifier refuses.
namespace schaas::index_notation {
namespace {

using operators::Monoid;
using support::Diagnostic;
using support::Limits;
using support::Result;
using support::SourceRange;

constexpr const char* what = "expression";

void add_reduced(const Expression& expression, std::vector<std::string>& out) {
  if (const auto* reduction = std::get_if<Reduction>(&expression.node))
    out.insert(out.end(), reduction->indices.begin(), reduction->indices.end());
  for (const auto& part : parts(expression)) add_reduced(part, out);
}

/// Returns the program with coordinates for the scalars that have the name of an index and of no other
/// tensor.
Program with_indices_known(const Program& program) {
  std::vector<std::string> indices = index_variables(program.statements);
  std::set<std::string> tensors;
  for (const auto& statement : program.statements) {
    add_reduced(statement.value, indices);
    tensors.insert(statement.result.tensor);
    for (const auto& access : operands(statement.value))
      if (!access.indices.empty()) tensors.insert(access.tensor);
  }
  std::erase_if(indices, [&](const std::string& index) { return tensors.count(index) != 0; });
  Program out = program;
  for (auto& statement : out.statements) statement.value = with_coordinates(statement.value, indices);
  return out;
}

class Parser : private TokenReader {
 public:
  using TokenReader::TokenReader;

  Result<Program> program() {
    Program out;
    if (at_semiring()) SCHAAS_RETURN_IF_ERROR(semiring(out));
    while (true) {
      if (out.statements.size() == Limits::statements) {
        return at_range(support::unsupported("too-many-statements", "the program has more than " +
                                                                        std::to_string(Limits::statements) +
                                                                        " statements"),
                        next().range);
      }
      SCHAAS_ASSIGN_OR_RETURN(Assignment read, statement(*out.semiring));
      out.statements.push_back(std::move(read));
      if (!next().is(";")) break;
      take();
      if (next().kind == Token::Kind::end) break;
    }
    if (next().kind == Token::Kind::end) return with_indices_known(out);
    if (next().is("[") || next().is("{")) return bracket();
    return syntax("expected an operator, `;` or the end of the expression");
  }

  Result<Expression> alone() {
    SCHAAS_ASSIGN_OR_RETURN(Expression read, ExpressionParser(*this).expression(0));
    if (next().kind != Token::Kind::end) return syntax("expected an operator or the end of the expression");
    return read;
  }

 private:
  Diagnostic bracket() const {
    return at_range(support::invalid("syntax", "indices are written in parentheses, as in `B(i,j)`; found `" +
                                                   std::string(next().text) + "`"),
                    next().range);
  }

  // name { "-" name } ":"
  bool at_semiring() const {
    for (std::size_t n = 0; ahead(n).kind == Token::Kind::name; n += 2) {
      if (ahead(n + 1).is(":")) return true;
      if (!ahead(n + 1).is("-")) return false;
    }
    return false;
  }

  // Reads the semiring's name and colon; at_semiring has seen both.
  Result<void> semiring(Program& out) {
    const std::uint32_t begin = next().range.begin;
    std::string name(take().text);
    while (!next().is(":")) {
      take();
      name += "-" + std::string(take().text);
    }
    const SourceRange range{begin, taken_end()};
    take();
    out.semiring = operators::semiring_named(name);
    if (out.semiring != nullptr) return {};
    std::vector<std::string> known;
    std::string all;
    for (const auto& each : operators::semirings()) {
      known.emplace_back(each.name);
      all += (all.empty() ? "" : ", ") + known.back();
    }
    Diagnostic d = support::invalid("unknown-semiring",
                                    quoted(name) + " is not a semiring" + support::did_you_mean(name, known));
    return at_range(support::noting(std::move(d), "semirings are " + all), range);
  }

  // statement := access update expression
  Result<Assignment> statement(const operators::Semiring& semiring) {
    if (next().kind != Token::Kind::name) return syntax("expected the name of the result");
    ExpressionParser expressions(*this);
    Assignment out;
    SCHAAS_RETURN_IF_ERROR(free_name());
    SCHAAS_ASSIGN_OR_RETURN(out.result, expressions.access());
    SCHAAS_RETURN_IF_ERROR(update(out, semiring));
    SCHAAS_ASSIGN_OR_RETURN(out.value, expressions.expression(0));
    if (const auto shift = expressions.first_shift(); shift && &semiring != &operators::plus_times())
      return at_range(
          support::noting(
              support::unsupported("operator", "a sum of indices stands under " + std::string(semiring.name) +
                                                   ", whose `+` and `*` mean something else"),
              "write sums of numbers, as in `s = max(k)(B(i+k) + w(k))`, without a semiring"),
          *shift);
    out.range = {out.result.range.begin, taken_end()};
    return out;
  }

  // Followed by `(` the words of the language are calls, never tensors.
  Result<void> free_name() const {
    const bool word = operators::function_named(next().text) || operators::monoid_named(next().text);
    if (!word || !after_next().is("(")) return {};
    return at_range(support::invalid("reserved-name", quoted(next().text) +
                                                          " followed by `(` is a call; a tensor with indices "
                                                          "needs another name"),
                    next().range);
  }

  // Returns the error of an update that the language does not have, with one to write instead.
  Diagnostic no_update(const std::string& text, SourceRange range, const std::string& instead) const {
    Diagnostic d = support::invalid("update", quoted(text) + " does not update a result");
    return at_range(support::noting(std::move(d), instead), range);
  }

  // "=" | "+=" | "*=" | ("min" | "max" | "or" | "and") "="
  Result<void> update(Assignment& out, const operators::Semiring& semiring) {
    const Token first = next();
    if (first.is("=")) {
      take();
      return {};
    }
    if (first.is("+=")) out.update = semiring.sum;
    if (first.is("*=")) {
      if (&semiring != &operators::plus_times()) {
        return no_update("*=", first.range,
                         std::string("under ") + semiring.name + " write `+=`, which is its sum");
      }
      out.update = Monoid::product;
    }
    if (out.update) {
      take();
      return {};
    }
    if (first.is("-=") || first.is("/=")) {
      const bool minus = first.is("-=");
      return no_update(std::string(first.text), first.range,
                       minus ? "`A(i) += -(...)` subtracts" : "`A(i) *= 1 / (...)` divides");
    }
    if (first.kind == Token::Kind::name && after_next().is("=")) return named_update(out);
    return syntax("expected `=` after the result " + quoted(text_of(out.result.range)));
  }

  // Reads `min=` and the like; `sum=` and `prod=` have signs of their own.
  Result<void> named_update(Assignment& out) {
    const Token word = take();
    const SourceRange range{word.range.begin, take().range.end};
    out.update = operators::monoid_named(word.text);
    const std::string text = std::string(word.text) + "=";
    if (out.update == Monoid::sum) return no_update(text, range, "a sum is written `+=`");
    if (out.update == Monoid::product) return no_update(text, range, "a product is written `*=`");
    if (out.update) return {};
    return no_update(text, range, "updates are `+=`, `*=`, `min=`, `max=`, `or=` and `and=`");
  }
};

}  // namespace

Expression with_coordinates(const Expression& expression, const std::vector<std::string>& indices) {
  if (const auto* access = std::get_if<Access>(&expression.node)) {
    const bool stands_alone = access->indices.empty() && support::contains(indices, access->tensor);
    return stands_alone ? Expression{Coordinate{access->tensor}, expression.range} : expression;
  }
  std::vector<Expression> inner;
  for (const auto& part : parts(expression)) inner.push_back(with_coordinates(part, indices));
  return with_parts(expression, std::move(inner));
}

Result<Program> parse(std::string_view text) {
  SCHAAS_ASSIGN_OR_RETURN(std::vector<Token> tokens, lex(text, what));
  return Parser(text, what, std::move(tokens)).program();
}

Result<Expression> parse_expression(std::string_view text) {
  SCHAAS_ASSIGN_OR_RETURN(std::vector<Token> tokens, lex(text, what));
  return Parser(text, what, std::move(tokens)).alone();
}

std::string with_semiring_of(std::string_view program, operators::ValueType type) {
  // A semiring's `:` is the first mark of a program; those of ranges stand in parentheses.
  const std::size_t mark = program.find_first_of(":=([");
  const bool is_stated = mark != std::string_view::npos && program[mark] == ':';
  const bool adds = type == operators::ValueType::boolean && !is_stated;
  return (adds ? "or-and: " : "") + std::string(program);
}

}  // namespace schaas::index_notation
