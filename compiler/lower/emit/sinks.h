#pragma once
#include <string>

#include "compiler/lower/emit/facts/emission_facts.h"
#include "compiler/lower/emit/levels/levels.h"
#include "compiler/lower/emit/levels/scope.h"
#include "compiler/lower/emit/sparse_accumulators.h"
#include "compiler/lower/emit/thread_writes.h"

namespace schaas::lower {

/// Writes of values to elements, accumulators and names.
class Sinks {
 public:
  Sinks(const EmissionFacts& facts, const Levels& levels, SparseAccumulators& accumulators,
        const ThreadWrites& writes)
      : facts_(facts), levels_(levels), accumulators_(accumulators), writes_(writes) {}

  void write(const Sink& sink, const Scope& scope, const loop_ir::ExpressionPtr& value,
             Statements& out) const;
  /// Returns the declaration of an accumulator.
  loop_ir::StatementPtr accumulator(const std::string& name, operators::Monoid monoid) const;
  /// The array sink is one element here, which may be summed in a register.
  bool is_one_element(const Sink& sink, const Scope& scope) const;

 private:
  void store(const Sink& sink, const Scope& scope, const loop_ir::ExpressionPtr& value,
             Statements& out) const;

  const EmissionFacts& facts_;
  const Levels& levels_;
  SparseAccumulators& accumulators_;
  const ThreadWrites& writes_;
};

}  // namespace schaas::lower
