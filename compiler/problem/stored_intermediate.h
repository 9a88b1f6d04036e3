#pragma once
#include <optional>
#include <string>

#include "compiler/problem/problem.h"

namespace schaas::problem {

/// A program as two: the producer computes an intermediate whole, as a result stored sparse; the consumer
/// reads it as an operand.
struct StoredIntermediate {
  std::string tensor;
  std::string format;  ///< "csr", or "csf" for more than two modes
  ProblemText producer;
  ProblemText consumer;
};

/// Splits a program at an intermediate that one program would hold as an array of all its elements. Taken is
/// the first that is zero where sparse operands store nothing and that no loop over its first mode computes
/// by rows. Both parts are problems of their own, with the constraints on their names alone. The
/// consumer may be split again. None: every intermediate is computed where it is read, or is dense by its
/// definition. None under Profile::sparseauto, whose papers have dense intermediates. Errors: those of build.
///     T(i,k) = B(i,j) * C(j,k); A(i,l) = T(i,k) * T(k,l)
///     -> T(i,k) = B(i,j) * C(j,k)   and   A(i,l) = T(i,k) * T(k,l)
support::Result<std::optional<StoredIntermediate>> stored_intermediate(const ProblemText& text);

/// Returns some statements of a program as a request of their own. `whole` has formats of all tensors that
/// are not dense, intermediates included; the part gets those that it names, and the constraints on its names
/// alone. Errors: those of build.
support::Result<ProblemText> part_of(const ProblemText& whole, const index_notation::Program& part);

}  // namespace schaas::problem
