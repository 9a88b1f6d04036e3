#include "client/cpp/selection/traffic.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>

#include "client/cpp/runtime/streaming.h"

// Analytical model of cache misses. For each nest it computes footprints, the bytes that the loops from each
// one on touch. A loop whose body's footprint fits a cache keeps its data there; otherwise accesses that it
// repeats are fetched again. Footprints decide by capacity alone, as with full associativity and LRU
// replacement; a share of each cache is left for conflicts.
//
// Costs that do not depend on caches are added: rows that are loaded and stored again, overheads of short
// loops, and latencies of reductions. The constants are calibrated by measurement (docs/cost_model.md).
//
// Invariants: one thread is modelled, and data are warm.
namespace schaas::client {
namespace {

// Reading and writing a row in the first-level cache, per element.
constexpr double row_again = 1.0;
// The same, per element of a row to which each execution of an innermost loop adds, beside the loop's own
// overhead.
constexpr double row_each_time = 0.5;
// One execution of an innermost loop over rows of any length, with values of 8 bytes: 0.3 to 0.4 ns by rows
// of 16. Rows that stay in registers have none: there the reductions are inside.
constexpr double loop_overhead = 6.0;
// One execution of a reduction over a fiber for a row that stays in registers. Its bounds are read, and its
// end is mispredicted: 2 to 3 ns.
constexpr double fiber_overhead = 30.0;
// One execution of an innermost loop over a row takes some four cycles, less the work of the row itself, per
// element. It waits for the sum of the execution before, or for its own last addition. A row that is no whole
// register is loaded and stored by masks. Long rows hide that, and register tiles of several dense rows;
// tiles of entries hide half.
constexpr double row_latency = 14.0;
constexpr double hidden_latency = 0.25;
constexpr double latency_in_tile = 0.5;
// One block of a loop, with values of 8 bytes: set up, and its temporary made anew.
constexpr double block_overhead = 100.0;
// Vector registers of a row of constant length that stays in them when each iteration of a loop adds to it.
// Longer rows have no version of their own.
constexpr double max_registers_of_row = 8;
// Share of a cache that a working set can count on: rows conflict in its sets, and streams take their part.
constexpr double usable_share_of_cache = 0.75;
// Share of the cost of a gathered element from memory that remains when it follows its neighbours, which
// hardware prefetches: 28 GB/s and 12 of one processor, 15 and 8 of another.
constexpr double prefetched_share = 0.5;
// Weights of vector code over rows; others are the same in every cache. Elements one by one take as long in
// every type, but a trip of row code takes as long as its bytes are.
constexpr double heaviest_row_code = 3, heaviest_element_code = 8;
// An entry that is added to an element of a vector waits for the store of one before to the same element: 2.5
// ns where the vector has 25 elements. Coordinates of real tensors repeat, so in long vectors half of the
// entries wait, too.
constexpr double wait_for_store = 20, short_vector = 256, min_share_that_waits = 0.5;
// An entry that is added to a hash table waits, too: its slot is found by loads and comparisons, and new
// slots are mispredicted. 3 to 5 ns more than in an array, with values of 8 bytes.
constexpr double wait_for_slot = 20;
constexpr double coordinate_bytes = 4;
constexpr double cache_line_bytes = 64;

// Returns the number of `extent` coordinates that `met` random ones reference: extent * (1 - exp(-met /
// extent)), the limit for many coordinates. The ends avoid cancellation and a needless exponential.
double coordinates_referenced(double met, double extent) {
  const double share = met / extent;
  if (share > 40) return extent;
  return share < 1e-8 ? met : extent * -std::expm1(-share);
}

}  // namespace

double min_part(double weight, const Machine& machine) {
  if (weight <= heaviest_row_code) return machine.rates.in_first;
  return weight <= heaviest_element_code ? 8 / static_cast<double>(bytes_of(machine.value_type)) : 1;
}

// Numbers of one variant, made anew for each; the memory is kept.
class TrafficModel::Work {
 public:
  struct Loop {
    double trips = 1;
    double extent = 0;  // extent of the index of a fiber; 0: the loop counts an extent, or blocks of a fiber
    std::uint32_t under = 0;
  };
  struct Sized {
    const NumberedNest* nest = nullptr;
    std::size_t first_loop = 0, first_bytes = 0;  // in loops_, bytes_
    std::size_t size() const { return nest->loops.size(); }
  };

