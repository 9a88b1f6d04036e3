#include "client/cpp/oracle/oracle_walk.h"

#include <algorithm>
#include <numeric>

#include "compiler/support/contains.h"

// Enumerates the points of a term that may differ from its background. Its support is a union of sets of
// accesses; for each set the stored entries of its accesses are joined, one access after the other. Each
// stage sorts the entries of an access by the modes that earlier stages bind and finds its range by binary
// search. Indices that no access of the set binds are looped over.
//
// Invariants: a point of several sets is visited once, by the first. A walk ends with an error beyond
// `max_points`.
namespace schaas::client {
namespace {

/// The entries of one access, sorted by the modes that are bound when it is reached, then by the others.
struct WalkStage {
  int access = 0;
  std::vector<int> bound_modes, new_modes;
  std::vector<Wide> bound_strides;
  Wide span = 1;                                      ///< keys from one value of the bound modes to the next
  std::vector<Wide> keys;                             ///< ascending
  std::vector<std::int64_t> positions;                ///< in the tensor
  std::vector<std::vector<std::int64_t>> coordinate;  ///< by new mode, then entry

  WalkStage(int number, const OracleAccess& read, const std::vector<int>& bound) : access(number) {
    const auto& extents = read.tensor->extents();
    for (std::size_t m = 0; m < read.indices.size(); ++m)
      (support::contains(bound, read.indices[m]) ? bound_modes : new_modes).push_back(static_cast<int>(m));
    if (new_modes.empty()) return;
    std::vector<int> order = bound_modes;
    order.insert(order.end(), new_modes.begin(), new_modes.end());
    std::vector<std::int64_t> ordered;
    for (const int m : order) ordered.push_back(extents[static_cast<std::size_t>(m)]);
    const std::vector<Wide> strides = row_major_strides(ordered);
    bound_strides.assign(strides.begin(), strides.begin() + static_cast<std::ptrdiff_t>(bound_modes.size()));
    for (const int m : new_modes) span *= static_cast<Wide>(extents[static_cast<std::size_t>(m)]);
    sort(read, order, strides);
  }

  void sort(const OracleAccess& read, const std::vector<int>& order, const std::vector<Wide>& strides) {
    const auto& natural = read.tensor->keys();
    std::vector<std::vector<std::int64_t>> by_mode(order.size(), std::vector<std::int64_t>(natural.size()));
    std::vector<Wide> sorted(natural.size(), 0);
    for (std::size_t e = 0; e < natural.size(); ++e) {
      Wide rest = natural[e];
      for (std::size_t m = 0; m < by_mode.size(); ++m) {
        by_mode[m][e] = static_cast<std::int64_t>(rest / read.strides[m]);
        rest %= read.strides[m];
      }
      for (std::size_t o = 0; o < order.size(); ++o)
        sorted[e] += strides[o] * static_cast<Wide>(by_mode[static_cast<std::size_t>(order[o])][e]);
    }
    positions.resize(natural.size());
    std::iota(positions.begin(), positions.end(), std::int64_t{0});
    std::sort(positions.begin(), positions.end(), [&](std::int64_t a, std::int64_t b) {
      return sorted[static_cast<std::size_t>(a)] < sorted[static_cast<std::size_t>(b)];
    });
    coordinate.resize(new_modes.size());
    for (const std::int64_t position : positions) {
      keys.push_back(sorted[static_cast<std::size_t>(position)]);
      for (std::size_t n = 0; n < new_modes.size(); ++n)
        coordinate[n].push_back(
            by_mode[static_cast<std::size_t>(new_modes[n])][static_cast<std::size_t>(position)]);
    }
  }
};

class Walker {
 public:
  Walker(const OracleWalk& request, const std::function<void(OraclePoint&)>& visit)
      : request_(request), accesses_(*request.accesses), visit_(visit) {
    point_.at.assign(request.extents.size(), 0);
    point_.positions.assign(accesses_.size(), OraclePoint::unknown);
    point_.near.resize(accesses_.size());
  }

  support::Result<void> run() {
    const OracleSupport& support = *request_.support;
    if (support.everywhere) {
      remaining_ = request_.loops;
      run_loops(0);
    }
    for (set_ = 0; !support.everywhere && set_ < support.any_of.size(); ++set_) {
      join(support.any_of[set_]);
      run_stage(0);
      point_.positions.assign(accesses_.size(), OraclePoint::unknown);
    }
    if (points_ > max_points) {
      return support::unsupported("oracle-size",
                                  "verifying would compute more than two billion terms one by one");
    }
    return {};
  }

