#include "schaas/select.h"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "client/cpp/platform/allocate.h"
#include "client/cpp/selection/occupied_rows.h"
#include "client/cpp/selection/traffic.h"
#include "client/cpp/selection/unknowns.h"
#include "schaas/host.h"

// Stages 4 and 5 of the search: evaluates the cost terms of a frontier at real sizes and selects a schedule.
// The cost model is that of docs/cost_model.md.
//
// A frontier is prepared once: variables become numbers, so that an evaluation is a product of doubles. A
// selection then computes the variables, evaluates all entries, and adds the cost of working sets
// (traffic.h), which is dearer to compute. It adds them in the order of a lower bound and stops when the
// bound exceeds the best time (branch and bound).
//
// Invariants: the choice is a function of sizes and machine alone; ties go to less memory, then to the
// earlier entry. A variant replaces the server's own choice only when it is predicted to be clearly faster,
// as predictions of variants are close.
namespace schaas::client {
namespace {

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

// Compares two entries. With some that fit, those that fit go first; with none, the least memory. The slack
// makes nearly equal times equal, so that rounding does not decide.
bool better(const Evaluated& a, const Evaluated& b, bool any_fits) {
  if (any_fits && a.fits != b.fits) return a.fits;
  if (!any_fits && a.memory_bytes != b.memory_bytes) return a.memory_bytes < b.memory_bytes;
  const double slack = 1e-9 * std::max(a.predicted, b.predicted);
  if (a.predicted < b.predicted - slack) return true;
  if (b.predicted < a.predicted - slack) return false;
  return a.memory_bytes < b.memory_bytes;
}

std::string reason_for(const FrontierEntry& entry, const Evaluated& chosen, std::size_t fitting,
                       std::size_t all) {
  const std::string temporaries = bytes_text(chosen.memory_bytes) + " of temporaries";
  if (fitting == 0) {
    return "no schedule has room for its temporaries; `" + entry.id + "` needs least memory: " + temporaries;
  }
  const std::string variant = chosen.variant == 0 ? "" : ", run as `" + selected_tree(entry, chosen) + "`";
  return "`" + entry.id + "` takes least time, " + number_text(chosen.time) + " weighted trips with " +
         temporaries + variant + "; " + std::to_string(fitting) + " of " + std::to_string(all) +
         " schedules have room for theirs";
}

// The server's own choice for an entry stays unless another variant is predicted to take so much less.
constexpr double worth_a_variant = 0.93;
// Limits of temporaries: of the cache, and of main memory where their cost beyond the cache is predicted.
constexpr double temporaries_share_of_cache = 0.5, temporaries_share_of_memory = 1.0 / 8;

// A term whose variables are numbers.
struct CostProduct {
  double weight = 1;
  bool serial = false;
  Scope scope = Scope::unknown;
  std::vector<int> variables;

  auto operator<=>(const CostProduct&) const = default;