  double time(std::span<const NumberedNest> nests, const std::vector<double>& values,
              const Machine& machine) {
    value_bytes_ = static_cast<double>(bytes_of(machine.value_type));
    max_register_row_bytes_ = max_registers_of_row * machine.vector_bytes;
    nests_.clear();
    loops_.clear();
    bytes_.clear();
    footprints_.clear();
    for (const NumberedNest& nest : nests) add(nest, values);
    if (nests_.empty()) return 0;
    add_footprints();
    streamed_ = streamed();
    double all = 0;
    for (std::size_t n = 0; n < nests_.size(); ++n) all += time(n, machine);
    return all;
  }

 private:
  // Values that come from beyond a cache.
  struct Beyond {
    double gathered = 0, in_order = 0;
  };

  double time(std::size_t nest, const Machine& machine) {
    const Nest& shape = *nests_[nest].nest->nest;
    const Rates& rates = machine.rates;
    const double threads = shape.serial ? 1.0 : std::max(machine.threads, 1);
    const double kept = rows_again(nest) + runs(nest);
    const Beyond first = beyond(nest, machine.first_cache_bytes, false),
                 second = beyond(nest, machine.second_cache_bytes, false),
                 last = beyond(nest, machine.cache_bytes, true);
    // All cores share the way to memory.
    const double memory = rates.beyond_last * threads / std::min(threads, rates.memory_threads);
    const double gathered =
        first.gathered * rates.beyond_first + second.gathered * rates.beyond_second + last.gathered * memory;
    // Data that come in order are prefetched while the trips compute: what exceeds them counts alone.
    const double ordered = first.in_order * rates.beyond_first + second.in_order * rates.beyond_second +
                           last.in_order * prefetched_share * memory;
    const double elements = trips(nests_[nest], 0, nests_[nest].size());
    const double trips_alone = elements * shape.weight * min_part(shape.weight, machine);
    const double meanwhile = std::max(0.0, trips_alone + kept - rates.in_first * first.in_order);
    return (kept + gathered + std::max(0.0, ordered - meanwhile)) / threads;
  }

  void add(const NumberedNest& nest, const std::vector<double>& values) {
    const std::size_t first = loops_.size();
    nests_.push_back({&nest, first, bytes_.size()});
    for (std::size_t n = 0; n < nest.loops.size(); ++n) {
      const Nest::Loop& loop = nest.nest->loops[n];
      Loop& to = loops_.emplace_back();
      to.trips = values[static_cast<std::size_t>(nest.loops[n].trips)];
      if (n == 0 && nest.rows >= 0) to.trips *= values[static_cast<std::size_t>(nest.rows)];
      const double block = loop.block;
      if (loop.block > 0) {
        to.trips = loop.inside ? std::min(to.trips, block) : std::max(to.trips / block, 1.0);
      }
      if (nest.loops[n].extent >= 0) {
        to.extent = values[static_cast<std::size_t>(nest.loops[n].extent)];
        // A fiber changes with the loops that change the fiber which leads to it.
        to.under = loop.under;
        for (std::size_t above = 0; above < n; ++above)
          if ((loop.under >> above & 1U) != 0) to.under |= loops_[first + above].under;
      }
    }
    for (const Nest::Access& access : nest.nest->accesses)
      add_bytes(*nest.nest, access, {loops_.data() + first, nest.loops.size()});
  }

