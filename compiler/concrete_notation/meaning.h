#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"

namespace schaas::concrete_notation {

/// An expression in a form in which two that differ by the laws a schedule uses are equal: products are flat
/// and sorted, sums of the semiring stand outside the products they are factors of (distributive law), a
/// reduction of a reduction by the same monoid is one, reduced indices are sorted.
index_notation::Expression normal_form(const index_notation::Expression& expression,
                                       const problem::Problem& problem);

}  // namespace schaas::concrete_notation