  double value(const std::vector<double>& values) const {
    double product = weight;
    for (const int variable : variables) product *= values[static_cast<std::size_t>(variable)];
    return product;
  }
  double time(const std::vector<double>& values, const Machine& machine) const {
    return value(values) / (serial ? 1 : std::max(machine.threads, 1));
  }
};

// `of_time`: the terms count trips of nests, not elements of tensors.
std::vector<CostProduct> products_of(const std::vector<Term>& terms, bool of_time, Unknowns& unknowns) {
  std::vector<CostProduct> out;
  for (const Term& term : terms) {
    CostProduct& product = out.emplace_back(CostProduct{term.weight, term.serial, known_scope(term), {}});
    for (std::size_t n = 0; n < term.variables.size(); ++n)
      product.variables.push_back(
          unknowns.number(term.variables[n], of_time ? leading_levels(term.variables, n) : LeadingLevels{}));
  }
  return out;
}

// Bytes of a schedule on the machine's threads.
struct Memory {
  double temporaries = 0, copies = 0;
  double bytes() const { return temporaries + copies; }
};

Memory memory_of(const std::vector<CostProduct>& terms, const std::vector<double>& values,
                 const Machine& machine) {
  const auto size = static_cast<double>(bytes_of(machine.value_type));
  Memory memory;
  for (const CostProduct& term : terms) {
    const double bytes = term.value(values) * size * owners(term.scope, machine.threads);
    (term.scope == Scope::operand ? memory.copies : memory.temporaries) += bytes;
  }
  return memory;
}

// Returns the trips of the innermost loops of nests, sorted; a loop that is split into blocks counts once.
// `occupied`: by nest, the coordinates for which alone its outermost loop runs.
std::vector<CostProduct> trips_of(const std::vector<Nest>& nests,
                                  const std::vector<std::optional<OccupiedRows>>& occupied,
                                  Unknowns& unknowns) {
  std::vector<CostProduct> out;
  for (std::size_t n = 0; n < nests.size(); ++n) {
    const Nest& nest = nests[n];
    CostProduct& product = out.emplace_back(CostProduct{nest.weight, nest.serial, {}, {}});
    if (occupied[n]) product.variables.push_back(unknowns.share(*occupied[n]));
    const auto numbers = trip_numbers(nest, unknowns);
    for (std::size_t l = 0; l < nest.loops.size(); ++l)
      if (!nest.loops[l].inside) product.variables.push_back(numbers[l]);
    std::sort(product.variables.begin(), product.variables.end());
  }
  std::sort(out.begin(), out.end());
  return out;
}

// A frontier whose variables are numbers. Keeps a reference to it.
class Prepared {
 public:
  explicit Prepared(const std::vector<FrontierEntry>& frontier) : frontier_(frontier) {
    for (const FrontierEntry& entry : frontier) {
      Entry& to = entries_.emplace_back();
      to.time = products_of(entry.time_terms, true, unknowns_);
      to.memory = products_of(entry.memory_terms, false, unknowns_);
      for (const Variant& variant : entry.variants)
        to.variant_memory.push_back(products_of(variant.memory_terms, false, unknowns_));
      for (const Variant& variant : entry.variants) {
        const auto occupied = occupied_rows(variant.nests);
        if (to.trips.empty())
          to.all =
              trips_of(variant.nests, std::vector<std::optional<OccupiedRows>>(occupied.size()), unknowns_);
        auto& nests = to.variants.emplace_back();
        for (std::size_t n = 0; n < occupied.size(); ++n)
          nests.emplace_back(variant.nests[n], unknowns_, tensors_, occupied[n]);
        auto trips = trips_of(variant.nests, occupied, unknowns_);
        if (trips == to.all) trips.clear();
        to.trips.push_back(std::move(trips));
      }
    }
  }

  // Evaluates all entries; the cost of working sets is added where some entry fits.
  support::Result<Selection> select(const Sizes& sizes, const Machine& machine) const {
    if (entries_.empty()) return support::invalid("empty-frontier", "there is no schedule to select from");
    SCHAAS_ASSIGN_OR_RETURN(const std::vector<double> values, unknowns_.values(sizes));
    Selection selection;
    selection.evaluated.reserve(entries_.size());
    std::size_t fitting = 0;
    for (std::size_t e = 0; e < entries_.size(); ++e) {
      selection.evaluated.push_back(evaluate(e, values, machine));
      fitting += selection.evaluated.back().fits;
    }
    if (fitting > 0) add_traffic(values, machine, selection.evaluated);
    for (std::size_t e = 1; e < entries_.size(); ++e) {
      if (better(selection.evaluated[e], selection.evaluated[selection.index], fitting > 0))
        selection.index = e;
    }
    selection.reason = reason_for(frontier_[selection.index], selection.evaluated[selection.index], fitting,
                                  entries_.size());
    return selection;
  }

 private:
  struct Entry {
    std::vector<CostProduct> time, memory;
    std::vector<std::vector<CostProduct>> variant_memory;  // empty ones: an older server told none
    std::vector<std::vector<NumberedNest>> variants;
    // Variants of an entry have different trips where rows are left out. They also differ where sums of
    // blocks stand beside the result row, which is then loaded and stored less often. The trips of the first
    // variant, for all rows, are the base.
    std::vector<CostProduct> all;
    std::vector<std::vector<CostProduct>> trips;
  };

  // Returns the trips that a variant saves against the terms of its entry, apart from the cost of its working
  // sets.
  static double saved(const Entry& entry, std::size_t variant, const std::vector<double>& values,
                      const Machine& machine) {
    if (entry.trips[variant].empty()) return 0;
    const auto all = [&](const std::vector<CostProduct>& trips) {
      double sum = 0;
      for (const CostProduct& product : trips)
        sum += product.time(values, machine) * min_part(product.weight, machine);
      return sum;
    };
    return all(entry.all) - all(entry.trips[variant]);
  }

