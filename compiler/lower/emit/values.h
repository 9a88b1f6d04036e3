#pragma once
#include <optional>
#include <set>
#include <vector>

#include "compiler/lower/emit/facts/emission_facts.h"
#include "compiler/lower/emit/levels/levels.h"
#include "compiler/lower/emit/levels/scope.h"

namespace schaas::lower {

/// Product of a chain: the factors not multiplied yet, and a name for the rest (null: none).
struct PartialProduct {
  std::vector<int> factors;
  loop_ir::ExpressionPtr prefix;
  std::optional<KnownFactor> known{};  ///< the parts of the prefix, where it has two
};

/// Expressions for the value of a leaf, and for the parts of it that are known outside its innermost loop.
class Values {
 public:
  Values(const EmissionFacts& facts, const Levels& levels) : facts_(facts), levels_(levels) {}

  /// Multiplies the factors that are complete into the prefix, and names the product.
  void hoist(const Scope& scope, PartialProduct& partial, Statements& out) const;
  /// Names parts of the leaf's value before the loops of the chain that do not change them.
  void hoist_values(const NestPtr& chain, Scope& scope, Statements& out) const;
  loop_ir::ExpressionPtr multiply(loop_ir::ExpressionPtr left, loop_ir::ExpressionPtr right) const;
  /// Returns the product of prefix and factors; the semiring's zero where one of them is absent.
  loop_ir::ExpressionPtr product(const Scope& scope, loop_ir::ExpressionPtr prefix,
                                 const std::vector<int>& factors) const;
  /// Evaluates a value; parts already known are names. `present`: operands known to be stored at this point.
  loop_ir::ExpressionPtr evaluate(const ValuePtr& value, const Scope& scope,
                                  const std::set<int>& present) const;
  /// Collects operands whose absence makes the value the semiring's zero.
  void annihilators(const ValuePtr& value, const Scope& scope, std::set<int>& out) const;
  /// Returns the conjunction of the operands' flags, or null without operands.
  loop_ir::ExpressionPtr presence(const std::set<int>& operands, const Scope& scope) const;

 private:
  std::optional<KnownFactor> known_factor(const std::vector<int>& ready, const loop_ir::ExpressionPtr& scale,
                                          const Scope& scope) const;
  void hoist_value(const ValuePtr& value, Scope& scope, Statements& out) const;
  bool is_known(const ValuePtr& value, const Scope& scope) const;
  loop_ir::ExpressionPtr load_of(int number, const Scope& scope) const;
  loop_ir::ExpressionPtr value_of(int number, const Scope& scope) const;
  loop_ir::ExpressionPtr evaluate_zeros(const ValuePtr& value, const Scope& scope,
                                        const std::set<int>& present) const;
  operators::Function meant(operators::Function function) const;

  const EmissionFacts& facts_;
  const Levels& levels_;
};

}  // namespace schaas::lower