  // The last level of a sparse tensor has coordinates: it is not rows below the entries of the others.
  static bool lists_entries(const Nest& nest, const Nest::Access& access) {
    const auto last = static_cast<std::size_t>(std::bit_width(access.loops));
    return last == 0 || nest.loops[last - 1].trips.kind == Variable::Kind::fiber;
  }

  // Returns, for a loop over blocks of a fiber, the loop over the entries of a block.
  static std::optional<std::size_t> inside_blocks(const Nest& nest, std::size_t blocks,
                                                  std::span<const Loop> loops) {
    if (nest.loops[blocks].block == 0 || nest.loops[blocks].inside) return std::nullopt;
    for (std::size_t n = blocks + 1; n < loops.size(); ++n) {
      if (nest.loops[n].inside && nest.loops[n].index == nest.loops[blocks].index && loops[n].extent > 0)
        return n;
    }
    return std::nullopt;
  }

  // Returns the share of elements that loops reference whose coordinates add up. m and n values of two such
  // loops are m + n - 1 coordinates, those of independent loops m * n.
  static double overlap(const Nest::Access& access, std::span<const Loop> loops, std::size_t begin) {
    double share = 1;
    for (const std::uint32_t together : access.sums) {
      double sum = 1, product = 1;
      for (std::size_t n = begin; n < loops.size(); ++n) {
        if ((together >> n & 1U) == 0) continue;
        sum += loops[n].trips - 1;
        product *= loops[n].trips;
      }
      if (product > 0) share *= std::max(sum, 1.0) / product;
    }
    return share;
  }

  // Adds the bytes of an access that each loop and those inside it touch. Where they do not go along its
  // rows, each element is on a cache line of its own.
  void add_bytes(const Nest& nest, const Nest::Access& access, std::span<const Loop> loops) {
    // `met_`: coordinates that a loop visits, `touched_`: distinct ones of them.
    const std::size_t at = bytes_.size(), size = loops.size();
    bytes_.resize(at + size + 1);
    met_.resize(size);
    touched_.resize(size);
    double all = 1;
    const double of_entry = value_bytes_ + (lists_entries(nest, access) ? coordinate_bytes : 0);
    const auto bytes_of_elements = [&](std::size_t begin) {
      const double elements = all * overlap(access, loops, begin);
      if (access.sparse) return elements * of_entry;
      const bool rows = access.loops == 0 || access.unit >> begin != 0;
      return elements * (rows ? value_bytes_ : cache_line_bytes);
    };
    bytes_[at + size] = bytes_of_elements(size);
    for (std::size_t begin = size; begin-- > 0;) {
      const double trips = loops[begin].trips;
      const bool moved = (access.loops >> begin & 1U) != 0;
      const auto inside = moved && !access.sparse ? inside_blocks(nest, begin, loops) : std::nullopt;
      if (inside) {
        // All the blocks meet coordinates of one fiber.
        met_[begin] = touched_[begin] = 1;
        all /= touched_[*inside];
        met_[*inside] *= trips;
        touched_[*inside] = coordinates_referenced(met_[*inside], loops[*inside].extent);
        all *= touched_[*inside];
      } else if (moved) {
        met_[begin] = trips;
        const bool counted = access.sparse || loops[begin].extent == 0;
        touched_[begin] = counted ? trips : coordinates_referenced(trips, loops[begin].extent);
        all *= touched_[begin];
      } else if (!access.sparse) {
        // Loops inside reference other coordinates in each iteration of this one.
        for (std::size_t n = begin + 1; n < size; ++n) {
          const bool moves = (access.loops >> n & 1U) != 0 && (loops[n].under >> begin & 1U) != 0;
          if (!moves || loops[n].extent == 0) continue;
          met_[n] *= trips;
          touched_[n] = coordinates_referenced(met_[n], loops[n].extent);
        }
        all = 1;
        for (std::size_t n = begin + 1; n < size; ++n)
          if ((access.loops >> n & 1U) != 0) all *= touched_[n];
      }
      bytes_[at + begin] = bytes_of_elements(begin);
    }
  }

