#include "compiler/problem/precomputed.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "compiler/index_notation/costly_calls.h"
#include "compiler/index_notation/rename.h"
#include "compiler/index_notation/verifier.h"
#include "compiler/problem/copies.h"
#include "compiler/problem/sparse_factors.h"
#include "compiler/support/contains.h"

// Expressions are walked with the indices of the nest around: those of the statement, and of each reduction
// on the way down. A call is repeated where the nest has an index that the call lacks. An access with all
// indices of the call bounds the size of its intermediate. Calls of sparse elements stay where they are,
// since their values count at entries alone.
namespace schaas::problem {
namespace {

using index_notation::Access;
using index_notation::Assignment;
using index_notation::Call;
using index_notation::Expression;
using index_notation::Reduction;
using support::Result;
using Indices = std::vector<std::string>;

support::Diagnostic refused(std::string message) {
  return support::invalid("illegal-directive", std::move(message));
}

/// Every element is dense, and an operand has all indices of the call. An intermediate that has them may
/// never be stored whole.
bool is_as_large_as_an_operand(const Expression& call, const Problem& problem) {
  const auto operands = index_notation::operands(call);
  const auto is_dense = [&](const Access& access) {
    const auto known = problem.formats.find(access.tensor);
    return known == problem.formats.end() || known->second.all_dense();
  };
  const auto indices = index_notation::free_indices(call);
  const auto has_all = [&](const Access& access) {
    return problem.formats.count(access.tensor) != 0 &&
           std::all_of(indices.begin(), indices.end(),
                       [&](const std::string& index) { return support::contains(access.indices, index); });
  };
  return !indices.empty() && std::all_of(operands.begin(), operands.end(), is_dense) &&
         std::any_of(operands.begin(), operands.end(), has_all);
}

/// Adds the calls below an expression whose nest has these indices.
void add_calls(const Expression& expression, const Indices& nest, const Problem& problem,
               std::vector<Expression>& out) {
  if (index_notation::is_costly_call(expression) && !has_reduction(expression)) {
    const auto indices = index_notation::free_indices(expression);
    const bool repeated = std::any_of(nest.begin(), nest.end(), [&](const std::string& index) {
      return !support::contains(indices, index);
    });
    if (repeated && is_as_large_as_an_operand(expression, problem)) {
      if (!support::contains(out, expression)) out.push_back(expression);
      return;
    }
  }
  const auto* reduction = std::get_if<Reduction>(&expression.node);
  const Indices inner = reduction == nullptr ? nest : index_notation::free_indices(reduction->body.front());
  for (const Expression& part : index_notation::parts(expression)) add_calls(part, inner, problem, out);
}

std::vector<Expression> calls_of(const Problem& problem) {
  std::vector<Expression> out;
  for (const Assignment& statement : problem.statements()) {
    Indices nest = statement.result.indices;
    for (std::string& index : index_notation::free_indices(statement.value)) nest.push_back(std::move(index));
    add_calls(statement.value, nest, problem, out);
  }
  return out;
}

/// Replaces the call in all statements and defines it before the first of them.
void precompute(const Expression& call, Problem& problem) {
  const std::string name =
      free_name(std::string(operators::facts(std::get<Call>(call.node).function).name) + "_values", problem);
  const Assignment definition{{name, index_notation::free_indices(call), {}, {}}, call, std::nullopt, {}};
  const Expression access{definition.result, {}};
  auto first = problem.intermediates.size();
  for (std::size_t n = problem.intermediates.size(); n-- > 0;) {
    Assignment& statement = problem.intermediates[n];
    Expression value = index_notation::with_replaced(statement.value, call, access);
    if (value != statement.value) first = n;
    statement.value = std::move(value);
  }
  problem.statement.value = index_notation::with_replaced(problem.statement.value, call, access);
  problem.intermediates.insert(problem.intermediates.begin() + static_cast<std::ptrdiff_t>(first),
                               definition);
}

}  // namespace

PrecomputeRequest possible_precomputes(const Problem& problem) {
  PrecomputeRequest out;
  const auto count = static_cast<int>(calls_of(problem).size());
  for (int call = 0; call < count; ++call) out.calls.push_back(call);
  return out;
}

Result<Problem> with_precomputed(const Problem& problem, const PrecomputeRequest& request) {
  const auto calls = calls_of(problem);
  const std::set<int> numbers(request.calls.begin(), request.calls.end());
  if (numbers.empty() || numbers.size() != request.calls.size())
    return refused("`precompute` names each call once, and at least one");
  Problem out = problem;
  if (out.without_precomputed.empty()) out.without_precomputed = problem.statements();
  for (const int number : numbers) {
    if (number < 0 || static_cast<std::size_t>(number) >= calls.size())
      return refused("there is no call " + std::to_string(number) + " to precompute: the program has " +
                     std::to_string(calls.size()) +
                     " whose operands are dense, and whose indices one of them has");
    precompute(calls[static_cast<std::size_t>(number)], out);
  }
  const auto verified = index_notation::verify(out.program(), "");
  if (!verified.ok()) return refused("the calls cannot be intermediates: " + verified.error().message);
  return out;
}

}  // namespace schaas::problem
