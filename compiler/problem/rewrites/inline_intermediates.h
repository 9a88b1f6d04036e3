#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "compiler/problem/problem.h"

namespace schaas::problem {

/// Inlines intermediates that are zero where a sparse operand is. Products with it and quotients of it are,
/// functions such as `relu(B(i,j))`, and a `where` that it decides. Intermediates are dense,
/// but these matter only where that operand is stored. Replacing their reads by the definition propagates the
/// sparse iteration space to the readers (ReACT, "sparse iteration space propagation"). Done where nothing is
/// summed in the definition and the statements stay within the limits; others stay intermediates.
///     E(i,j) = B(i,j) * exp(T(i,j)); S(i) = E(i,j)   ->   S(i) = B(i,j) * exp(T(i,j))
/// Read by several statements, its sums and costly calls become an intermediate before, which can be
/// computed once for all of them (masks.h):
///     E(i,j) = B(i,j) * exp(C(i,j)); S(i) = E(i,j); A(i,j) = E(i,j) / S(i)
///     -> E_value(i,j) = exp(C(i,j)); S(i) = B(i,j) * E_value(i,j); A(i,j) = B(i,j) * E_value(i,j) / S(i)
///     E(i,j) = exp(B(i,j)) - 1; S(i) = E(i,j); ...
///     -> E_value(i,j) = exp(B(i,j)) - 1; S(i) = where(B(i,j) != 0, E_value(i,j), 0); ...
/// A sum that several statements read only at the entries of something sparse is inlined, too. Each reader
/// then computes it at these entries instead of everywhere (ReACT, section 4.2). Not when an index it sums
/// over is one of the reader's. Read by one statement alone it stays: where that computes it is the
/// schedule's choice.
///     T(i,j) = C(i,k) * D(k,j); S(i) = B(i,j) * T(i,j); A(i,j) = B(i,j) * T(i,j) / S(i)
///     -> S(i) = B(i,j) * sum(k)(C(i,k) * D(k,j)); A(i,j) = B(i,j) * sum(k)(C(i,k) * D(k,j)) / S(i)
/// A product of sparse operands that one product reads once becomes part of it, whatever it sums over. The
/// space of one product holds the schedules of both, and needs no array of all its elements. Not when an
/// index it sums over is one of the reader's.
///     T(i,k) = B(i,j) * C(j,k); A(i,l) = T(i,k) * D(k,l)   ->   A(i,l) = B(i,j) * C(j,k) * D(k,l)
/// The statement of a sparse result may read a sum of sparse operands several times. The sum is inlined where
/// these reads share no mode with one index. There no loop could compute the elements that all of them need.
///     T(i,j) = B(i,j) + C(i,j); A(i,k) = T(i,j) * T(j,k)
///     -> A(i,k) = (B(i,j) + C(i,j)) * (B(j,k) + C(j,k))
Problem with_sparse_intermediates_inlined(Problem problem);

/// Returns the only statement that reads the tensor; null when there is another one, or none.
const index_notation::Assignment* only_reader(const std::string& tensor, const Problem& problem);

/// Returns the reads of the tensor, left to right.
std::vector<index_notation::Access> reads_of(const std::string& tensor,
                                             const index_notation::Expression& expression);

/// Replaces every read of intermediate `number` by its definition. `by_sum`: what the definition sums over
/// becomes a reduction inside; else indices of the reader.
Problem without_intermediate(Problem problem, std::size_t number, bool by_sum);

}  // namespace schaas::problem
