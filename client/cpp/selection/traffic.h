#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/cpp/selection/unknowns.h"
#include "schaas/select.h"

// What a schedule's working sets cost at real sizes (docs/cost_model.md, "At real sizes"), in weighted trips:
// one is a contiguous trip whose row comes from the second-level cache.

namespace schaas::client {

/// A nest whose sizes are numbers of variables. Keeps a reference to the nest.
struct NumberedNest {
  struct Loop {
    int trips = 0;
    int extent = -1;  ///< of the index of a loop over a fiber or the entries of a block of one
  };
  /// `names`: of the tensors that have numbers, by number; new ones are added.
  /// `in_use`: what alone its first loop is run for; nothing: for all.
  NumberedNest(const Nest& original, Unknowns& unknowns, std::vector<std::string>& names,
               const std::optional<InUse>& in_use);
  const Nest* nest;
  std::vector<Loop> loops;
  std::vector<int> tensors;  ///< by access
  int rows = -1;             ///< of the turns of its first loop the share in which it is run
};

/// Of trips of this weight the part they take when all rows are in the first-level cache: the least the
/// schedule can take.
double least_part(double weight, const Rates& rates);

/// What comes on top: elements that pass from cache to cache because they are touched again after more than
/// the cache holds, and result rows that are read and written again for each few trips. One thread.
class TrafficModel {
 public:
  TrafficModel();
  ~TrafficModel();
  TrafficModel(const TrafficModel&) = delete;
  TrafficModel& operator=(const TrafficModel&) = delete;
  /// `values`: of the unknowns, by number; the nests are those of one variant.
  double time(std::span<const NumberedNest> nests, const std::vector<double>& values, const Machine& machine);

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace schaas::client
