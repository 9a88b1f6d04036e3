#include "compiler/concrete_notation/sum_terms.h"

// Sums as lists of terms with signs. Differences and negations are signs under plus-times alone; under other
// semirings they are terms themselves.
namespace schaas::concrete_notation {

using index_notation::Call;
using index_notation::Expression;
using operators::Function;

namespace {

// Collects the terms of an expression; `negative` is the sign that stands around it.
void collect(const Expression& expression, bool negative, const operators::Semiring& semiring,
             std::vector<SumTerm>& out) {
  const bool signs = &semiring == &operators::plus_times();
  const auto* call = std::get_if<Call>(&expression.node);
  const bool adds = call != nullptr &&
                    (call->function == Function::add || call->function == operators::combine(semiring.sum));
  const bool subtracts = call != nullptr && signs && call->function == Function::subtract;
  const bool negates = call != nullptr && signs && call->function == Function::negate;
  if (!adds && !subtracts && !negates) {
    out.push_back({expression, negative});
    return;
  }
  for (std::size_t n = 0; n < call->arguments.size(); ++n) {
    const bool flips = negates || (subtracts && n == 1);
    collect(call->arguments[n], negative != flips, semiring, out);
  }
}

}  // namespace

Expression SumTerm::expression() const {
  return negative ? Expression{Call{Function::negate, {value}}, {}} : value;
}

std::vector<SumTerm> sum_terms(const Expression& expression, const operators::Semiring& semiring) {
  std::vector<SumTerm> out;
  collect(expression, false, semiring, out);
  return out;
}

}  // namespace schaas::concrete_notation
