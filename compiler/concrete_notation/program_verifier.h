#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/support/result.h"

namespace schaas::concrete_notation {

/// `verify` (verifier.h) for problems that are more than one contraction: statements with intermediates,
/// general expressions, explicit reductions. Follows the value of each temporary as an expression of the
/// problem and compares, in normal form (meaning.h), with what the problem says.
support::Result<void> verify_program(const StatementPtr& statement, const problem::Problem& problem);

}  // namespace schaas::concrete_notation
