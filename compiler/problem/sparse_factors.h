#pragma once
#include <vector>

#include "compiler/problem/problem.h"

namespace schaas::problem {

/// The sparse arguments whose missing elements make the expression zero: factors, those of a dividend.
std::vector<index_notation::Access> sparse_factors(const index_notation::Expression& expression,
                                                   const Problem& problem);

/// The definition sums, in so many words or over an index that its target does not have.
bool sums(const index_notation::Assignment& definition);

/// The value of a definition with its sums written out.
index_notation::Expression explicit_value(const index_notation::Assignment& definition,
                                          const Problem& problem);

}  // namespace schaas::problem
