#include "compiler/lower/passes/fused_phases.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/loop_ir/phase_range.h"
#include "compiler/loop_ir/traversal.h"
#include "compiler/loop_ir/uses.h"

// Loop fusion of phases and of the loops over entries in them. An iteration of the second phase then runs
// before later iterations of the first. Both write nothing but the result, and neither reads it. All writes
// are folds with the monoid by which ranges are folded. A first phase may store each element of the result
// once: it becomes a fold into a cleared result. Sums alone are cleared to their identity. One loop over the
// entries of a row is faster than two, which read them from the nearest cache (docs/performance/results.md).
namespace schaas::lower {
namespace {

using loop_ir::For;
using loop_ir::Phase;
using loop_ir::StatementPtr;
using loop_ir::Store;
using loop_ir::Write;

using StoreMap = std::function<StatementPtr(const Store&)>;

StatementPtr map_stores(const StatementPtr& statement, const StoreMap& map) {
  if (const auto* store = loop_ir::as<Store>(statement)) return map(*store);
  return loop_ir::map_children(statement, [&](const StatementPtr& each) { return map_stores(each, map); });
}

/// Returns the array of the result's values, when phases write it.
std::optional<std::string> result_of(const loop_ir::Kernel& kernel) {
  for (const auto& array : kernel.arrays) {
    const auto* values = std::get_if<loop_ir::ArgumentValues>(&array.origin);
    if (values != nullptr && values->argument == 0 && array.written) return array.name;
  }
  return std::nullopt;
}

/// Returns the loop that a phase consists of, when no split or mapping knows of it.
const For* loop_of(const Phase& phase) {
  const bool plain = phase.parallel && phase.over.empty() && phase.step == loop_ir::Step::compute &&
                     !phase.numeric && !phase.row_split && !phase.specialised && !phase.mapping;
  return plain ? loop_ir::as<For>(phase.body) : nullptr;
}

/// Returns the loop over the rows of a phase.
const For* rows_of(const Phase& phase) {
  const For* loop = loop_of(phase);
  return loop != nullptr && is_over_range(*loop) ? loop : nullptr;
}

/// Returns the loop over the range of a phase that writes nothing but the element it is at.
const For* elements_of(const Phase& phase) {
  const For* loop = loop_of(phase);
  if (loop == nullptr || phase.fold) return nullptr;
  For in_order = *loop;
  if (loop->shape == loop_ir::Shape::simd) in_order.shape = loop_ir::Shape::scalar;
  const auto statements = loop_ir::statements_of(loop->body);
  const bool own = std::all_of(statements.begin(), statements.end(), [&](const StatementPtr& each) {
    const auto* store = loop_ir::as<Store>(each);
    return loop_ir::is_any<loop_ir::Let>(each) || (store != nullptr && is_name(store->index, loop->variable));
  });
  return own && is_over_range(in_order) ? loop : nullptr;
}

/// Returns the loop when it visits all entries of the row `rows` is at, one after the other.
const For* entries_of(const StatementPtr& statement, const For& rows) {
  const auto* loop = loop_ir::as<For>(statement);
  const bool whole = loop != nullptr && loop->row && loop->row->row == rows.variable && !loop->cut &&
                     loop->part == loop_ir::Part::whole && loop->shape == loop_ir::Shape::scalar &&
                     loop->step == 1 && loop->unroll == 1 && !loop->appends && !loop->adds;
  return whole ? loop : nullptr;
}

bool same_entries(const For& one, const For& other) {
  return one.entries == other.entries && one.row->positions == other.row->positions;
}

/// The rows of a phase that declares values of a row, then visits its entries.
struct RowOfEntries {
  std::vector<StatementPtr> lets;
  const For* entries = nullptr;
};

std::optional<RowOfEntries> row_of_entries(const For& rows) {
  RowOfEntries found{loop_ir::statements_of(rows.body)};
  found.entries = entries_of(found.lets.back(), rows);
  found.lets.pop_back();
  const bool lets = std::all_of(found.lets.begin(), found.lets.end(),
                                [](const StatementPtr& each) { return loop_ir::is_any<loop_ir::Let>(each); });
  if (found.entries == nullptr || !lets) return std::nullopt;
  return found;
}

StatementPtr let(const std::string& name, const std::string& value) {
  return loop_ir::make(loop_ir::Let{name, loop_ir::Type::index, loop_ir::name(value)});
}

/// Returns the loop with the other's body behind its own.
StatementPtr fused_loop(const For& loop, const For& other) {
  auto body = loop_ir::statements_of(loop.body);
  body.push_back(let(other.variable, loop.variable));
  for (const auto& each : loop_ir::statements_of(other.body)) body.push_back(each);
  For fused = loop;
  fused.body = loop_ir::block(std::move(body));
  return loop_ir::make(std::move(fused));
}

class FusedPhases {
 public:
  explicit FusedPhases(loop_ir::Kernel& kernel) : kernel_(kernel), result_(result_of(kernel)) {}

  void fuse_all() {
    if (!result_) return;
    for (std::size_t n = 0; n + 1 < kernel_.phases.size();) {
      if (!fuse_entries(n) && !add_elements(n)) ++n;
    }
  }

