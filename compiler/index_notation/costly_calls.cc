#include "compiler/index_notation/costly_calls.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/operators/operators.h"
#include "compiler/support/limits.h"

namespace schaas::index_notation {
namespace {

/// The call takes no longer than a few multiplications, as pow(x, 2).
bool is_simple_power(const Call& call) {
  if (call.function != operators::Function::power) return false;
  const auto* negated = std::get_if<Call>(&call.arguments[1].node);
  const bool negates = negated != nullptr && negated->function == operators::Function::negate;
  const Expression& exponent = negates ? negated->arguments.front() : call.arguments[1];
  const auto* literal = std::get_if<Literal>(&exponent.node);
  return literal != nullptr && operators::simple_power(negates ? -literal->value : literal->value) != nullptr;
}

void collect(const Expression& value, std::vector<const Expression*>& out) {
  if (is_costly_call(value)) out.push_back(&value);
  for (const Expression& part : parts(value)) collect(part, out);
}

}  // namespace

bool is_costly_call(const Expression& value) {
  const auto* call = std::get_if<Call>(&value.node);
  return call != nullptr && operators::is_costly(call->function) && !is_simple_power(*call);
}

std::vector<const Expression*> costly_calls(const Expression& value) {
  std::vector<const Expression*> out;
  collect(value, out);
  return out;
}

namespace {

bool has_call(const Assignment& statement, const Expression& wanted) {
  const auto calls = costly_calls(statement.value);
  return std::any_of(calls.begin(), calls.end(), [&](const Expression* each) { return *each == wanted; });
}

// Returns the outermost costly call of a statement that a later one has as well. A statement that is nothing
// else than the call stays as it is.
std::optional<Expression> shared_call(const std::vector<Assignment>& statements, std::size_t at) {
  for (const Expression* each : costly_calls(statements[at].value)) {
    const auto later = statements.begin() + static_cast<std::ptrdiff_t>(at) + 1;
    const auto has_it = [&](const Assignment& statement) { return has_call(statement, *each); };
    if (*each != statements[at].value && std::any_of(later, statements.end(), has_it)) return *each;
  }
  return std::nullopt;
}

}  // namespace

void share_costly_calls(std::vector<Assignment>& statements, FreshNames& names) {
  for (std::size_t at = 0; at < statements.size() && statements.size() < support::Limits::statements; ++at) {
    while (const auto call = shared_call(statements, at)) {
      const Access access{names.fresh("P"), free_indices(*call), {}, {}};
      const auto first = statements.begin() + static_cast<std::ptrdiff_t>(at);
      for (auto statement = first; statement != statements.end(); ++statement)
        statement->value = with_replaced(statement->value, *call, {access, {}});
      statements.insert(first, {access, *call, std::nullopt, {}});
      ++at;
      if (statements.size() == support::Limits::statements) break;
    }
  }
}

}  // namespace schaas::index_notation
