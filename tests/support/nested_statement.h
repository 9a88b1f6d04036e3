#pragma once
#include <random>

#include "compiler/problem/problem.h"

namespace schaas::test_support {

/// A statement, or two, whose right side is nested: products of sums, of explicit reductions, of functions of
/// products, of quotients, where and masks, in sums and products; repeated operands, scalars and literals,
/// several sparse operands and at times a sparse result in usual formats (csr, csc, coo, csf) and mode
/// orders. Some sum ambiguously, which problem::build refuses.
problem::ProblemText nested_statement_text(std::mt19937_64& random);

}  // namespace schaas::test_support