 private:
  /// Fuses phase n with the next one where both walk the entries of the same rows.
  bool fuse_entries(std::size_t n) {
    Phase& first = kernel_.phases[n];
    const Phase& second = kernel_.phases[n + 1];
    const For* rows = rows_of(first);
    const For* others = rows_of(second);
    if (rows == nullptr || others == nullptr || !equal(first.range, second.range)) return false;
    if (!second.fold || second.fold->array != *result_) return false;
    if (first.fold && (first.fold->array != *result_ || first.fold->monoid != second.fold->monoid))
      return false;
    const auto row = row_of_entries(*others);
    if (!row || !only_folds_result(others->body, *second.fold)) return false;

    auto statements = loop_ir::statements_of(rows->body);
    bool sets = false;
    for (auto& each : statements) sets = as_fold(each, rows->variable, second.fold->monoid) || sets;
    if (sets && (!is_written_first(n) || !is_cleared_to_identity(second.fold->monoid))) return false;
    if (!only_folds_result(loop_ir::block(statements), *second.fold)) return false;
    const auto entries = std::find_if(statements.begin(), statements.end(), [&](const StatementPtr& each) {
      const For* loop = entries_of(each, *rows);
      return loop != nullptr && same_entries(*loop, *row->entries);
    });
    if (entries == statements.end()) return false;

    *entries = fused_loop(*entries_of(*entries, *rows), *row->entries);
    statements.insert(entries, row->lets.begin(), row->lets.end());
    statements.insert(statements.begin(), let(others->variable, rows->variable));
    if (sets) kernel_.writes_all = false;
    first.fold = second.fold;
    replace(n, *rows, std::move(statements));
    return true;
  }

  /// Adds the next phase's terms of single elements to the rows of phase n, which folds.
  bool add_elements(std::size_t n) {
    const Phase& first = kernel_.phases[n];
    const Phase& second = kernel_.phases[n + 1];
    const For* rows = rows_of(first);
    const For* elements = elements_of(second);
    if (rows == nullptr || elements == nullptr || !equal(first.range, second.range)) return false;
    if (!first.fold || first.fold->array != *result_) return false;
    if (!only_folds_result(rows->body, *first.fold) || !only_folds_result(elements->body, *first.fold))
      return false;
    auto statements = loop_ir::statements_of(rows->body);
    statements.push_back(let(elements->variable, rows->variable));
    for (const auto& each : loop_ir::statements_of(elements->body)) statements.push_back(each);
    replace(n, *rows, std::move(statements));
    return true;
  }

  /// Phase n gets these statements for each of its rows, and the next phase goes.
  void replace(std::size_t n, const For& rows, std::vector<StatementPtr> statements) {
    For fused = rows;
    fused.body = loop_ir::block(std::move(statements));
    kernel_.phases[n].body = loop_ir::make(std::move(fused));
    kernel_.phases.erase(kernel_.phases.begin() + static_cast<std::ptrdiff_t>(n) + 1);
  }

  /// Turns a store of the row's only element into a fold; tells whether it is one.
  bool as_fold(StatementPtr& statement, const std::string& row, operators::Monoid monoid) const {
    const auto* store = loop_ir::as<Store>(statement);
    if (store == nullptr || store->array != *result_ || store->mode != Write::set ||
        !is_name(store->index, row))
      return false;
    Store fold = *store;
    fold.mode = Write::fold, fold.monoid = monoid;
    statement = loop_ir::make(std::move(fold));
    return true;
  }

  /// The statements have no effect but folds into the result, which they do not read.
  bool only_folds_result(const StatementPtr& body, const loop_ir::Fold& into) const {
    const bool known = !loop_ir::any_of(body, [](const StatementPtr& each) {
      return !loop_ir::is_any<loop_ir::Block, For, loop_ir::Merge, loop_ir::Let, loop_ir::Accumulator,
                              loop_ir::Accumulate, loop_ir::If, loop_ir::Prefetch, Store>(each);
    });
    if (!known) return false;
    bool folds = true;
    const auto unnamed = map_stores(body, [&](const Store& store) {
      folds = folds && store.array == into.array && store.mode == Write::fold && store.monoid == into.monoid;
      Store without = store;
      without.array.clear();
      return loop_ir::make(std::move(without));
    });
    loop_ir::Uses uses;
    collect_uses(unnamed, uses);
    return folds && uses.arrays.count(*result_) == 0;
  }

  bool is_written_first(std::size_t n) const {
    return std::none_of(kernel_.phases.begin(), kernel_.phases.begin() + static_cast<std::ptrdiff_t>(n),
                        [&](const Phase& before) {
                          loop_ir::Uses uses;
                          collect_uses(before.body, uses);
                          return uses.arrays.count(*result_) > 0;
                        });
  }

  bool is_cleared_to_identity(operators::Monoid monoid) const {
    return kernel_.writes_all && monoid == operators::Monoid::sum && kernel_.result_fill == 0;
  }

  loop_ir::Kernel& kernel_;
  std::optional<std::string> result_;
};

}  // namespace

loop_ir::Kernel fuse_phases(loop_ir::Kernel kernel) {
  FusedPhases(kernel).fuse_all();
  return kernel;
}

}  // namespace schaas::lower
