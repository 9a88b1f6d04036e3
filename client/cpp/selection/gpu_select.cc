#include "schaas/gpu_select.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <utility>

#include "client/cpp/platform/allocate.h"
#include "client/cpp/selection/unknowns.h"

// Predicts the time of a schedule on a GPU. A thread's share is the minimal data of Sgap: `take` rows or
// entries, `share` threads for one, and columns. Threads of a warp run as long as the longest of them.
// Elements that they touch in the same instant cost one sector of memory where they are contiguous, and one
// each where they are not. The constants come from one device (docs/performance/gpu.md); --tune measures.

namespace schaas::client {
namespace {

constexpr double warp = 32;
constexpr double sector_bytes = 32, line_bytes = 128;
// Fitted to 210 sets of 22 to 42 schedules measured on an NVIDIA H200 (tests/bench/gpu/choice.py).
/// Warps that a multiprocessor issues in a cycle, those it needs to hide what memory takes, and those it
/// holds.
constexpr double issued = 4, hiding = 18, resident = 32;
/// Cycles that a warp issues for one trip of an innermost loop, for each of its columns, and to begin a row.
constexpr double trip_cycles = 4.4, column_cycles = 0.55, row_cycles = 17;
constexpr double shuffle_cycles = 4.3, segment_cycles = 57;  ///< for a halving of a group, a column
/// For a halving of the rows that an entry may be of: cycles to issue, and until the loads have come.
constexpr double search_cycles = 6.9, search_latency = 800;
/// Cycles from one trip of a thread to the next, loads of several under way, and of a launch with its first
/// loads.
constexpr double latency_cycles = 220, first_cycles = 3000;
constexpr double cache_speed = 3.8;    ///< second-level cache to memory
constexpr double request_cost = 0.44;  ///< time for a request of a line, in that for its bytes
/// An atomic write waits for the one before it to the same element.
constexpr double contended_seconds = 2.1e-10;
/// Entries that threads stage at a time. Cycles that a warp issues for them, and until they have come.
/// Threads then wait for what the entries locate alone: cycles from one trip to the next.
constexpr double staged_entries = 32, stage_cycles = 54, stage_latency = 660, staged_latency_cycles = 217;
/// Part of the slowest thread's time in which the device issues nothing and moves nothing.
constexpr double overlap = 0.72;

// Loops, nests, and products as in select.cc: variables are numbers of `Unknowns`.
struct Loop {
  int trips = 0;
  std::string tensor;  ///< tensor of a fiber; else ""
  int level = 0;
};
struct NumberedGpuNest {
  const Nest* nest;
  std::vector<Loop> loops;
};
struct NumberedGpuPhase {
  GpuPhase units;
  std::vector<NumberedGpuNest> nests;
};
struct Temporary {
  double weight = 1;
  Scope scope = Scope::thread;
  std::vector<int> variables;
};
struct NumberedGpuSchedule {
  std::vector<NumberedGpuPhase> phases;
  std::vector<Temporary> temporaries;
};

// A nest at real sizes, and what one phase says of it. Counts are means over the rows, but for the longest
// row, which bounds the time of its thread. `take`, `share`, and `width` are those of the thread mapping.
class NestModel {
 public:
  /// `branch`: loops around the branch whose nests the threads of a row share; 0: they share the loop inside
  /// the rows.
  /// `wide`: values that one instruction loads.
  NestModel(const NumberedGpuNest& nest, const GpuPhase& units, std::size_t branch, int wide,
            const std::vector<double>& values, const Sizes& sizes)
      : nest_(*nest.nest), units_(units), first_(units.columns ? 1 : 0) {
    for (const Loop& loop : nest.loops) trips_.push_back(values[static_cast<std::size_t>(loop.trips)]);
    columns_ = units.columns ? std::max(trips_[0], 1.0) : 1;
    in_thread_ = std::min<double>(units.columns_take, columns_);
    shares_ = std::ceil(columns_ / units.columns_take);
    // Groups that stage are whole: some of their threads may have no column.
    if (units.stage > 0) shares_ = std::ceil(shares_ / units.stage) * units.stage;
    stages_ = units.stage > 0 && columns_ >= static_cast<double>(units.stage) * units.columns_take;
    inside_ = first_ + static_cast<std::size_t>(units.rows);
    divided_ = branch > 0 ? branch : inside_;
    lanes_ = units.share;
    // Groups of a row's threads share its elements, and the threads of a group the sum of each.
    if (branch == 0 && units.share > 1 && units.width > 1 && distributes_elements()) {
      divided_ = inside_ + 1;
      lanes_ = units.width;
      groups_ = std::max(1, units.share / units.width);
    }
    rows_ = product(first_, inside_);
    items_ = rows_ + (units.merge_path ? trips_[first_] : 0);
    taken_ = units.take * rows_ / std::max(items_, 1.0);
    if (loads_wide(wide)) wide_ = wide;
    per_row_ = product(inside_, trips_.size()) / wide_;
    set_lengths(nest, sizes);
  }

