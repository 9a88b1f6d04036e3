#pragma once
#include "compiler/problem/problem.h"

namespace schaas::problem {

/// Moves numbers, and scalars that are divisors, out of the sums of a program, where these sum products of
/// three elements or more. What is left inside is a contraction, which the search can split
/// (frontier/split_products.h):
///     s = b - d(i) * d(j) * L(i,c) * L(j,c) / m   ->   s = b - sum(i,j,c)(d(i) * d(j) * L(i,c) * L(j,c)) / m
/// Not in a sparse result, whose entries are those of its terms. Problems of one product stay
/// (rewrites/factors.h), and so do semirings: their numbers are no scales.
Problem with_scales_outside_sums(Problem problem);

}  // namespace schaas::problem
