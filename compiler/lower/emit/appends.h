#pragma once
#include <map>
#include <optional>
#include <string>

#include "compiler/lower/analysis/met_lists.h"
#include "compiler/lower/emit/facts/emission_facts.h"
#include "compiler/lower/emit/levels/levels.h"
#include "compiler/lower/emit/levels/scope.h"

namespace schaas::lower {

/// Entries appended to a sparse result: counters of each iteration, and the statements around loops over its
/// levels.
class EntryAppends {
 public:
  EntryAppends(const EmissionFacts& facts, const Levels& levels) : facts_(facts), levels_(levels) {}

  /// Declares the arrays in which iterations of the symbolic phase count their entries.
  void declare_counts(int target, const loop_ir::ExpressionPtr& iterations);
  /// Declares what the numeric phase writes.
  void open_numeric_phase(const NestPtr& nest, int target);
  void close() { rows_follow_ = false; }
  /// Iterations are rows of the result whose entries follow each other.
  bool rows_follow() const { return rows_follow_; }

  /// Emits, before the outermost loop, the offset at which each iteration begins to append: the end of the
  /// previous one.
  void open_rows(const Loop& loop, Statements& out);
  /// Wraps the body of the outermost loop in the counters of an iteration.
  Body with_counters(const Loop& loop, const Body& body);
  /// Wraps the body of a loop over one of the result's levels, the target of the statements below, in the
  /// append of its entry. A coordinate list gets one entry for all of its levels, where the last of them is
  /// reached.
  Body with_append(const Loop& loop, const Body& body);
  /// Returns the entry that each iteration of a loop appends, where none is skipped; `body`: the statements
  /// that were emitted for an iteration.
  std::optional<loop_ir::AppendedEntry> appended_by(const Loop& loop, const Statements& body) const;
  /// Adds a number of entries to the count of the last compressed level.
  void add_to_count(const loop_ir::ExpressionPtr& entries, Statements& out) const;

 private:
  /// Emits the body where two lists have a coordinate in common.
  void emit_where_met(const MetLists& lists, Scope& scope, Statements& out, const Body& body) const;
  /// EntryAppends the entry of level `entry`, whose loop is around. Above a compressed level it is kept when
  /// something was appended below it since `before`.
  void emit_append(const merge_lattice::LevelAccess& entry, const Scope& scope, const std::string& position,
                   const std::string& before, Statements& out);

  const EmissionFacts& facts_;
  const Levels& levels_;
  bool rows_follow_ = false;
  std::map<int, std::string> counters_;  ///< counted level of the result -> entries so far, in this phase
  /// Entry of a loop's iteration, and the statement that advances its counter.
  struct Appended {
    loop_ir::AppendedEntry entry;
    loop_ir::StatementPtr advance;
  };
  std::map<const Loop*, Appended> appended_;
  std::map<int, std::string> counts_;  ///< counted level of the result -> the array of its counts
};

/// Returns the last level with coordinates of its own, or -1.
int last_sparse(const Tensor& tensor);
/// The symbolic phase does more than add up lengths of lists.
bool counts_entry_by_entry(const loop_ir::Phase& symbolic);
/// The range of the phase counts the coordinates of the target's first level, one iteration for each.
bool iterates_rows_in_order(const NestPtr& nest, const NestTree& tree);
/// The temporary is a sparse accumulator whose elements decide which entries are appended. A loop over a
/// level of the result walks its list, or the producer of another such temporary reads it. Reductions below
/// the entries do not change the set of entries.
bool decides_entries(const Branch& branch, const NestTree& tree);

}  // namespace schaas::lower
