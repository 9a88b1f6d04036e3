#include "compiler/lower/passes/threads/row_registers.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop_ir/map_expressions.h"
#include "compiler/loop_ir/substitute.h"
#include "compiler/loop_ir/traversal.h"
#include "compiler/loop_ir/uses.h"
#include "compiler/lower/passes/threads/vector_loads.h"

// Scalar replacement (Callahan, Carr, Kennedy, PLDI 1990) of the elements of a row that a thread folds into
// in each iteration of a sum. It is legal when these elements are the same in each iteration and the sum
// uses their array nowhere else. Registers cannot be indexed, so the loop over elements is unrolled, for the
// smallest of a few lengths that fits; the row's length chooses the body at run time. A thread keeps adjacent
// elements, as many as one instruction loads, then those a whole round of all threads further on.
namespace schaas::lower {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::make;
using loop_ir::StatementPtr;
using operators::Function;
using Statements = std::vector<StatementPtr>;

/// Elements that a thread keeps, of each body.
constexpr int register_counts[] = {4, 16};

/// An interleaved loop over elements of a row, each folded into once.
struct ElementLoop {
  const loop_ir::For* loop = nullptr;
  const loop_ir::Store* store = nullptr;  ///< the last statement of its body
};

/// Returns the loop when the statement is one; its lets come before the fold.
ElementLoop element_loop(const StatementPtr& statement) {
  const auto* loop = loop_ir::as<loop_ir::For>(statement);
  if (loop == nullptr || !loop->interleaved || !loop_ir::is_name(loop->begin, "lane")) return {};
  const auto body = loop_ir::statements_of(loop->body);
  const auto* store = loop_ir::as<loop_ir::Store>(body.back());
  if (store == nullptr || store->mode == loop_ir::Write::set) return {};
  for (std::size_t n = 0; n + 1 < body.size(); ++n) {
    if (!loop_ir::as<loop_ir::Let>(body[n])) return {};
  }
  return {loop, store};
}

/// Adds the names that the statements of a loop's body bind for its end.
void add_bound(const loop_ir::For& loop, std::set<std::string>& names) {
  names.insert(loop.variable);
  for (const auto& each : loop_ir::statements_of(loop.body)) {
    if (const auto* let = loop_ir::as<loop_ir::Let>(each)) names.insert(let->name);
    if (const auto* sum = loop_ir::as<loop_ir::Accumulator>(each)) names.insert(sum->name);
  }
}

class RowRegisters {
 public:
  RowRegisters(loop_ir::ValueType type, Names& names) : names_(names), adjacent_(vector_elements(type)) {}

  StatementPtr of(const StatementPtr& statement) {
    Statements out;
    for (const auto& each : loop_ir::statements_of(statement)) {
      const auto* loop = loop_ir::as<loop_ir::For>(each);
      const auto* before = out.empty() ? nullptr : loop_ir::as<loop_ir::For>(out.back());
      const StatementPtr clearing = before != nullptr && before->clears ? out.back() : nullptr;
      if (auto versions = loop == nullptr ? nullptr : versions_of(each, clearing)) {
        if (clearing) out.pop_back();
        const auto parts = loop_ir::statements_of(versions);
        out.insert(out.end(), parts.begin(), parts.end());
      } else {
        out.push_back(loop_ir::map_children(each, [&](const StatementPtr& inside) { return of(inside); }));
      }
    }
    return loop_ir::block(std::move(out));
  }

 private:
  /// Returns the bodies for rows of so many elements, or null where the loop is no sum of rows. `clearing`:
  /// the loop that clears the elements before it, or null.
  StatementPtr versions_of(const StatementPtr& statement, const StatementPtr& clearing) {
    const auto& sum = std::get<loop_ir::For>(statement->node);
    const auto body = loop_ir::statements_of(sum.body);
    const ElementLoop elements = element_loop(body.back());
    if (elements.loop == nullptr || !can_wait(sum, body, elements)) return nullptr;
    Statements out;
    ExpressionPtr longer;
    for (const int count : register_counts) {
      const auto fit = loop_ir::integer(count * elements.loop->step);
      auto condition = loop_ir::apply(Function::less_equal, {elements.loop->end, fit});
      if (longer) condition = loop_ir::apply(Function::logical_and, {longer, condition});
      out.push_back(
          make(loop_ir::If{condition, with_registers(sum, body, elements, count, clearing != nullptr)}));
      longer = loop_ir::apply(Function::less, {fit, elements.loop->end});
    }
    const auto whole = clearing ? loop_ir::block({clearing, statement}) : statement;
    out.push_back(make(loop_ir::If{longer, whole}));
    return loop_ir::block(std::move(out));
  }