  double threads() const { return std::ceil(items_ / units_.take) * units_.share * shares_; }
  /// Cycles that all warps issue.
  double cycles() const {
    const double trip = trip_cycles + column_cycles * in_thread_ * wide_;
    const double rows = taken_ * (row_cycles + column_cycles * in_thread_ + warp_trips_ * trip +
                                  chunks(warp_trips_) * stage_cycles);
    return std::ceil(threads() / warp) * (rows + reduction_cycles() + find_cycles());
  }
  /// From the first to the last cycle of the thread that has most to do, and of one like most.
  double max_cycles() const { return thread_cycles(max_trips_); }
  double mean_cycles() const { return thread_cycles(warp_trips_); }
  /// Times that an element of the target is written, and the most that follow each other to one.
  double writes() const {
    const double covered =
        units_.share > 1 ? static_cast<double>(units_.width) / units_.share : taken_ * units_.width;
    const double together = std::max(covered, 1.0);
    const double runs = std::min(together, 1 + together / rows_of_an_element());
    const bool distributed = divided_ != inside_ || distributes_elements();
    const double parts =
        units_.share > units_.width && !distributed ? static_cast<double>(units_.share) / units_.width : 1;
    return rows_ / together * runs * parts * columns_ * written_below();
  }
  double max_chain() const {
    return std::max(rows_of_an_element(), max_rows_) / std::max(1.0, taken_ * units_.width / units_.share);
  }
  const Nest& nest() const { return nest_; }

  /// Bytes that pass from the second-level cache for an access, and those that it has at all.
  std::pair<double, double> bytes(const Nest::Access& access, double value_bytes,
                                  double position_bytes) const {
    if (access.loops == 0) return {0, value_bytes};
    const auto deepest = static_cast<std::size_t>(std::bit_width(access.loops));
    double touched = product(0, std::min(deepest, trips_.size()));
    const bool by_columns = units_.columns && (access.loops & 1U) != 0;
    if (units_.columns && !by_columns) touched *= shares_ / columns_;
    double size = 1;
    for (std::size_t l = 0; l < trips_.size(); ++l)
      if ((access.loops >> l & 1U) != 0) size *= trips_[l];
    const double element = value_bytes + (access.sparse ? position_bytes : 0);
    return {touched * bytes_of_touch(access, element, by_columns), size * element};
  }

 private:
  /// The loop inside the rows is one over elements of the target.
  bool distributes_elements() const { return (nest_.accesses.front().loops >> inside_ & 1U) != 0; }

  /// The innermost loop is one over a whole extent, of which a thread loads adjacent values together.
  bool loads_wide(int wide) const {
    if (units_.columns || trips_.size() <= inside_ || std::fmod(trips_.back(), wide) != 0) return false;
    const std::size_t last = trips_.size() - 1;
    const auto& accesses = nest_.accesses;
    const auto along = [&](const Nest::Access& access) { return (access.loops >> last & 1U) != 0; };
    const auto apart = [&](const Nest::Access& access) {
      return along(access) && (access.sparse || (access.unit >> last & 1U) == 0);
    };
    return std::any_of(accesses.begin() + 1, accesses.end(), along) &&
           std::none_of(accesses.begin() + 1, accesses.end(), apart);
  }