  double trips(const Sized& sized, std::size_t begin, std::size_t end) const {
    double product = 1;
    for (std::size_t n = begin; n < end; ++n) product *= loops_[sized.first_loop + n].trips;
    return product;
  }

  double bytes(const Sized& sized, std::size_t access, std::size_t begin) const {
    return bytes_[sized.first_bytes + access * (sized.size() + 1) + begin];
  }

  // Adds the footprints of everything inside of each nest's first loops.
  void add_footprints() {
    std::size_t deepest = 0;
    for (const Sized& sized : nests_) deepest = std::max(deepest, sized.size());
    stride_ = deepest;
    footprints_.resize(nests_.size() * deepest);
    for (std::size_t loops = 0; loops < deepest; ++loops) {
      for (std::size_t first = 0; first < nests_.size();) {
        std::size_t end = first + 1;
        while (end < nests_.size() && shares(end, loops)) ++end;
        const double sum = distinct(first, end, loops, none);
        for (; first < end; ++first) footprints_[first * stride_ + loops] = sum;
      }
    }
  }

  // The nest has its first loops in common with the one before.
  bool shares(std::size_t nest, std::size_t loops) const {
    return nests_[nest].nest->nest->shared >= static_cast<int>(loops);
  }

  bool touches(std::size_t nest, int tensor) const {
    const auto& tensors = nests_[nest].nest->tensors;
    return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
  }

  // Returns the bytes that nests touch inside of their first loops, except one tensor. A tensor of several
  // nests counts where most of it is touched.
  double distinct(std::size_t first, std::size_t end, std::size_t loops, int but) {
    most_.assign(most_.size(), 0);
    for (std::size_t n = first; n < end; ++n) {
      const Sized& sized = nests_[n];
      if (loops > sized.size()) continue;
      for (std::size_t a = 0; a < sized.nest->tensors.size(); ++a) {
        if (sized.nest->tensors[a] == but) continue;
        const auto tensor = static_cast<std::size_t>(sized.nest->tensors[a]);
        if (tensor >= most_.size()) most_.resize(tensor + 1, 0);
        most_[tensor] = std::max(most_[tensor], bytes(sized, a, loops));
      }
    }
    return std::accumulate(most_.begin(), most_.end(), 0.0);
  }

  // The rows that the access comes by lie at coordinates of fibers, of which there are several.
  bool gathers(const Sized& sized, const Nest::Access& access) const {
    if (access.sparse) return false;
    bool anew = false;
    for (std::size_t n = 0; n < sized.size(); ++n) {
      const Loop& loop = loops_[sized.first_loop + n];
      const bool moves = (access.loops >> n & 1U) != 0;
      if (moves && anew && loop.extent > 0) return true;
      anew = anew || (!moves && loop.trips > 1);
    }
    return false;
  }

