#include "compiler/lower/passes/split_unions.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/loop_ir/substitute.h"
#include "compiler/loop_ir/traversal.h"
#include "compiler/loop_ir/uses.h"
#include "compiler/loop_ir/vector_form.h"

// The union of lists with a whole extent becomes a loop over the extent without lists, then a loop over the
// lists. Storing twice is right where an iteration has no effect but one plain store. Its element differs
// from coordinate to coordinate, and nothing reads it. Merges over a part of an extent stay: their lists may
// go beyond it.
namespace schaas::lower {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::integer;
using loop_ir::make;
using loop_ir::Merge;
using loop_ir::StatementPtr;
using operators::Function;

bool is_integer(const ExpressionPtr& expression, std::int64_t value) {
  const auto* constant = std::get_if<loop_ir::Integer>(&expression->node);
  return constant != nullptr && constant->value == value;
}

/// Takes the branches that known conditions choose.
ExpressionPtr decided(const ExpressionPtr& expression) {
  if (const auto* choice = std::get_if<loop_ir::Choose>(&expression->node)) {
    const auto condition = decided(choice->condition);
    if (is_integer(condition, 0)) return decided(choice->otherwise);
    if (is_integer(condition, 1)) return decided(choice->then);
    return loop_ir::choose(condition, decided(choice->then), decided(choice->otherwise));
  }
  const auto* call = std::get_if<loop_ir::Apply>(&expression->node);
  if (call == nullptr) return expression;
  std::vector<ExpressionPtr> arguments;
  for (const auto& each : call->arguments) arguments.push_back(decided(each));
  const bool both = call->function == Function::logical_and, any = call->function == Function::logical_or;
  if (both || any) {
    const std::int64_t neutral = both ? 1 : 0;
    for (std::size_t n = 0; n < 2; ++n) {
      if (is_integer(arguments[n], 1 - neutral)) return integer(1 - neutral);
      if (is_integer(arguments[n], neutral)) return arguments[1 - n];
    }
  }
  return loop_ir::apply(call->function, std::move(arguments));
}

class SplitUnions {
 public:
  explicit SplitUnions(Names& names) : names_(names) {}

  StatementPtr of(const StatementPtr& statement) {
    const auto* merge = loop_ir::as<Merge>(statement);
    if (merge != nullptr && is_suitable(*merge)) {
      if (auto split = this->split(*merge)) return *std::move(split);
    }
    return loop_ir::map_children(statement, [this](const StatementPtr& each) { return of(each); });
  }

 private:
  static bool is_suitable(const Merge& merge) {
    return merge.kind == loop_ir::MergeKind::any && merge.over && is_integer(merge.over->begin, 0) &&
           std::all_of(merge.cursors.begin(), merge.cursors.end(), [](const loop_ir::Cursor& cursor) {
             return cursor.until.empty() && !cursor.coordinates.empty() && !cursor.present.empty();
           });
  }

  std::optional<StatementPtr> split(const Merge& merge) {
    const auto* store = loop_ir::as<loop_ir::Store>(merge.body);
    if (store == nullptr || store->mode != loop_ir::Write::set) return std::nullopt;
    loop_ir::Uses uses;
    collect_uses(store->value, uses);
    collect_uses(store->index, uses);
    for (const auto& cursor : merge.cursors) {
      collect_uses(cursor.begin, uses);
      collect_uses(cursor.end, uses);
    }
    if (uses.arrays.count(store->array) > 0) return std::nullopt;
    auto whole = without_lists(merge, *store);
    if (!whole) return std::nullopt;
    return loop_ir::block({*std::move(whole), over_lists(merge, *store)});
  }

  /// Returns the loop over the extent; nothing where the element depends on a list's position.
  std::optional<StatementPtr> without_lists(const Merge& merge, const loop_ir::Store& store) {
    loop_ir::Substitution absent;
    std::set<std::string> positions;
    const std::string variable = names_.fresh(merge.variable);
    absent[merge.variable] = loop_ir::name(variable);
    for (const auto& cursor : merge.cursors) {
      absent[cursor.present] = integer(0);
      positions.insert(cursor.position);
    }
    loop_ir::Store plain = store;
    plain.index = substitute(store.index, absent);
    plain.value = decided(substitute(store.value, absent));
    const std::set<std::string> varying = {variable};
    if (mentions(plain.index, positions) || mentions(plain.value, positions)) return std::nullopt;
    if (!is_vector_index(plain.index, variable, varying)) return std::nullopt;
    const auto shape =
        is_vector_value(plain.value, variable, varying) ? loop_ir::Shape::simd : loop_ir::Shape::scalar;
    return make(loop_ir::For{variable, merge.over->begin, merge.over->end, shape, make(std::move(plain))});
  }

  static StatementPtr over_lists(const Merge& merge, const loop_ir::Store& store) {
    if (merge.cursors.size() > 1) {
      Merge lists = merge;
      lists.over.reset();
      return make(std::move(lists));
    }
    const loop_ir::Cursor& list = merge.cursors.front();
    loop_ir::Store held = store;
    held.value = decided(substitute(store.value, {{list.present, integer(1)}}));
    const auto coordinate = loop_ir::load(list.coordinates, loop_ir::name(list.position));
    loop_ir::For entries{list.position, list.begin, list.end, loop_ir::Shape::scalar,
                         loop_ir::block({make(loop_ir::Let{merge.variable, loop_ir::Type::index, coordinate}),
                                         make(std::move(held))})};
    entries.entries = list.coordinates;
    return make(std::move(entries));
  }

  Names& names_;
};

}  // namespace

loop_ir::Kernel split_unions(loop_ir::Kernel kernel, Names& names) {
  SplitUnions unions(names);
  for (auto& phase : kernel.phases) phase.body = unions.of(phase.body);
  return kernel;
}

}  // namespace schaas::lower