  /// The elements are the same in each iteration of the sum, which does nothing else with their array.
  static bool can_wait(const loop_ir::For& sum, const Statements& body, const ElementLoop& elements) {
    std::set<std::string> bound;
    add_bound(sum, bound);
    add_bound(*elements.loop, bound);
    bound.erase(elements.loop->variable);
    if (loop_ir::mentions(elements.store->index, bound) || loop_ir::mentions(elements.loop->end, bound))
      return false;
    loop_ir::Uses uses;
    for (std::size_t n = 0; n + 1 < body.size(); ++n) loop_ir::collect_uses(body[n], uses);
    loop_ir::collect_uses(elements.store->index, uses);
    loop_ir::collect_uses(elements.store->value, uses);
    for (const auto& each : loop_ir::statements_of(elements.loop->body)) {
      if (const auto* let = loop_ir::as<loop_ir::Let>(each)) loop_ir::collect_uses(let->value, uses);
    }
    return uses.arrays.count(elements.store->array) == 0;
  }

  /// Returns the sum with `count` accumulators, which are folded into the row after it, or are the row where
  /// it is `cleared` before.
  StatementPtr with_registers(const loop_ir::For& sum, const Statements& body, const ElementLoop& elements,
                              int count, bool cleared) {
    Statements out, inside(body.begin(), body.end() - 1), stores;
    for (int n = 0; n < count; ++n) {
      const std::int64_t further = n / adjacent_ * adjacent_ * elements.loop->step + n % adjacent_;
      const auto element = loop_ir::add(loop_ir::multiply(elements.loop->begin, loop_ir::integer(adjacent_)),
                                        loop_ir::integer(further));
      const loop_ir::Substitution at = {{elements.loop->variable, element}};
      const auto there = loop_ir::apply(Function::less, {element, elements.loop->end});
      const std::string kept = names_.fresh("t");
      out.push_back(make(loop_ir::Accumulator{kept, elements.store->monoid, {}}));
      Statements fold;
      for (const auto& each : loop_ir::statements_of(elements.loop->body)) {
        if (loop_ir::as<loop_ir::Let>(each))
          fold.push_back(loop_ir::map_expressions(
              each, [&](const ExpressionPtr& e) { return loop_ir::substitute(e, at); }));
      }
      fold.push_back(make(loop_ir::Accumulate{kept, loop_ir::substitute(elements.store->value, at)}));
      inside.push_back(make(loop_ir::If{there, loop_ir::block(std::move(fold))}));
      auto store = *elements.store;
      store.index = loop_ir::substitute(store.index, at);
      store.value = loop_ir::name(kept);
      if (cleared) store.mode = loop_ir::Write::set;
      stores.push_back(make(loop_ir::If{there, make(std::move(store))}));
    }
    auto walk = sum;
    walk.shape = loop_ir::Shape::scalar;
    walk.body = loop_ir::block(std::move(inside));
    out.push_back(make(std::move(walk)));
    out.insert(out.end(), stores.begin(), stores.end());
    return loop_ir::block(std::move(out));
  }

  Names& names_;
  const int adjacent_;  ///< elements that a thread keeps next to each other
};

}  // namespace

loop_ir::Kernel keep_rows_in_registers(loop_ir::Kernel kernel, Names& names) {
  for (auto& phase : kernel.phases) phase.body = RowRegisters(kernel.value_type, names).of(phase.body);
  return kernel;
}

}  // namespace schaas::lower
