#pragma once
#include "compiler/problem/problem.h"
#include "compiler/space/space.h"

namespace schaas::test_support {

/// Expects of every member as a trace: distinct, applicable, and class by class as many of each cost as the
/// recursion counts. A member whose tree gathers a sparse result in a workspace costs more than its class;
/// it must be among the listed members of the whole space (space/appending.h), the others within their
/// classes.
void expect_members_apply(const problem::Problem& problem, space::Rule rule = space::Rule::symmetric);

}  // namespace schaas::test_support
