#pragma once
#include <memory>
#include <vector>

#include "client/cpp/oracle/oracle_tensor.h"

namespace schaas::client {

/// Elements of a tensor while numbers are folded into them.
class OracleAccumulator {
 public:
  enum class Store { dense, entries };
  /// `start`: what an element holds that nothing was folded into: the identity of the fold, or, of a
  /// semiring's own sum, its zero.
  OracleAccumulator(Monoid fold, double start, std::vector<std::int64_t> extents, Store store);

  void fold(Wide key, const Judged& value);
  std::size_t entries() const { return keys_.size(); }  ///< 0 when dense
  /// Each element was folded from its own points; of all `points` of an element those that were not visited
  /// count as `background`, unless all were.
  std::shared_ptr<const OracleTensor> finish(const Judged& background, double points, bool all_visited) &&;

 private:
  /// The start and `points` times the background.
  Judged unvisited(const Judged& background, double points) const;
  std::size_t index_of(Wide key);
  void grow();

  Monoid fold_;
  Judged start_;
  bool neutral_;  ///< folding the start into a number leaves the number
  std::vector<std::int64_t> extents_;
  Store store_;
  std::vector<Judged> values_;
  std::vector<double> visited_;  ///< by element: points folded into it
  std::vector<Wide> keys_;
  std::vector<std::size_t> slots_;  ///< open addressing: index + 1; 0 is free
};

}  // namespace schaas::client
