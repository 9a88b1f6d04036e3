#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/index_notation/nodes.h"

namespace schaas::index_notation {

/// The additive terms of a right side: what its outermost `+`, `-` and unary minus join, left to right. A
/// right side without them is its own only term.
std::vector<Expression> additive_terms(const Expression& value);

/// The indices that an additive term of `statement` is summed over: its free ones that are not on the left.
std::vector<std::string> implied_indices(const Assignment& statement, const Expression& term);

/// Writes out every implied sum of a statement. A term with implied indices becomes a Reduction of
/// it with the semiring's sum, and Call `add` becomes the function of that sum. A value that is a product of
/// accesses alone (is_product) stays: it is a contraction, searched by the schedule space. Product stays
/// Product and means the semiring's product everywhere. Under plus-times:
///     y(i) = b(i) + A(i,j) * x(j)    y(i) = b(i) + sum(j)(A(i,j) * x(j))
///     s = exp(x(i) - m) / 2          s = sum(i)(exp(x(i) - m) / 2)
/// A verified statement gives one without shadowed indices.
Assignment with_explicit_sums(const Assignment& statement, const operators::Semiring& semiring);

/// The inverse, for statements of sums and products only. Removes written-out semiring sums around and inside
/// products of accesses: multiplication distributes over them, and implied sums mean the same. So a
/// contraction is one however it is written:
///     Y(i) = sum(j)(A(i,j) * sum(k)(B(j,k) * c(k)))    Y(i) = A(i,j) * B(j,k) * c(k)
/// Other statements, those that update by something else than the sum, and products of more than
/// Limits::factors stay as they are. `statement` is verified.
Assignment with_implied_sums(const Assignment& statement, const operators::Semiring& semiring);

/// A part of a term for which "summed over the whole term" is not what everybody would expect.
struct DoubtfulSum {
  enum class Kind {
    left_out,   ///< `part` is added to something with the index and has not got it: (A(i,j)*x(j) + b(i)) / 2
    reduced,    ///< `part` is a reduction with the index free in its body: max(j)(B(i,k) * C(k,j))
    in_a_call,  ///< `part`, inside a function, multiplies two factors with it: relu(B(i,k) * C(k,j))
  } kind = Kind::left_out;
  std::string index;
  Expression part;
};
/// The first such part in reading order, or none: the verifier asks for an explicit sum there.
std::optional<DoubtfulSum> doubtful_sum(const Assignment& statement, const operators::Semiring& semiring);

}  // namespace schaas::index_notation