  // Values that come from beyond a cache, those of the target twice. Data are warm: what fits as a whole
  // never comes again.
  Beyond beyond(std::size_t nest, std::int64_t cache_bytes, bool soft) {
    const double cache = usable_share_of_cache * static_cast<double>(cache_bytes);
    const Sized& sized = nests_[nest];
    std::size_t inside = 0;
    // The outermost loop whose body fits decides: data inside are loaded once per iteration.
    while (inside < sized.size() && footprints_[nest * stride_ + inside] > cache) ++inside;
    if (inside == 0) return {};
    const std::size_t loop = inside - 1;  // the footprint of one iteration fits
    const double outer = trips(sized, 0, loop), iterations = loops_[sized.first_loop + loop].trips;
    Beyond sum;
    const auto& accesses = sized.nest->nest->accesses;
    const Nest::Code& code = code_of(nest);
    const auto tile_loop = static_cast<std::size_t>(code.tile_loop);
    const bool is_outside = code.tile > 0 && tile_loop < loop;
    for (std::size_t a = 0; a < accesses.size(); ++a) {
      const double footprint = bytes(sized, a, inside);
      const double all = bytes(sized, a, loop);
      const double again = std::max(0.0, footprint * iterations - all);
      const double missed = std::max(0.0, 1 - cache / all);
      const bool moved = (accesses[a].loops >> loop & 1U) != 0 || all > footprint;
      const bool shared = is_outside && (accesses[a].loops >> tile_loop & 1U) == 0;
      const double rows = shared ? tile(nest) : 1;
      const bool streams = sized.nest->tensors[a] == streamed_;
      const double anew = streams ? 1 : left(nest, a, loop, cache, soft);
      // The target's elements are loaded and stored, so they pass twice.
      (gathers(sized, accesses[a]) ? sum.gathered : sum.in_order) +=
          outer * (anew * (moved ? all : footprint) + (moved ? again * missed : 0)) / value_bytes_ *
          (a == 0 && !streams ? 2 : 1) / rows;
    }
    return sum;
  }

  // Returns the share of an access's footprint inside of the nest's first `loops` loops that was evicted
  // since its last use. The last use is by an earlier nest in the same iteration of these loops, else by the
  // iteration before if it touched the same. Data touched since then evicts as much as it exceeds the cache
  // by (LRU).
  double left(std::size_t nest, std::size_t access, std::size_t loops, double cache, bool soft) {
    const Sized& sized = nests_[nest];
    std::size_t first = nest;
    while (first > 0 && shares(first, loops)) --first;
    std::size_t last = nest;
    while (last > first && !touches(last - 1, sized.nest->tensors[access])) --last;
    double since = 0;
    if (last > first) {
      since = distinct(last - 1, nest + 1, loops, streamed_);
    } else {
      const bool same = loops == 0 || (sized.nest->nest->accesses[access].loops >> (loops - 1) & 1U) == 0;
      if (!same) return 1;
      std::size_t end = nest + 1;
      while (end < nests_.size() && shares(end, loops)) ++end;
      since = distinct(first, end, loops, streamed_);
    }
    return soft ? std::clamp(since / cache - 1, 0.0, 1.0) : since > cache;
  }

  // Returns the number of the result in `tensors` if it is so large that it is written with streaming stores.
  int streamed() const {
    const Sized& last = nests_.back();
    const bool large = last.size() > 0 && bytes(last, 0, 0) >= static_cast<double>(min_streamed_bytes);
    return large && stores_once(nests_.size() - 1) ? last.nest->tensors.front() : none;
  }

  // The code stores each element of the target once. Blocks of a sum add to it, unless there is one.
  bool stores_once(std::size_t number) const {
    if (!code_of(number).streams) return false;
    const Sized& sized = nests_[number];
    const std::uint32_t target = sized.nest->nest->accesses.front().loops;
    for (std::size_t n = 0; n < first_kept(number); ++n) {
      const Nest::Loop& loop = sized.nest->nest->loops[n];
      const bool adds = (target >> n & 1U) == 0 && loop.block > 0 && !loop.inside;
      if (adds && loops_[sized.first_loop + n].trips > 1) return false;
    }
    return true;
  }

  const Nest::Code& code_of(std::size_t number) const { return nests_[number].nest->nest->code; }

  // Returns the share of a tile loop's iterations that its full tiles leave: they come one by one. Fibers
  // have an average length, so they are taken for whole tiles from the first one on.
  double remainder_of_tiles(std::size_t number) const {
    const Nest::Code& code = code_of(number);
    const auto loop = static_cast<std::size_t>(code.tile_loop);
    const double trips = loops_[nests_[number].first_loop + loop].trips;
    if (code.tile == 0 || trips < code.tile) return 1;
    const bool of_fiber = nests_[number].nest->nest->loops[loop].trips.kind == Variable::Kind::fiber;
    return of_fiber ? 0 : std::fmod(trips, code.tile) / trips;
  }

