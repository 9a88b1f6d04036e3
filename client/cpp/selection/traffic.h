#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/cpp/selection/unknowns.h"
#include "schaas/select.h"

// Cost of a schedule's working sets at real sizes (docs/cost_model.md, "At real sizes"), in weighted trips.
// The unit is a contiguous trip whose row comes from L2.

namespace schaas::client {

/// A nest whose sizes are numbers of variables. Keeps a reference to the nest.
struct NumberedNest {
  struct Loop {
    int trips = 0;
    int extent = -1;  ///< extent of the index of a loop over a fiber or the entries of a block of one
  };
  /// `names`: of the tensors that have numbers, by number; new ones are added.
  /// `occupied`: what alone its first loop is run for; nothing: for all.
  NumberedNest(const Nest& original, Unknowns& unknowns, std::vector<std::string>& names,
               const std::optional<OccupiedRows>& occupied);
  const Nest* nest;
  std::vector<Loop> loops;
  std::vector<int> tensors;  ///< by access
  int rows = -1;             ///< share of the iterations of its first loop in which it runs
};

/// Returns the part that trips of this weight take when all rows are in L1: the minimum of the schedule. Of
/// elements one by one it is more than all in types of fewer than eight bytes.
double min_part(double weight, const Machine& machine);

/// Predicts the cost beyond that minimum, for one thread. It has elements that pass between caches because
/// they are touched again after more data than the cache holds. It also has result rows that are loaded and
/// stored again for each few trips.
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