 private:
  // Few entries first, then whatever is most bound: it finds fewest.
  void join(std::vector<int> set) {
    stages_.clear();
    std::vector<int> bound;
    while (!set.empty()) {
      const auto unbound = [&](int access) {
        const auto& indices = accesses_[static_cast<std::size_t>(access)].indices;
        return std::count_if(indices.begin(), indices.end(),
                             [&](int i) { return !support::contains(bound, i); });
      };
      const auto known = [&](int access) {
        const auto& indices = accesses_[static_cast<std::size_t>(access)].indices;
        return static_cast<std::ptrdiff_t>(indices.size()) - unbound(access);
      };
      const auto next = std::min_element(set.begin(), set.end(), [&](int a, int b) {
        const bool a_apart = !bound.empty() && known(a) == 0, b_apart = !bound.empty() && known(b) == 0;
        if (a_apart != b_apart) return b_apart;
        if (!bound.empty() && unbound(a) != unbound(b)) return unbound(a) < unbound(b);
        return accesses_[static_cast<std::size_t>(a)].tensor->size() <
               accesses_[static_cast<std::size_t>(b)].tensor->size();
      });
      const OracleAccess& read = accesses_[static_cast<std::size_t>(*next)];
      stages_.emplace_back(*next, read, bound);
      for (const int index : read.indices) {
        if (!support::contains(bound, index)) bound.push_back(index);
      }
      set.erase(next);
    }
    remaining_.clear();
    for (const int index : request_.loops) {
      if (!support::contains(bound, index)) remaining_.push_back(index);
    }
  }

  void run_stage(std::size_t s) {
    if (s == stages_.size()) return run_loops(0);
    const WalkStage& stage = stages_[s];
    const OracleAccess& read = accesses_[static_cast<std::size_t>(stage.access)];
    std::int64_t& position = point_.positions[static_cast<std::size_t>(stage.access)];
    if (stage.new_modes.empty()) {
      position = read.tensor->find(key_at(read, point_));
      if (position != OraclePoint::absent) run_stage(s + 1);
      return;
    }
    Wide key = 0;
    for (std::size_t b = 0; b < stage.bound_modes.size(); ++b)
      key += stage.bound_strides[b] * static_cast<Wide>(at(read, stage.bound_modes[b]));
    const auto begin = std::lower_bound(stage.keys.begin(), stage.keys.end(), key);
    for (auto e = static_cast<std::size_t>(begin - stage.keys.begin());
         e < stage.keys.size() && stage.keys[e] < key + stage.span && points_ <= max_points; ++e) {
      if (!bind(read, stage, e)) continue;
      position = stage.positions[e];
      run_stage(s + 1);
    }
  }

  std::int64_t& at(const OracleAccess& read, int mode) {
    return point_.at[static_cast<std::size_t>(read.indices[static_cast<std::size_t>(mode)])];
  }

  // False for an entry off the diagonal of an access with the same index twice.
  bool bind(const OracleAccess& read, const WalkStage& stage, std::size_t entry) {
    for (std::size_t n = 0; n < stage.new_modes.size(); ++n)
      at(read, stage.new_modes[n]) = stage.coordinate[n][entry];
    for (std::size_t n = 0; n < stage.new_modes.size(); ++n) {
      if (at(read, stage.new_modes[n]) != stage.coordinate[n][entry]) return false;
    }
    return true;
  }

  void run_loops(std::size_t l) {
    if (l == remaining_.size()) {
      ++points_;
      if (!in_an_earlier_set()) visit_(point_);
      return;
    }
    const auto index = static_cast<std::size_t>(remaining_[l]);
    for (std::int64_t x = 0; x < request_.extents[index] && points_ <= max_points; ++x) {
      point_.at[index] = x;
      run_loops(l + 1);
    }
  }

  bool in_an_earlier_set() {
    if (request_.support->everywhere) return false;
    for (std::size_t s = 0; s < set_; ++s) {
      const auto& set = request_.support->any_of[s];
      if (std::all_of(set.begin(), set.end(), [&](int access) {
            return position_of(access, accesses_, point_) != OraclePoint::absent;
          }))
        return true;
    }
    return false;
  }

  const OracleWalk& request_;
  const std::vector<OracleAccess>& accesses_;
  const std::function<void(OraclePoint&)>& visit_;
  OraclePoint point_;
  std::size_t set_ = 0;
  std::vector<WalkStage> stages_;
  std::vector<int> remaining_;  ///< indices that no access of the set binds
  double points_ = 0;
};

}  // namespace

support::Result<void> walk(const OracleWalk& request, const std::function<void(OraclePoint&)>& visit) {
  if (request.support->everywhere && points_of(request) > max_points) {
    return support::unsupported("oracle-size",
                                "verifying would compute more than two billion terms one by one");
  }
  return Walker(request, visit).run();
}

double points_of(const OracleWalk& request) {
  const auto extent = [&](int index) {
    return static_cast<double>(request.extents[static_cast<std::size_t>(index)]);
  };
  const auto all = [&](const std::vector<int>& without) {
    double points = 1;
    for (const int index : request.loops) {
      if (!support::contains(without, index)) points *= extent(index);
    }
    return points;
  };
  if (request.support->everywhere) return all({});
  double points = 0;
  for (const auto& set : request.support->any_of) {
    double least = all({});
    for (const int access : set) {
      const OracleAccess& read = (*request.accesses)[static_cast<std::size_t>(access)];
      least = std::min(least, static_cast<double>(read.tensor->size()) * all(read.indices));
    }
    points += least;
  }
  return points;
}

}  // namespace schaas::client