  // The minimum of a time that the machine allows: rows in L1. The cost of working sets comes on top.
  Evaluated evaluate(std::size_t e, const std::vector<double>& values, const Machine& machine) const {
    Evaluated evaluated;
    for (const CostProduct& product : entries_[e].time) {
      const double trips = product.time(values, machine);
      evaluated.time += trips;
      evaluated.predicted += entries_[e].variants.empty() ? trips : trips * min_part(product.weight, machine);
    }
    const Memory memory = memory_of(entries_[e].memory, values, machine);
    evaluated.memory_bytes = memory.bytes();
    evaluated.fits = memory.temporaries <= room(e, machine);
    return evaluated;
  }

  // Returns the bytes that the temporaries of an entry may take.
  double room(std::size_t e, const Machine& machine) const {
    const double cache = temporaries_share_of_cache * static_cast<double>(machine.cache_bytes);
    return entries_[e].variants.empty() ? cache : std::max(cache, room_for_temporaries(machine));
  }

  // Adds the cost of working sets, most promising entries first. Entries that take longer without it than the
  // best with it are left as they are.
  void add_traffic(const std::vector<double>& values, const Machine& machine,
                   std::vector<Evaluated>& evaluated) const {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t e = 0; e < entries_.size(); ++e) {
      if (!evaluated[e].fits || entries_[e].variants.empty()) continue;
      double most = 0;
      for (std::size_t v = 0; v < entries_[e].variants.size(); ++v)
        most = std::max(most, saved(entries_[e], v, values, machine));
      order.emplace_back(evaluated[e].predicted - most, e);
    }
    std::sort(order.begin(), order.end());
    TrafficModel traffic;
    double best = std::numeric_limits<double>::infinity();
    for (const auto& [least, e] : order) {
      if (least > best) break;
      const double without = evaluated[e].predicted;
      for (std::size_t v = 0; v < entries_[e].variants.size(); ++v) {
        const double predicted = without - saved(entries_[e], v, values, machine) +
                                 traffic.time(entries_[e].variants[v], values, machine);
        // The first variant is the server's own and always replaces the infinite time; others must be clearly
        // faster.
        const double needed =
            v == 0 ? std::numeric_limits<double>::infinity()
                   : evaluated[e].predicted * (evaluated[e].variant == 0 ? worth_a_variant : 1);
        if (predicted >= needed) continue;
        evaluated[e].predicted = predicted;
        evaluated[e].variant = v;
        if (const auto& own = entries_[e].variant_memory[v]; !own.empty())
          evaluated[e].memory_bytes = memory_of(own, values, machine).bytes();
      }
      best = std::min(best, evaluated[e].predicted);
    }
  }

  const std::vector<FrontierEntry>& frontier_;
  std::vector<Entry> entries_;
  Unknowns unknowns_;
  std::vector<std::string> tensors_;
};

}  // namespace

double room_for_temporaries(const Machine& machine) {
  return temporaries_share_of_memory * static_cast<double>(machine.memory_bytes);
}

Machine this_machine(ValueType value_type, int threads) {
  return {threads > 0 ? threads : host_threads(),
          last_level_cache_bytes(),
          value_type,
          first_cache_bytes(),
          second_cache_bytes(),
          stored_rates(default_data_directory()),
          main_memory_bytes(),
          host_runs("x86-64-v4") ? 64 : 32};
}

struct Selector::State {
  explicit State(std::vector<FrontierEntry> given) : frontier(std::move(given)) {}
  State(const State&) = delete;
  std::vector<FrontierEntry> frontier;
  Prepared prepared{frontier};
};

Selector::Selector(std::vector<FrontierEntry> entries)
    : state_(std::make_shared<const State>(std::move(entries))) {}

const std::vector<FrontierEntry>& Selector::entries() const { return state_->frontier; }

support::Result<Selection> Selector::select(const Sizes& sizes, const Machine& machine) const {
  return state_->prepared.select(sizes, machine);
}

support::Result<Selection> select(const std::vector<FrontierEntry>& entries, const Sizes& sizes,
                                  const Machine& machine) {
  return Prepared(entries).select(sizes, machine);
}

}  // namespace schaas::client