  double product(std::size_t begin, std::size_t end) const {
    double out = 1;
    for (std::size_t l = begin; l < std::min(end, trips_.size()); ++l) out *= trips_[l];
    return out;
  }

  /// Sets the lengths of the loop that a row runs first: the mean, the longest of one warp, the longest of
  /// all.
  void set_lengths(const NumberedGpuNest& nest, const Sizes& sizes) {
    const double mean = inside_ < trips_.size() ? trips_[inside_] : 1;
    const Spread spread = inside_ < trips_.size() ? spread_of(nest.loops[inside_], sizes) : Spread{};
    const double below = inside_ < trips_.size() ? per_row_ / std::max(mean, 1e-9) : 1;
    const double largest = std::max(spread.largest, mean);
    const double together = rows_in_warp();
    // The mean of the largest of n normally distributed lengths is about mean + deviation * sqrt(2 ln n).
    const double normal = together > 1 ? mean + spread.deviation * std::sqrt(2 * std::log(together)) : mean;
    const double idle = units_.share > 1 ? 0.5 : 0;
    const double deep = inside_ < trips_.size() ? below : per_row_;
    if (divided_ == inside_) {
      warp_trips_ = (std::min(normal, largest) / units_.share + idle) * deep;
      max_trips_ = std::max(largest / units_.share, 1.0) * deep;
    } else {
      // Lanes without a value wait for those that have one.
      const bool last = divided_ + 1 == trips_.size();
      const double trips =
          divided_ < trips_.size() ? std::max(trips_[divided_] / (last ? wide_ : 1), 1e-9) : 1;
      const double part = (last ? std::ceil(trips / lanes_) : trips / lanes_ + idle) / trips;
      warp_trips_ = (std::min(normal, largest) / groups_ + (groups_ > 1 ? idle : 0)) * deep * part;
      max_trips_ = std::max(largest / groups_ * deep * part, 1.0);
    }
    max_rows_ = 0;
    for (std::size_t l = first_; l < inside_; ++l)
      max_rows_ = std::max(max_rows_, spread_of(nest.loops[l], sizes).largest);
  }
  static Spread spread_of(const Loop& loop, const Sizes& sizes) {
    const auto known = sizes.spreads.find(loop.tensor);
    if (loop.tensor.empty() || known == sizes.spreads.end()) return {};
    const auto level = static_cast<std::size_t>(loop.level);
    return level < known->second.size() ? known->second[level] : Spread{};
  }

  double rows_in_warp() const {
    const double most = warp / units_.share;
    if (!units_.columns) return most;
    const double side = units_.side_by_side;
    return std::min(most, std::max(1.0, side * std::ceil(warp / (units_.share * side * shares_))));
  }

  double thread_cycles(double trips) const {
    const double latency = stages_ ? staged_latency_cycles : latency_cycles;
    return first_cycles + taken_ * trips * (latency + column_cycles * in_thread_ * wide_) +
           taken_ * chunks(trips) * stage_latency + reduction_cycles() + find_steps() * search_latency;
  }

  /// Chunks of entries that are staged for a row, one after the other. A thread stages one at least.
  double chunks(double trips) const { return stages_ ? std::max(trips / staged_entries, 1.0 / taken_) : 0; }

  // Threads that share a row fold their sums pairwise: log2(width) steps for each column.
  double reduction_cycles() const {
    // One for each entry around a branch, and for each element that a group gets.
    const double folds = std::max(product(inside_, divided_) / groups_, 1.0);
    const int folding = divided_ == inside_ ? units_.width : lanes_;
    const double halvings = folds * std::log2(static_cast<double>(folding));
    return halvings * in_thread_ * (units_.segments ? segment_cycles : shuffle_cycles);
  }
  // Threads over entries find the row of their first entry by binary search. A merge path takes two more.
  double find_steps() const {
    if (units_.rows <= 1) return 0;
    return std::log2(std::max(trips_[first_], 2.0)) * (units_.merge_path ? 3 : 1);
  }
  double find_cycles() const { return search_cycles * find_steps(); }

