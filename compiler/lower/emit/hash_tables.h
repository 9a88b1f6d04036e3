#pragma once
#include <string>

#include "compiler/lower/emit/accumulator.h"
#include "compiler/lower/emit/appends.h"
#include "compiler/lower/emit/facts/emission_facts.h"
#include "compiler/lower/emit/levels/levels.h"
#include "compiler/lower/emit/levels/scope.h"

namespace schaas::lower {

/// Hash tables as workspaces of a sparse result.
class HashTables {
 public:
  HashTables(const EmissionFacts& facts, const Levels& levels, const EntryAppends& appends)
      : facts_(facts), levels_(levels), appends_(appends) {}

  /// Emits a table around its producer and consumer. The slots that were occupied are freed one by one, so a
  /// row costs as much as it has entries.
  void emit(const Branch& branch, SparseAccumulator& accumulator, Statements& out, const Part& produce,
            const Part& consume) const;
  /// Finds the slot of the element; a free one is recorded and gets the start value.
  void emit_insert(const SparseAccumulator& accumulator, int target, Scope& scope, Statements& out) const;
  /// Binds the slot from which operand `read` reads a coordinate in the table.
  void emit_read(const SparseAccumulator& accumulator, int read, const std::string& coordinate, Scope& scope,
                 Statements& out) const;

 private:
  void emit_clear(const SparseAccumulator& accumulator, Statements& out) const;
  void bind_slot(int number, const std::string& slot, Scope& scope, Statements& out) const;

  const EmissionFacts& facts_;
  const Levels& levels_;
  const EntryAppends& appends_;
};

}  // namespace schaas::lower
