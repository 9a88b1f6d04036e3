#pragma once
#include <string>
#include <vector>

#include "compiler/lower/emit/facts/emission_facts.h"
#include "compiler/lower/emit/levels/scope.h"

namespace schaas::lower {

/// Levels of operands at the point that a scope describes. Cursors walk lists, other sparse levels are
/// located, and dense ones are bound to the coordinate.
class Levels {
 public:
  explicit Levels(const EmissionFacts& facts) : facts_(facts) {}

  /// Returns the scope of a nest in which no index is bound.
  Scope start(const NestPtr& nest, Statements& out) const;
  /// Returns the position at which the operand is read or written.
  const Position& position_of(int number, const Scope& scope) const;
  bool is_complete(int number, const Scope& scope) const;
  /// Advances the positions of the operands as far as their bound levels allow.
  void resolve_all(const std::vector<int>& operands, Scope& scope, Statements& out) const;

  /// Returns the list of a level below the present position, cut to what the task walks.
  loop_ir::Cursor cursor(const merge_lattice::LevelAccess& access, const std::string& preferred,
                         const Scope& scope) const;
  /// Loads, outside the loop, the ends of bands that it runs over or locates in.
  void open_bands(const LoopSpace& space, Scope& scope, Statements& out) const;
  /// Binds the coordinate in the dense levels of all operands below, then where an operand has the index
  /// twice.
  void bind(const Loop& loop, const std::string& coordinate, Scope& scope, Statements& out) const;
  /// Locates the coordinate, binds it for everything below and fills the body.
  loop_ir::StatementPtr loop_body(const Loop& loop, const LoopSpace& space, Scope inner,
                                  const std::string& coordinate, Statements statements,
                                  const Body& body) const;
  /// Translates the formula into presence flags.
  loop_ir::ExpressionPtr holding(const merge_lattice::Formula& formula, const Scope& scope) const;

 private:
  Band open_band(const merge_lattice::LevelAccess& access, const Scope& scope, Statements& out) const;
  void locate(const merge_lattice::LevelAccess& access, const std::string& coordinate, Scope& scope,
              Statements& out) const;
  loop_ir::ExpressionPtr locate_in_band(const merge_lattice::LevelAccess& access,
                                        const loop_ir::ExpressionPtr& coordinate, Scope& scope,
                                        Statements& out) const;
  loop_ir::ExpressionPtr locate_in_table(const merge_lattice::LevelAccess& access,
                                         const loop_ir::ExpressionPtr& coordinate, Scope& scope,
                                         Statements& out) const;
  loop_ir::ExpressionPtr locate_in_bitmap(const merge_lattice::LevelAccess& access,
                                          const loop_ir::ExpressionPtr& coordinate, Scope& scope,
                                          Statements& out) const;
  void search_diagonal(int number, int index, const std::string& coordinate, Scope& scope,
                       Statements& out) const;

  const EmissionFacts& facts_;
};

}  // namespace schaas::lower