  /// Iterations of the rows that write the same element.
  double rows_of_an_element() const {
    const std::uint32_t moved = nest_.accesses.front().loops;
    double out = 1;
    for (std::size_t l = first_; l < inside_; ++l)
      if ((moved >> l & 1U) == 0) out *= trips_[l];
    return std::max(out, 1.0);
  }
  /// Elements that an iteration of the rows writes.
  double written_below() const {
    const std::uint32_t moved = nest_.accesses.front().loops;
    double out = 1;
    for (std::size_t l = inside_; l < trips_.size(); ++l)
      if ((moved >> l & 1U) != 0) out *= trips_[l];
    return out;
  }

  /// Returns the bytes of one access of a warp, whose neighbours lie along the shared loop, along the rows,
  /// or along the columns.
  double bytes_of_touch(const Nest::Access& access, double element, bool by_columns) const {
    std::size_t along = divided_;
    double neighbours = lanes_;
    if (units_.share == 1) {
      const bool rows = !units_.columns || units_.side_by_side > 1;
      along = rows ? inside_ - 1 : 0;
      neighbours =
          std::min(warp, rows ? std::max<double>(units_.side_by_side, units_.columns ? 1 : warp) : shares_);
    }
    neighbours = std::max(neighbours, 1.0);
    const bool moves = along < trips_.size() && (access.loops >> along & 1U) != 0;
    const bool next = along < trips_.size() && (access.unit >> along & 1U) != 0;
    if (!moves)
      return std::max(element / warp, sector_bytes / neighbours / warp * std::max(1.0, warp / neighbours));
    // A request of the first-level cache serves one line.
    if (next && divided_ > inside_ && !access.sparse)
      return element * (1 + request_cost * std::max(0.0, line_bytes / (neighbours * wide_ * element) - 1));
    if (next || (access.sparse && units_.rows > 1 && units_.share == 1)) return element;
    // Scattered: the columns of one thread, and those of the next warps as far as the first-level cache holds
    // them.
    const double row = by_columns && (access.unit & 1U) != 0 ? in_thread_ * (shares_ > 1 ? 2 : 1) : 1;
    if (access.sparse) return std::min(sector_bytes, 2 * element);  // a thread walks on within its sector
    return std::max(element, sector_bytes / row);
  }

