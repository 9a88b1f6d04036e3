#include "compiler/lower/passes/zero_rows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "compiler/loop_ir/printer.h"
#include "compiler/loop_ir/traversal.h"
#include "compiler/loop_ir/uses.h"

// Finds loops over entries whose body declares names and folds products, nothing else. A factor that all
// iterations and products share decides the loop: where it is zero, each fold leaves its target as it is.
namespace schaas::lower {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::For;
using loop_ir::StatementPtr;
using operators::Function;
using operators::Monoid;

/// Factors of a product, by their text.
using Factors = std::map<std::string, ExpressionPtr>;

/// Adds the arguments of nested applications of `product`.
void collect_factors(const ExpressionPtr& expression, Function product, Factors& factors) {
  const auto* apply = std::get_if<loop_ir::Apply>(&expression->node);
  if (apply == nullptr || apply->function != product) {
    factors[loop_ir::print(expression)] = expression;
    return;
  }
  for (const auto& each : apply->arguments) collect_factors(each, product, factors);
}

bool meet(const std::set<std::string>& some, const std::set<std::string>& others) {
  return std::any_of(some.begin(), some.end(), [&](const auto& each) { return others.count(each) > 0; });
}

class ZeroRows {
 public:
  explicit ZeroRows(operators::ValueType type) : integers_(operators::is_integer(type)) {}

  StatementPtr of(const StatementPtr& statement) {
    if (const auto* declared = loop_ir::as<loop_ir::Accumulator>(statement))
      monoids_[declared->name] = declared->monoid;
    if (const auto* loop = loop_ir::as<For>(statement)) {
      if (auto factor = deciding_factor(*loop))
        return loop_ir::make(loop_ir::If{std::move(factor), statement});
      // Lanes of a vector decide nothing alone.
      if (loop->shape != loop_ir::Shape::scalar) return statement;
    }
    return loop_ir::map_children(statement, [this](const StatementPtr& each) { return of(each); });
  }

 private:
  /// Returns the factor that decides whether the loop folds anything but zeros; or null.
  ExpressionPtr deciding_factor(const For& loop) const {
    const bool is_whole = loop.part == loop_ir::Part::whole && !loop.cut && !loop.overruns && !loop.clears &&
                          !loop.product && !loop.adds && !loop.appends && loop.along.empty();
    if (loop.entries.empty() || !is_whole) return nullptr;
    std::set<std::string> inside{loop.variable}, stored;
    collect_declared(loop.body, inside);
    for (const auto& each : statements_of(loop.body))
      if (const auto* store = loop_ir::as<loop_ir::Store>(each)) stored.insert(store->array);
    std::optional<Factors> common;
    for (const auto& each : statements_of(loop.body)) {
      if (loop_ir::is_any<loop_ir::Let>(each)) continue;
      const auto fold = folded(each);
      if (!fold) return nullptr;
      Factors factors, left;
      collect_factors(fold->value, fold->product, factors);
      for (const auto& [text, factor] : factors) {
        loop_ir::Uses uses;
        collect_uses(factor, uses);
        if (!meet(uses.names, inside) && !meet(uses.arrays, stored) && !uses.names.empty() &&
            (!common || common->count(text) > 0))
          left[text] = factor;
      }
      common = std::move(left);
    }
    return common && !common->empty() ? common->begin()->second : nullptr;
  }

  struct Fold {
    ExpressionPtr value;
    Function product;
  };
  /// Returns the fold of a statement that leaves its target as it is where a factor is zero.
  std::optional<Fold> folded(const StatementPtr& statement) const {
    std::optional<Monoid> monoid;
    ExpressionPtr value;
    if (const auto* store = loop_ir::as<loop_ir::Store>(statement)) {
      if (store->mode == loop_ir::Write::set) return std::nullopt;
      monoid = store->monoid;
      value = store->value;
    } else if (const auto* accumulate = loop_ir::as<loop_ir::Accumulate>(statement)) {
      const auto found = monoids_.find(accumulate->name);
      if (found != monoids_.end()) monoid = found->second;
      value = accumulate->value;
    }
    if (monoid == Monoid::logical_or) return Fold{value, Function::logical_and};
    if (monoid == Monoid::sum && integers_) return Fold{value, Function::multiply};
    return std::nullopt;
  }

  const bool integers_;
  std::map<std::string, Monoid> monoids_{};  ///< by name of the accumulator
};

}  // namespace

loop_ir::Kernel skip_zero_rows(loop_ir::Kernel kernel) {
  ZeroRows rows(kernel.value_type);
  for (auto& phase : kernel.phases) {
    phase.body = rows.of(phase.body);
    if (phase.row_split) phase.row_split->partial = rows.of(phase.row_split->partial);
  }
  return kernel;
}

}  // namespace schaas::lower
