#pragma once
#include <map>
#include <string>
#include <vector>

#include "compiler/lower/emit/accumulator.h"
#include "compiler/lower/emit/appends.h"
#include "compiler/lower/emit/facts/emission_facts.h"
#include "compiler/lower/emit/hash_tables.h"
#include "compiler/lower/emit/levels/levels.h"
#include "compiler/lower/emit/levels/scope.h"

namespace schaas::lower {

/// Sparse accumulators of the temporaries that know which of their elements were written.
class SparseAccumulators {
 public:
  SparseAccumulators(const EmissionFacts& facts, const Levels& levels, const EntryAppends& appends)
      : facts_(facts), levels_(levels), appends_(appends), tables_(facts, levels, appends) {}

  /// Takes what another emission knows of temporaries between phases.
  void share(const SparseAccumulators& other) { accumulators_ = other.accumulators_; }
  /// Allocates the flags of a temporary that one phase leaves to later ones.
  void declare_shared(const Branch& branch);
  /// Allocates the memory of the temporary around the statements that fill and read it.
  void emit(const Branch& branch, Statements& out, const Part& produce, const Part& consume);
  /// Emits the first write of an element since the start: records it and stores the start value.
  void emit_insert(int target, Scope& scope, Statements& out);
  /// Returns the occupancy bitmap of a temporary whose elements are 0 until they are written, or "".
  std::string clean_bitmap_of(int temporary) const;
  /// Emits a walk over ascending coordinates that occupies each. When first and last coordinate show that
  /// many share a group, the group is occupied once instead of by each.
  void occupy_by_groups(const loop_ir::For& walk, const std::string& coordinates,
                        const std::string& coordinate, Statements& out) const;
  /// Emits a loop over the list of occupied coordinates when the loop reads a temporary that has one.
  bool emit_list_loop(const Loop& loop, const Scope& scope, Statements& out, const Body& body);
  /// Tests flags one by one. Thread-private ones are reset; shared ones are tested again by other readers.
  Body with_flag(const Loop& loop, const Body& body);

 private:
  void emit_counted(const Branch& branch, const std::vector<int>& occupancy_levels, Statements& out,
                    const Part& produce);
  void emit_clean(const SparseAccumulator& accumulator, Statements& out);
  void emit_epoch(const SparseAccumulator& accumulator, const loop_ir::ExpressionPtr& element,
                  Statements& out);
  loop_ir::ExpressionPtr occupancy_index(const Operand& use, const Scope& scope) const;
  int occupied_read(const NestPtr& body, int index) const;
  bool appends_all(const Loop& loop, int temporary) const;

  const EmissionFacts& facts_;
  const Levels& levels_;
  const EntryAppends& appends_;
  const HashTables tables_;
  std::map<int, SparseAccumulator> accumulators_;  ///< by temporary
};

}  // namespace schaas::lower
