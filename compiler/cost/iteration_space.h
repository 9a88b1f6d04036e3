#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/index_notation/nodes.h"
#include "compiler/problem/problem.h"

/// Points at which an expression has to be computed, as far as sparse operands decide: what loops count
/// (Kjolstad et al., OOPSLA 2017, section 5; ReACT, section 4.2).
namespace schaas::cost {

/// A set of sparse operands: bit n stands for the n-th of Operands.
using OperandSet = std::uint64_t;

/// The points at which all operands of some member store an entry; no member contains another. {} is no
/// point, {0} every point: beyond 16 members that is what a space becomes.
using IterationSpace = std::vector<OperandSet>;
inline const IterationSpace everywhere{0};

IterationSpace unite(const IterationSpace& a, const IterationSpace& b);
IterationSpace intersect(const IterationSpace& a, const IterationSpace& b);

/// The sparse operands of one problem, each once.
class Operands {
 public:
  explicit Operands(const problem::Problem& problem);
  std::optional<int> number(const index_notation::Access& access) const;
  const index_notation::Access& at(int number) const { return sparse_[static_cast<std::size_t>(number)]; }
  std::size_t size() const { return sparse_.size(); }
  const problem::Problem& problem() const { return problem_; }

 private:
  const problem::Problem& problem_;
  std::vector<index_notation::Access> sparse_;
};

/// Temporaries that are computed where they are read -> where they may differ from their start value. Others
/// may do so everywhere.
using KnownTemporaries = std::map<std::string, IterationSpace>;

/// An expression that does not change along an index where no operand stores anything, and where it may
/// differ from that.
struct StoredSpace {
  std::optional<double> background;  ///< its one value there; nothing: one that other indices decide
  IterationSpace space;
};
/// Nothing when the expression changes along the index wherever operands store nothing.
std::optional<StoredSpace> stored_space(const index_notation::Expression& value, const std::string& index,
                                        const Operands& operands);

/// Returns the points at which `value` may differ from what the monoid ignores. An absent operand has the
/// semiring's zero, which annihilates the semiring's product and what is divided.
IterationSpace iteration_space(const index_notation::Expression& value, operators::Monoid monoid,
                               const Operands& operands, const KnownTemporaries& temporaries);

}  // namespace schaas::cost
