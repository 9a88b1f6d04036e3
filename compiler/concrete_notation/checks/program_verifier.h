#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/support/result.h"

namespace schaas::concrete_notation {

/// Checks, as `verify` (verifier.h), problems that are more than one contraction: statements with
/// intermediates, general expressions, explicit reductions. Follows the value of each temporary as an
/// expression of the problem and compares it, in normal form (meaning.h), with the problem's.
support::Result<void> verify_program(const StatementPtr& statement, const problem::Problem& problem);

}  // namespace schaas::concrete_notation
