#pragma once
#include <optional>

#include "compiler/lower/emit/facts/emission_facts.h"
#include "compiler/lower/emit/levels/levels.h"
#include "compiler/lower/emit/levels/scope.h"
#include "compiler/lower/emit/loops.h"
#include "compiler/lower/emit/sinks.h"
#include "compiler/lower/emit/values.h"

namespace schaas::lower {

/// Loops around a single leaf.
class Chains {
 public:
  Chains(const EmissionFacts& facts, const Levels& levels, const Values& values, const Loops& loops,
         const Sinks& sinks, const ThreadWrites& writes)
      : facts_(facts), levels_(levels), values_(values), loops_(loops), sinks_(sinks), writes_(writes) {}

  /// Emits the chain; the value of its leaf goes to the sink.
  void emit(const NestPtr& chain, const Scope& scope, const Sink& sink, Statements& out) const;

 private:
  /// A sum times factors known before it.
  struct ScaledSum {
    loop_ir::ExpressionPtr product, total;
    loop_ir::ExpressionPtr some;  ///< tells whether the sum has terms
    std::ptrdiff_t declared;      ///< index of the statement that declares the sum
  };

  void write_where_summed(const ScaledSum& sum, const Scope& scope, const Sink& sink, Statements& out) const;
  std::optional<RowSum> row_sum(const Loop& loop, const PartialProduct& partial, const Sink& sink) const;
  void emit_chain(const NestPtr& nest, Scope& scope, PartialProduct partial, const Sink& sink,
                  Statements& out) const;
  void emit_counting(const Loop& loop, const Scope& scope, const Sink& sink, const PartialProduct& partial,
                     const Body& body, Statements& out) const;
  bool accumulates_here(const Loop& loop, const Sink& sink, const Scope& scope,
                        const PartialProduct& partial) const;
  bool reports_execution(const Loop& loop) const;

  const EmissionFacts& facts_;
  const Levels& levels_;
  const Values& values_;
  const Loops& loops_;
  const Sinks& sinks_;
  const ThreadWrites& writes_;
};

}  // namespace schaas::lower
