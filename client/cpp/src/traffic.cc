#include "traffic.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace schaas::client {
namespace {

// Reading and writing a row in the first-level cache, per element.
constexpr double row_again = 1.0;
// A run of an innermost loop over rows, however short, of values of 8 bytes: 0.3 to 0.4 ns by rows of 16.
// Rows that stay in registers have no such runs: there the reductions are inside.
constexpr double run_of_a_loop = 6.0;
// One block of a loop: set up, and its temporary made anew.
constexpr double turn_of_a_block = 60.0;
// Of a cache what a working set can count on: rows meet in its sets, and what streams through takes its part.
constexpr double share_of_cache = 0.75;
// Weights of vector code over rows; others are the same in every cache.
constexpr double heaviest_row_code = 3;
constexpr double coordinate_bytes = 4;
constexpr double line_bytes = 64;

// One nest with real numbers.
struct Sized {
  struct Loop {
    double trips = 1;
    double extent = 0;  // of the index of a fiber; 0: the loop counts an extent, or blocks
    std::uint32_t under = 0;
  };
  const Nest* nest = nullptr;
  std::vector<Loop> loops;

  double trips(std::size_t begin, std::size_t end) const {
    double product = 1;
    for (std::size_t n = begin; n < end; ++n) product *= loops[n].trips;
    return product;
  }
  // Different elements touched by the loops from `begin` on.
  double touched(const Nest::Access& access, std::size_t begin) const {
    double elements = 1;
    for (std::size_t n = begin; n < loops.size(); ++n) {
      if ((access.loops >> n & 1U) == 0) continue;
      if (access.sparse || loops[n].extent == 0) {
        elements *= loops[n].trips;
        continue;
      }
      double met = loops[n].trips;
      for (std::size_t outer = begin; outer < n; ++outer) {
        if (((loops[n].under & ~access.loops) >> outer & 1U) != 0) met *= loops[outer].trips;
      }
      elements *= loops[n].extent * -std::expm1(-met / loops[n].extent);
    }
    return elements;
  }
};

class Traffic {
 public:
  Traffic(std::vector<Sized> nests, const Machine& machine)
      : nests_(std::move(nests)), machine_(machine), value_bytes_(bytes_of(machine.value_type)) {
    for (const Sized& sized : nests_) {
      first_.push_back(bytes_.size());
      for (const Nest::Access& access : sized.nest->accesses)
        for (std::size_t begin = 0; begin <= sized.loops.size(); ++begin)
          bytes_.push_back(bytes_touched(sized, access, begin));
    }
    for (std::size_t n = 0; n < nests_.size(); ++n) {
      footprints_.emplace_back();
      for (std::size_t loops = 0; loops < nests_[n].loops.size(); ++loops)
        footprints_.back().push_back(footprint(n, loops));
    }
  }

  double time() const {
    double all = 0;
    const Rates& rates = machine_.rates;
    for (std::size_t n = 0; n < nests_.size(); ++n) {
      const double threads = nests_[n].nest->serial ? 1.0 : std::max(machine_.threads, 1);
      all += (rows_again(n) + runs(n)) / threads;
      all += beyond(n, machine_.first_cache_bytes) * rates.beyond_first / threads;
      all += beyond(n, machine_.second_cache_bytes) * rates.beyond_second / threads;
      // All cores share the way to memory.
      all += beyond(n, machine_.cache_bytes) * rates.beyond_last / std::min(threads, rates.memory_threads);
    }
    return all;
  }

 private:
  // What the loops from `begin` on touch of an access. Where they do not go along its rows, each element is
  // on a line of its own.
  double bytes_touched(const Sized& sized, const Nest::Access& access, std::size_t begin) const {
    const double elements = sized.touched(access, begin);
    if (access.sparse) return elements * (value_bytes_ + coordinate_bytes);
    const bool rows = access.loops == 0 || access.unit >> begin != 0;
    return elements * (rows ? value_bytes_ : line_bytes);
  }

  double bytes(std::size_t nest, std::size_t access, std::size_t begin) const {
    return bytes_[first_[nest] + access * (nests_[nest].loops.size() + 1) + begin];
  }

  // What everything inside of the nest's first `loops` loops touches.
  double footprint(std::size_t nest, std::size_t loops) const {
    const auto within = [&](std::size_t n) { return nests_[n].nest->shared >= static_cast<int>(loops); };
    std::size_t first = nest, last = nest;
    while (first > 0 && within(first)) --first;
    while (last + 1 < nests_.size() && within(last + 1)) ++last;
    double sum = 0;
    for (std::size_t n = first; n <= last; ++n) {
      const auto& accesses = nests_[n].nest->accesses;
      for (std::size_t a = 0; a < accesses.size(); ++a) {
        // A tensor that several nests touch counts where most of it is touched.
        double most = 0;
        bool counted = false;
        for (std::size_t other = first; other <= last; ++other) {
          const auto& others = nests_[other].nest->accesses;
          for (std::size_t o = 0; o < others.size(); ++o) {
            if (others[o].tensor != accesses[a].tensor) continue;
            counted = counted || other < n;
            most = std::max(most, bytes(other, o, loops));
          }
        }
        if (!counted) sum += most;
      }
    }
    return sum;
  }

