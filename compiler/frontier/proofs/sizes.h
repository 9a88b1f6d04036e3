#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gmpxx.h>

#include "compiler/cost/cost.h"
#include "compiler/frontier/proofs/log_bounds.h"
#include "compiler/problem/problem.h"

namespace schaas::frontier {

/// One size of a problem: an extent, the entries of a sparse tensor's first levels, or the
/// average matches or steps of an intersection.
struct Size {
  problem::Symbol symbol;
  mpz_class value;
};

/// Whole sizes of one problem: every extent, every level of every sparse tensor, every intersection. Sorted
/// by symbol.
using Sizes = std::vector<Size>;

/// "i = 12000, j = 64, nnz(B,1) = 12000, nnz(B,2) = 36000", in the order of the problem's indices and
/// tensors, whatever their names. Dense first levels are left out, and copies that the problem itself does
/// not have.
std::string print(const Sizes& sizes, const problem::Problem& problem);

/// True when the sizes obey every constraint of the problem and the formats, in integers. A dense level
/// stores its extent under each entry, a compressed one at most that, and at least one below a compressed
/// one.
bool allowed(const Sizes& sizes, const problem::Problem& problem);

/// Whole sizes near a point of LogBounds (extents rounded one way or the other, counts from the fibers) that
/// are allowed; none when no attempt is.
std::optional<Sizes> whole_sizes(const cost::Point& point, const LogBounds& bounds);

/// The exact value of a sum of terms at whole sizes; time terms count their weights. A fiber is the fraction
/// of two counts (of an empty parent: 1).
class ExactValues {
 public:
  ExactValues(const Sizes& sizes, const problem::Problem& problem, const cost::Variables& variables);
  mpq_class of(const std::vector<cost::Term>& terms) const;
  /// The same values in double precision.
  cost::Point point() const;

 private:
  std::vector<mpq_class> values_;  ///< by bit
};

}  // namespace schaas::frontier
