#pragma once
#include "compiler/problem/problem.h"
#include "compiler/space/space.h"

namespace schaas::test_support {

/// Expects of every member as a trace: distinct, applicable, and class by class as many of each cost as the
/// recursion counts. A member whose tree gathers a sparse result in a workspace costs more than its class:
/// then the others are within their classes, and the listed members are as they should be.
void expect_members_apply(const problem::Problem& problem, space::Rule rule = space::Rule::symmetric);

/// Expects of the listed members of a problem with a sparse result (space/appending.h), unless they are too
/// many, that there are as many of each cost as trees of the dense result's traces, completed with
/// workspaces.
void expect_appending_costs(const problem::Problem& problem);

}  // namespace schaas::test_support