  // Returns the iterations of the tile loop that run side by side in the mean; 1: there is no tile.
  double tile(std::size_t number) const {
    const Nest::Code& code = code_of(number);
    if (code.tile == 0) return 1;
    const double alone = remainder_of_tiles(number);
    return 1 / (alone + (1 - alone) / code.tile);
  }

  // The outermost of the reductions around a target's row that stays in registers for all of them; as many as
  // there are loops: it does not.
  std::size_t first_kept(std::size_t number) const {
    const std::size_t size = nests_[number].size();
    const auto kept = static_cast<std::size_t>(code_of(number).kept);
    return kept == 0 ? size : size - 1 - kept;
  }

  // Returns the iterations of these reductions; 0: there are none.
  double iterations_in_registers(std::size_t number) const {
    const std::size_t size = nests_[number].size(), first = first_kept(number);
    return first == size ? 0 : std::max(trips(nests_[number], first, size - 1), 1.0);
  }

  // Returns the cost of such a row, which is loaded and stored once for all these iterations.
  double rows_again(std::size_t nest) const {
    const double iterations = iterations_in_registers(nest);
    return iterations == 0 ? 0 : row_again * trips(nests_[nest], 0, nests_[nest].size()) / iterations;
  }

  // Elements of the target that each trip of an innermost loop reads and writes, by rows or at the
  // coordinates of a fiber.
  double added(std::size_t number) const {
    const Nest& nest = *nests_[number].nest->nest;
    const std::size_t size = nests_[number].size();
    const Nest::Access& target = nest.accesses.front();
    const double elements = trips(nests_[number], 0, size);
    if (target.table) return wait_for_slot * 8 / value_bytes_ * elements;
    if ((target.loops >> (size - 1) & 1U) == 0) return 0;
    if (nest.weight <= heaviest_row_code) return row_each_time * elements;
    const double extent = loops_[nests_[number].first_loop + size - 1].extent;
    if (extent == 0 || target.sparse) return 0;
    return wait_for_store * 8 / value_bytes_ * std::clamp(short_vector / extent, min_share_that_waits, 1.0) *
           elements;
  }

  // Code keeps short rows of the target, or is specialised for their length, and the loop around does not
  // move them.
  bool stays_in_registers(std::size_t number) const {
    const Nest& nest = *nests_[number].nest->nest;
    const std::size_t size = nests_[number].size();
    if (size < 2 || nest.weight > heaviest_row_code || (nest.accesses.front().loops >> (size - 2) & 3U) != 2)
      return false;
    const double elements = loops_[nests_[number].first_loop + size - 1].trips;
    const auto& lengths = nest.code.lengths;
    return elements * value_bytes_ <= max_register_row_bytes_ &&
           (nest.code.row_in_registers ||
            std::find(lengths.begin(), lengths.end(), elements) != lengths.end());
  }

  // Overheads of executions of inner loops: their bounds, blocks, fibers, and the latency of short rows.
  double runs(std::size_t nest) const {
    const Sized& sized = nests_[nest];
    double sum = 0;
    if (sized.size() > 0 && iterations_in_registers(nest) == 0 && !stays_in_registers(nest)) {
      // The end of a fiber whose elements come one by one is mispredicted, too.
      const Nest& shape = *sized.nest->nest;
      const bool of_fiber = shape.loops.back().trips.kind == Variable::Kind::fiber;
      const bool one_by_one = of_fiber && shape.weight > heaviest_row_code;
      const double overhead = one_by_one ? fiber_overhead : loop_overhead;
      sum = overhead * 8 / value_bytes_ * trips(sized, 0, sized.size() - 1) + added(nest);
    }
    for (std::size_t n = 0; n < sized.size(); ++n) {
      const Nest::Loop& loop = sized.nest->nest->loops[n];
      if (loop.block > 0 && !loop.inside) sum += block_overhead * 8 / value_bytes_ * trips(sized, 0, n + 1);
    }
    return sum + fiber_overheads(nest) + executions_of_rows(nest);
  }

