#pragma once
#include <set>
#include <string>
#include <string_view>

#include "compiler/index_notation/nodes.h"
#include "compiler/support/result.h"

namespace schaas::index_notation {

struct GradientOptions {
  std::string of;                ///< operand with respect to which is differentiated
  std::string seed{};            ///< tensor that weights the result's elements; empty: see below
  std::string name{};            ///< the derivative; empty: d and the name of the operand
  std::set<std::string> sparse;  ///< operands that store entries alone
};

/// The program of a derivative. For a result Y and its operand X it is that of sum(Y(..) * dY(..)) by each
/// element of X. The seed dY is an operand of the new program with the indices of Y; a scalar result has the
/// seed 1 unless one is named. When dY is the gradient of some scalar by Y, the result is its gradient by X.
/// The gradient of a gradient is a product of the Hessian with the seed.
///
/// The derivative by a sparse operand is that by its entries: a term that could be nonzero elsewhere is
/// multiplied by `X(..) != 0`. So are terms of intermediates that only matter at a sparse operand's entries.
/// Statements of the program that the derivative does not read are left out. `program` is verified; `source`
/// is its text, for messages. Subgradients: see derivative.h; equal elements share the slope of max and min.
///
/// Errors: invalid [unknown-tensor], [name-taken], [syntax] (a name that is none). Unsupported [gradient]:
/// another semiring, an operand read along its diagonal, more statements than a program has, an extent that
/// no operand tells. A derivative that is too large otherwise has the error of `verify`.
support::Result<Program> gradient(const Program& program, const GradientOptions& options,
                                  std::string_view source);

}  // namespace schaas::index_notation