  const Nest& nest_;
  const GpuPhase& units_;
  const std::size_t first_;
  std::vector<double> trips_;
  std::size_t inside_ = 0;   ///< the loop inside the rows
  std::size_t divided_ = 0;  ///< the loop that the threads of a row, or of each of its groups, share
  int wide_ = 1;             ///< values that a thread loads together
  int lanes_ = 1;            ///< those threads
  int groups_ = 1;           ///< groups of a row
  double columns_ = 1, in_thread_ = 1, shares_ = 1, rows_ = 1, per_row_ = 1;
  double warp_trips_ = 0, max_trips_ = 0, max_rows_ = 0;
  double items_ = 0, taken_ = 1;  ///< rows, and what a merge path counts besides; iterations of a thread
  bool stages_ = false;           ///< threads stage entries, and some group has all of its columns
};

/// Returns the loops around the branch whose nests the threads of a row share; 0: there is none. Where the
/// result has the entries of the row, each of them is one thread's.
std::size_t shared_branch(const NumberedGpuPhase& phase) {
  if (phase.units.share == 1 || phase.nests.size() < 2) return 0;
  const std::size_t inside = (phase.units.columns ? 1U : 0U) + static_cast<std::size_t>(phase.units.rows);
  const Nest& last = *phase.nests.back().nest;
  if (static_cast<std::size_t>(last.shared) > inside && (last.accesses.front().loops >> inside & 1U) != 0)
    return 0;
  return static_cast<std::size_t>(last.shared);
}

// Predicts the seconds of a phase: those of its launches, to issue, to move bytes, and of the slowest threads
// or contended atomics. Threads beyond those that a device holds come in further waves.
double seconds_of(const NumberedGpuPhase& phase, const std::vector<double>& values, const Sizes& sizes,
                  ValueType type, const GpuTarget& target) {
  const auto value_bytes = static_cast<double>(bytes_of(type));
  const int wide = 16 / static_cast<int>(bytes_of(arithmetic_type(type)));
  const auto result_bytes = static_cast<double>(bytes_of(arithmetic_type(type)));
  const GpuFacts& device = target.device;
  const double position_bytes = target.position_bits / 8.0;
  double cycles = 0, longest = 0, cached = 0, moved = 0, threads = 1, contended = 0, launches = 1, mean = 0;
  for (const NumberedGpuNest& nest : phase.nests) {
    if (phase.units.rows == 0) continue;
    const NestModel model(nest, phase.units, shared_branch(phase), wide, values, sizes);
    cycles += model.cycles();
    longest += model.max_cycles();
    mean += model.mean_cycles();
    threads = std::max(threads, model.threads());
    const auto add = [&](const Nest::Access& access) {
      const auto [touched, size] = model.bytes(access, value_bytes, position_bytes);
      // A working set larger than the second-level cache is fetched again in proportion to what does not fit.
      const double missed = 1 - std::min(1.0, device.cache_bytes / std::max(size, 1.0));
      cached += std::max(touched, size);
      moved += size + std::max(touched - size, 0.0) * missed;
      return size;
    };
    for (std::size_t a = 1; a < nest.nest->accesses.size(); ++a) add(nest.nest->accesses[a]);
    const Nest::Access& target_access = nest.nest->accesses.front();
    if (phase.units.exclusive_writes) {
      moved += model.writes() * result_bytes;
      cached += model.writes() * result_bytes;
      continue;
    }
    const double size = model.bytes(target_access, result_bytes, 0).second;
    moved += 2 * size;
    contended = std::max(contended, model.max_chain() * contended_seconds);
    launches = 2;  // zeros come first
  }
  const double waves = std::max(1.0, threads / warp / (device.processors * resident));
  // Memory is used fully only when enough warps are there to hide its latency.
  const double warps = std::ceil(threads / warp);
  const double busy = std::min(1.0, warps / (device.processors * hiding));
  const double issue =
      cycles / (std::min<double>(device.processors * issued, warps) * device.cycles_per_second);
  const double memory =
      std::max(moved / device.bytes_per_second, cached / (cache_speed * device.bytes_per_second)) / busy;
  const double slowest = std::max(longest, waves * mean) / device.cycles_per_second;
  return launches * device.launch_seconds + issue + memory + overlap * std::max(slowest, contended);
}

std::string seconds_text(double seconds) {
  char text[32];
  const char* unit = seconds < 1e-3 ? "us" : seconds < 1 ? "ms" : "s";
  std::snprintf(text, sizeof text, "%.3g %s", seconds * (seconds < 1e-3 ? 1e6 : seconds < 1 ? 1e3 : 1), unit);
  return text;
}

}  // namespace

// Variables of all schedules are numbered once; a prediction is then a product of doubles.
struct GpuSelector::State {
  explicit State(std::vector<GpuSchedule> given) : schedules(std::move(given)) {
    for (const GpuSchedule& schedule : schedules) {
      NumberedGpuSchedule& to = numbered.emplace_back();
      std::size_t phase = 0;
      for (const Nest& nest : schedule.nests) {
        if (nest.shared == 0) to.phases.push_back({schedule.phases.at(phase++), {}});
        auto& one = to.phases.back().nests.emplace_back(NumberedGpuNest{&nest, {}});
        const auto trips = trip_numbers(nest, unknowns);
        for (std::size_t l = 0; l < nest.loops.size(); ++l)
          one.loops.push_back({trips[l], nest.loops[l].trips.tensor, nest.loops[l].trips.level});
      }
      for (const Term& term : schedule.memory_terms) {
        Temporary& product = to.temporaries.emplace_back(Temporary{term.weight, known_scope(term), {}});
        for (const Variable& variable : term.variables)
          product.variables.push_back(unknowns.number(variable));
      }
    }
  }
  State(const State&) = delete;

