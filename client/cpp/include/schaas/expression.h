#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/support/result.h"
#include "schaas/functions.h"

/// A small reader of statements, on purpose not the compiler's: what the oracle evaluates and what binds
/// extents to files.
namespace schaas::client {

struct Access {
  std::string tensor;
  std::vector<std::string> indices;
  bool operator==(const Access&) const = default;
};
std::string print(const Access& access);  ///< "B(i,j)"; "s" for a scalar

struct Expression;

/// A function of its arguments. `*` is Function::multiply even under a semiring whose product is another; the
/// arguments of `*` and `+` are flattened.
struct Operation {
  Function function = Function::add;
  std::vector<Expression> arguments;
};

/// `max(j)(body)`.
struct Reduction {
  Fold fold = Fold::sum;
  std::vector<std::string> indices;
  std::vector<Expression> body;  ///< exactly one
};

struct Expression {
  std::variant<Access, double, Operation, Reduction> value;
};
bool operator==(const Operation& a, const Operation& b);
bool operator==(const Reduction& a, const Reduction& b);
bool operator==(const Expression& a, const Expression& b);

struct Statement {
  Access result;
  std::optional<Fold> update;  ///< `+=` and its like: folded into what the result holds
  Expression value;
};

/// Statements; all but the last define intermediates.
struct Program {
  const Semiring* semiring = &semirings().front();
  std::vector<Statement> statements;  ///< at least one

  const Access& result() const { return statements.back().result; }
};

/// The server's diagnostics are the better ones and it checks more (ranks, order of definitions); this one's
/// errors are invalid [expression-syntax] with a caret.
support::Result<Program> parse_program(std::string_view text);

/// Every reading of a tensor, in order of appearance.
std::vector<Access> accesses(const Expression& expression);
/// The readings of tensors that no statement defines.
std::vector<Access> operands(const Program& program);
/// Lists the arguments of a kernel: the result, then the distinct tensors read that no statement defines.
std::vector<std::string> arguments(const Program& program);
/// All indices in order of first appearance; the last result's first.
std::vector<std::string> indices_of(const Program& program);
/// Pairs of indices that run over the same values because an intermediate is defined with one and read with
/// the other.
std::vector<std::pair<std::string, std::string>> linked_indices(const Program& program);

}  // namespace schaas::client