  // Executions of innermost loops over short rows, one by one or entries of a fiber side by side. In a
  // version for rows of one element the loop around it folds numbers.
  double executions_of_rows(std::size_t number) const {
    const Sized& sized = nests_[number];
    const std::size_t size = sized.size();
    const Nest& nest = *sized.nest->nest;
    if (size < 2 || nest.weight > heaviest_row_code) return 0;
    const double alone = remainder_of_tiles(number);
    const bool of_entries =
        nest.code.tile > 0 && nest.loops[nest.code.tile_loop].trips.kind == Variable::Kind::fiber;
    const double row = loops_[sized.first_loop + size - 1].trips * value_bytes_ / 8;
    const double latency = std::max(0.0, row_latency - hidden_latency * row);
    const double in_tiles = of_entries ? latency_in_tile * (1 - alone) : 0;
    const double one_by_one = latency * (alone + in_tiles) * trips(sized, 0, size - 1);
    if (loops_[sized.first_loop + size - 1].trips != 1 || !stays_in_registers(number)) return one_by_one;
    return std::min(one_by_one, fiber_overhead * 8 / value_bytes_ * trips(sized, 0, size - 2));
  }

  // Around a row in registers each execution of a fiber's loop costs its bounds and a mispredicted end.
  double fiber_overheads(std::size_t number) const {
    const Sized& sized = nests_[number];
    const auto tile_loop = static_cast<std::size_t>(code_of(number).tile_loop);
    double runs = 0;
    for (std::size_t n = first_kept(number); n + 1 < sized.size(); ++n) {
      if (sized.nest->nest->loops[n].trips.kind != Variable::Kind::fiber) continue;
      // Iterations side by side of a loop around the fiber's walk it once.
      runs += trips(sized, 0, n) / (tile_loop < n ? tile(number) : 1);
    }
    return fiber_overhead * 8 / value_bytes_ * runs;
  }

  static constexpr int none = -1;
  double value_bytes_ = 8;
  double max_register_row_bytes_ = 0;
  int streamed_ = none;
  std::vector<Sized> nests_;
  std::vector<Loop> loops_;
  std::vector<double> bytes_;  // touched by each access from each loop on
  std::vector<double> footprints_;
  std::size_t stride_ = 0;  // footprints per nest
  std::vector<double> met_, touched_, most_;
};

NumberedNest::NumberedNest(const Nest& original, Unknowns& unknowns, std::vector<std::string>& names,
                           const std::optional<OccupiedRows>& occupied)
    : nest(&original), rows(occupied ? unknowns.share(*occupied) : -1) {
  const auto trips = trip_numbers(original, unknowns);
  for (std::size_t l = 0; l < original.loops.size(); ++l) {
    const Nest::Loop& loop = original.loops[l];
    Loop to{trips[l]};
    if ((loop.block == 0 || loop.inside) && loop.trips.kind == Variable::Kind::fiber)
      to.extent = unknowns.number({Variable::Kind::extent, loop.trips.index, "", 0});
    loops.push_back(to);
  }
  for (const Nest::Access& access : original.accesses) {
    const auto known = std::find(names.begin(), names.end(), access.tensor);
    tensors.push_back(static_cast<int>(known - names.begin()));
    if (known == names.end()) names.push_back(access.tensor);
  }
}

TrafficModel::TrafficModel() : work_(std::make_unique<Work>()) {}
TrafficModel::~TrafficModel() = default;

double TrafficModel::time(std::span<const NumberedNest> nests, const std::vector<double>& values,
                          const Machine& machine) {
  return work_->time(nests, values, machine);
}

}  // namespace schaas::client