  GpuPrediction predict(std::size_t s, const std::vector<double>& values, const Sizes& sizes, ValueType type,
                        const GpuTarget& target) const {
    GpuPrediction out;
    for (const NumberedGpuPhase& phase : numbered[s].phases)
      out.seconds += seconds_of(phase, values, sizes, type, target);
    double elements = 0;
    for (const Temporary& term : numbered[s].temporaries) {
      double product = term.weight * (term.scope == Scope::thread ? gpu_workspace_threads : 1);
      for (const int variable : term.variables) product *= values[static_cast<std::size_t>(variable)];
      if (!term.variables.empty()) elements += product;
    }
    out.bytes = target.tensor_bytes + elements * static_cast<double>(bytes_of(arithmetic_type(type)));
    out.fits = out.bytes <= target.device.free_bytes;
    out.left_out = target.deterministic && schedules[s].nondeterministic;
    return out;
  }

  const std::vector<GpuSchedule> schedules;
  std::vector<NumberedGpuSchedule> numbered;
  Unknowns unknowns;
};

GpuSelector::GpuSelector(std::vector<GpuSchedule> schedules)
    : state_(std::make_shared<const State>(std::move(schedules))) {}

const std::vector<GpuSchedule>& GpuSelector::schedules() const { return state_->schedules; }

support::Result<GpuSelection> GpuSelector::select(const Sizes& sizes, ValueType value_type,
                                                  const GpuTarget& target) const {
  GpuSelection out;
  SCHAAS_ASSIGN_OR_RETURN(const std::vector<double> values, state_->unknowns.values(sizes));
  out.copy_seconds = target.seconds_there();
  std::size_t wide = 0, chance = 0;
  double least = 0;
  for (std::size_t s = 0; s < state_->schedules.size(); ++s) {
    const auto& one = out.evaluated.emplace_back(state_->predict(s, values, sizes, value_type, target));
    chance += one.left_out ? 1 : 0;
    if (one.left_out) continue;
    // The least memory is for the message that no schedule fits.
    least = wide == 0 && out.index < 0 ? one.bytes : std::min(least, one.bytes);
    wide += one.fits ? 0 : 1;
    if (one.fits &&
        (out.index < 0 || one.seconds < out.evaluated[static_cast<std::size_t>(out.index)].seconds))
      out.index = static_cast<int>(s);
  }
  const std::string free = bytes_text(target.device.free_bytes) + " are free on " + target.device.name;
  if (out.index < 0) {
    out.reason = state_->schedules.empty() ? "no schedule of the frontier runs on a GPU"
                 : wide > 0 ? "no schedule for a GPU fits its memory: the least needs " + bytes_text(least) +
                                  ", and " + free
                            : "every schedule for a GPU is nondeterministic";
    return out;
  }
  const GpuSchedule& chosen = state_->schedules[static_cast<std::size_t>(out.index)];
  out.reason = "`" + chosen.id + "` " + chosen.point + " of `" + chosen.entry +
               "` is predicted to take least time on " + target.device.name + ", " +
               seconds_text(out.evaluated[static_cast<std::size_t>(out.index)].seconds);
  if (out.copy_seconds > 0)
    out.reason += " and " + seconds_text(out.copy_seconds) + " for the way there and back";
  if (wide > 0)
    out.reason +=
        "; " + std::to_string(wide) + " that need more memory than the " + free + " are passed over";
  if (chance > 0) out.reason += "; " + std::to_string(chance) + " nondeterministic ones are left out";
  return out;
}

}  // namespace schaas::client
