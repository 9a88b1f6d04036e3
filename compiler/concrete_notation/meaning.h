#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"

namespace schaas::concrete_notation {

/// An expression in a form in which two that differ by the laws a schedule uses are equal: products are flat
/// and sorted, sums of the semiring stand outside the products they are factors of (distributive law), a
/// reduction of a reduction by the same monoid is one, reduced indices are sorted; sums are flat and sorted,
/// a sum over one is the sum of its terms' sums, and in ordinary arithmetic a difference is a sum, too.
index_notation::Expression normal_form(const index_notation::Expression& expression,
                                       const problem::Problem& problem);

}  // namespace schaas::concrete_notation
