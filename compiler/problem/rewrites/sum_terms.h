#pragma once
#include <cstddef>
#include <vector>

#include "compiler/index_notation/nodes.h"

namespace schaas::problem {

/// A term of a sum.
struct SumTerm {
  index_notation::Expression value;
  bool negative = false;

  /// Returns the value with its sign.
  index_notation::Expression expression() const;
};

/// Returns the terms that an expression adds by the sum of the semiring, in order; itself when it is no sum.
/// In ordinary arithmetic differences and negated sums are sums.
std::vector<SumTerm> sum_terms(const index_notation::Expression& expression,
                               const operators::Semiring& semiring);

/// Returns the terms that are left when products are distributed over the sums among their factors: `B * C`
/// and `B * D` of `B * (C + D)`. A product that would make more than `max_terms` terms stays one.
std::vector<SumTerm> distributed_terms(const index_notation::Expression& expression,
                                       const operators::Semiring& semiring, std::size_t max_terms);

}  // namespace schaas::problem