  // Values that come from beyond a cache, those of the target twice. Data are warm: what fits as a whole
  // never comes again.
  double beyond(std::size_t nest, std::int64_t cache_bytes) const {
    const double cache = share_of_cache * static_cast<double>(cache_bytes);
    const Sized& sized = nests_[nest];
    std::size_t inside = 0;
    while (inside < sized.loops.size() && footprints_[nest][inside] > cache) ++inside;
    if (inside == 0) return 0;
    const std::size_t loop = inside - 1;  // what one turn of it touches fits
    const double outer = sized.trips(0, loop);
    double sum = 0;
    for (std::size_t a = 0; a < sized.nest->accesses.size(); ++a) {
      const Nest::Access& access = sized.nest->accesses[a];
      const double turn = bytes(nest, a, inside);
      const double all = bytes(nest, a, loop);
      const double again = std::max(0.0, turn * sized.loops[loop].trips - all);
      const double missed = std::max(0.0, 1 - cache / all);
      const bool moved = (access.loops >> loop & 1U) != 0 || all > turn;
      sum += outer * (moved ? all + again * missed : turn) / value_bytes_ * (a == 0 ? 2 : 1);
    }
    return sum;
  }

  // The turns of the reductions around a target's row that stays in registers for all of them; 0: it does
  // not.
  double turns_kept(std::size_t nest) const {
    const Sized& sized = nests_[nest];
    const std::size_t size = sized.loops.size();
    if (size < 2 || sized.nest->weight > heaviest_row_code) return 0;
    const std::uint32_t target = sized.nest->accesses.front().loops;
    if ((target >> (size - 1) & 1U) == 0) return 0;
    int above = sized.nest->shared;
    if (nest + 1 < nests_.size()) above = std::max(above, nests_[nest + 1].nest->shared);
    double turns = 1;
    bool kept = false;
    for (std::size_t n = size - 1; n-- > static_cast<std::size_t>(std::max(above, 1));) {
      if ((target >> n & 1U) != 0) break;
      turns *= sized.loops[n].trips;
      kept = true;
    }
    return kept ? std::max(turns, 1.0) : 0;
  }

  // Such a row is read and written once for all these turns.
  double rows_again(std::size_t nest) const {
    const double turns = turns_kept(nest);
    return turns == 0 ? 0 : row_again * nests_[nest].trips(0, nests_[nest].loops.size()) / turns;
  }

  double runs(std::size_t nest) const {
    const std::size_t size = nests_[nest].loops.size();
    double sum = 0;
    if (size > 0 && turns_kept(nest) == 0)
      sum = run_of_a_loop * 8 / value_bytes_ * nests_[nest].trips(0, size - 1);
    for (std::size_t n = 0; n < size; ++n) {
      const Nest::Loop& loop = nests_[nest].nest->loops[n];
      if (loop.block > 0 && !loop.inside) sum += turn_of_a_block * nests_[nest].trips(0, n + 1);
    }
    return sum;
  }

  std::vector<Sized> nests_;
  const Machine& machine_;
  double value_bytes_;
  std::vector<double> bytes_;       // touched by each access from each loop on
  std::vector<std::size_t> first_;  // of a nest
  std::vector<std::vector<double>> footprints_;
};

Sized sized(const NumberedNest& nest, const std::vector<double>& values) {
  Sized out;
  out.nest = nest.nest;
  out.loops.resize(nest.loops.size());
  for (std::size_t n = 0; n < nest.loops.size(); ++n) {
    const Nest::Loop& loop = nest.nest->loops[n];
    Sized::Loop& to = out.loops[n];
    to.trips = values[static_cast<std::size_t>(nest.loops[n].trips)];
    const double block = loop.block;
    if (loop.block > 0) {
      to.trips = loop.inside ? std::min(to.trips, block) : std::max(to.trips / block, 1.0);
    } else if (nest.loops[n].extent >= 0) {
      to.extent = values[static_cast<std::size_t>(nest.loops[n].extent)];
      to.under = loop.under;
    }
  }
  return out;
}

}  // namespace

NumberedNest::NumberedNest(const Nest& original, Unknowns& unknowns) : nest(&original) {
  for (const Nest::Loop& loop : original.loops) {
    Loop to{unknowns.number(loop.trips)};
    if (loop.block == 0 && loop.trips.kind == Variable::Kind::fiber)
      to.extent = unknowns.number({Variable::Kind::extent, loop.index, "", 0});
    loops.push_back(to);
  }
}

double least_part(double weight, const Rates& rates) {
  return weight <= heaviest_row_code ? rates.in_first : 1;
}

double traffic_time(std::span<const NumberedNest> nests, const std::vector<double>& values,
                    const Machine& machine) {
  std::vector<Sized> all;
  all.reserve(nests.size());
  for (const NumberedNest& nest : nests) all.push_back(sized(nest, values));
  return Traffic(std::move(all), machine).time();
}

}  // namespace schaas::client
