#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "schaas/frontier.h"
#include "schaas/rates.h"
#include "schaas/tensor.h"

/// Stages 4 and 5 of the search (SparseAuto section 5), at run time: which schedule of the frontier for these
/// tensors on this machine. Takes microseconds.
namespace schaas::client {

/// Number of entries of a storage level under one entry of its parent: mean and variance.
struct Spread {
  double deviation = 0;  ///< from their mean (standard deviation)
  double largest = 0;
  bool operator==(const Spread&) const = default;
};
/// A storage level of an access that a loop walks.
struct WalkedLevel {
  std::string tensor;
  int level = 0;
  std::string index;
  auto operator<=>(const WalkedLevel&) const = default;
};
/// Two lists that a loop merges where a leading level reaches both; without a leading one where loops over
/// extents do.
struct MergedLists {
  /// Coordinates that both lists of a merge hold, and its steps.
  struct Mean {
    double matches = 0, steps = 0;
    bool operator==(const Mean&) const = default;
  };
  WalkedLevel first, second, leading;  ///< `first` is the lesser of the two
  static MergedLists of(const WalkedLevel& a, const WalkedLevel& b, const WalkedLevel& leading = {}) {
    return {std::min(a, b), std::max(a, b), leading};
  }
  auto operator<=>(const MergedLists&) const = default;
};
/// Lists where loops over other ones reach them, which may be longer than in the mean of their level.
struct ListStatistics {
  /// Mean length over the entries of a level that leads to the list.
  struct Length {
    double mean = 0;
    bool beside = false;  ///< the level's entries lie in the list's own row
    bool operator==(const Length&) const = default;
  };
  std::map<std::pair<WalkedLevel, WalkedLevel>, Length> lengths;  ///< by list and leading level
  std::map<MergedLists, MergedLists::Mean> merges;
};
/// Real sizes: extents of indices, and stored entries of each storage level of the sparse tensors.
struct Sizes {
  std::map<std::string, std::int64_t> extents;               ///< by index name
  std::map<std::string, std::vector<std::int64_t>> entries;  ///< tensor -> entries by level
  /// tensor -> by level; where it is not known all are alike. What is selected for a GPU hangs on it.
  std::map<std::string, std::vector<Spread>> spreads{};
  /// tensor -> by level, of its index's extent the share of coordinates that entries have; where it is not
  /// known all have some.
  std::map<std::string, std::vector<double>> occupied{};
  ListStatistics lists{};  ///< a list that it lacks is taken as long as in the mean, and independent
};
/// By level: all zero but of compressed ones. One pass over their positions. Not of a tensor on a device.
std::vector<Spread> spreads_of(const PackedTensor& tensor);
/// By level the share of coordinates that entries have: of a first level that is dense, above a compressed
/// one, that of 64 coordinates; of compressed levels, when they are to be counted, by a pass over their
/// entries; of others, and on a device: 1.
std::vector<double> occupied_coordinates(const PackedTensor& tensor, bool counted);
/// Stored entries of each level; of a nonunique one its distinct coordinates, of tensors on a device the most
/// that can be.
std::vector<std::int64_t> entries_of(const PackedTensor& tensor);
/// Mean entries of a storage level under one entry of its parent (0 when there is no parent entry).
double fiber(const std::vector<std::int64_t>& entries, int level);

/// Levels that other loops of a nest walk. Of two lists of one row the second has another mean length where
/// the first is walked `before`.
struct LeadingLevels {
  std::vector<WalkedLevel> before{}, after{};
  bool operator==(const LeadingLevels&) const = default;
};
/// Returns the levels that lead to variable `n` of those that the loops of a nest walk, a term of time's in
/// any order.
LeadingLevels leading_levels(const std::vector<Variable>& walked, std::size_t n);

/// Returns the value of a variable. The size of a copy is estimated: as many entries as its original. An
/// outer compressed level gets as many as possible: all extents, or all entries. Errors: invalid
/// [unknown-size] when the sizes do not know its index or tensor.
support::Result<double> evaluate(const Variable& variable, const Sizes& sizes,
                                 const LeadingLevels& leading = {});
/// Sum of the terms of time, the parallel ones divided by the number of threads; an empty product is its
/// weight.
support::Result<double> evaluate(const std::vector<Term>& terms, const Sizes& sizes, int threads = 1);

/// Returns the scope of a term of memory. Where it is unknown, a product with stored entries is a copy of an
/// operand, and one of extents alone is private to a thread.
Scope known_scope(const Term& term);
/// Returns how often memory of this scope exists on so many threads.
int owners(Scope scope, int threads);
/// Returns the elements of all terms of memory on so many threads. Errors: as above.
support::Result<double> memory_elements(const std::vector<Term>& terms, const Sizes& sizes, int threads);

struct Machine {
  int threads = 1;
  std::int64_t cache_bytes = 32 << 20;  ///< last-level cache
  ValueType value_type = ValueType::f64;
  std::int64_t first_cache_bytes = 32 << 10;          ///< one core's data cache
  std::int64_t second_cache_bytes = 1 << 20;          ///< one core's
  Rates rates = {};                                   ///< `schaas calibrate`
  std::int64_t memory_bytes = std::int64_t{8} << 30;  ///< main memory
  int vector_bytes = 32;                              ///< size of a register in kernels for this machine
};

/// This machine: its caches and memory, its threads (or so many), its rates as `schaas calibrate` stored them
/// in the default data directory.
Machine this_machine(ValueType value_type, int threads = 0);

/// Bytes that temporaries may take where it is predicted what that costs: an eighth of the main memory.
double room_for_temporaries(const Machine& machine);

/// Costs of one schedule at real sizes.
struct Evaluated {
  double time = 0;          ///< weighted trips, those of parallel phases shared by the machine's threads
  double predicted = 0;     ///< the same with what working sets cost here; at least, where that is too much
  double memory_bytes = 0;  ///< temporaries, private ones once per thread, and copies of operands
  bool fits = false;        ///< the temporaries: where there is room for them
  std::size_t variant = 0;  ///< the variant of the entry with the least `predicted`
};
struct Selection {
  std::size_t index = 0;             ///< into the given entries
  std::string reason;                ///< one sentence with the figures
  std::vector<Evaluated> evaluated;  ///< by entry
};

/// The trace, or tree, that was selected: the entry's own one, or another variant's.
inline const std::string& selected_trace(const FrontierEntry& entry, const Evaluated& evaluated) {
  return evaluated.variant == 0 ? entry.trace : entry.variants[evaluated.variant].trace;
}
inline const std::string& selected_tree(const FrontierEntry& entry, const Evaluated& evaluated) {
  return evaluated.variant == 0 ? entry.tree : entry.variants[evaluated.variant].tree;
}

/// Selects a schedule at real sizes. Stage 4 keeps the schedules whose temporaries fit half of the last-level
/// cache. Entries with variants, whose cost beyond that cache is predicted, may take an eighth of the main
/// memory. When none fits, those of least memory are kept. Stage 5 takes the least predicted time on the
/// machine's threads (docs/cost_model.md, "At real sizes"). It is the weighted trips, less where rows stay in
/// L1, more where working sets exceed the caches. Weights price the access of the innermost loops; a serial
/// phase keeps all its trips. Entries without variants have weighted trips alone. Equal times within one part
/// in 1e9 go to less memory, then to the earlier entry. A temporary inside a loop is private to a
/// thread, so its bytes count once per thread; one between phases is shared and counts once. Errors: invalid
/// [empty-frontier], [unknown-size].
class Selector {
 public:
  /// Prepares a frontier, for some microseconds an entry: then each selection takes microseconds in all.
  explicit Selector(std::vector<FrontierEntry> entries);
  const std::vector<FrontierEntry>& entries() const;
  /// Thread-safe.
  support::Result<Selection> select(const Sizes& sizes, const Machine& machine) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};
/// A selection from a frontier that is not used again.
support::Result<Selection> select(const std::vector<FrontierEntry>& entries, const Sizes& sizes,
                                  const Machine& machine);

}  // namespace schaas::client
