#include "compiler/lower/passes/expand_rows.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop_ir/map_loops.h"
#include "compiler/loop_ir/result_rows.h"
#include "compiler/loop_ir/uses.h"

// Matches the rows that sparse_accumulators.cc emits, from the counter of occupied elements to the loop that
// reads them. Each statement between gets a counterpart that expands terms. The number of terms, counted
// first, chooses between the two variants at run time. A row with a statement of another form stays as it
// is, as does one whose workspace is read later. Terms of a coordinate are added in the order of the loops,
// so both variants sum alike.
namespace schaas::lower {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::For;
using loop_ir::StatementPtr;
using operators::Function;
using Statements = std::vector<StatementPtr>;

/// Rows of at most so many terms are expanded; of a wide result twice as many, since its workspace and bitmap
/// exceed the L1 cache. docs/performance/results.md.
constexpr std::int64_t few_terms = 64;
constexpr std::int64_t wide = 16384;
static_assert(2 * few_terms <= loop_ir::max_terms);

/// The statements of one row of a sparse result: a counter, additions to the workspace, compaction, and the
/// loop that reads.
class Row {
 public:
  Row(const loop_ir::Kernel& kernel, loop_ir::Terms terms, std::string number)
      : kernel_(kernel), terms_(std::move(terms)), number_(std::move(number)) {}

  /// Returns statements that compute the row from few terms or as before; empty where the rewrite does not
  /// apply. The row spans `first` to the loop after `collected`.
  Statements result(const Statements& statements, std::size_t first, std::size_t collected) {
    occupancy_ = as<loop_ir::Compact>(statements[collected])->occupancy;
    terms_.count = occupancy_.count;
    const auto last = collected + 1;
    Statements row = {statements[first], loop_ir::make(loop_ir::Counter{number_, loop_ir::integer(0)})};
    Statements few, many, counting;
    for (auto n = first + 1; n < collected; ++n) {
      if (as<loop_ir::Let>(statements[n]) != nullptr) {
        row.push_back(statements[n]);  // used by both variants
        continue;
      }
      many.push_back(statements[n]);
      if (!add(statements[n], few, counting)) return {};
    }
    many.insert(many.end(), {statements[collected], statements[last]});
    const auto read = workspace_.empty() ? nullptr : reading(statements[last]);
    if (!read || std::any_of(statements.begin() + static_cast<std::ptrdiff_t>(last) + 1, statements.end(),
                             [&](const auto& each) { return uses_workspace(each); }))
      return {};
    few.push_back(loop_ir::make(loop_ir::Compress{terms_}));
    few.push_back(read);
    const auto number = loop_ir::name(number_);
    const auto is_wide = loop_ir::apply(Function::greater, {occupancy_.extent, loop_ir::integer(wide)});
    const auto most = loop_ir::choose(is_wide, loop_ir::integer(2 * few_terms), loop_ir::integer(few_terms));
    row.insert(row.end(), counting.begin(), counting.end());
    row.push_back(loop_ir::make(
        loop_ir::If{loop_ir::apply(Function::less_equal, {number, most}), loop_ir::block(std::move(few))}));
    row.push_back(loop_ir::make(
        loop_ir::If{loop_ir::apply(Function::greater, {number, most}), loop_ir::block(std::move(many))}));
    return row;
  }

  loop_ir::Array list() const {
    return {terms_.list, element_of(occupancy_.list),
            loop_ir::Scratch{loop_ir::integer(loop_ir::term_elements)},
            /*written=*/true};
  }
  loop_ir::Array values() const {
    return {terms_.values, loop_ir::Element::value,
            loop_ir::Scratch{loop_ir::integer(loop_ir::term_elements)}, /*written=*/true};
  }

 private:
  loop_ir::Element element_of(const std::string& array) const {
    return std::find_if(kernel_.arrays.begin(), kernel_.arrays.end(),
                        [&](const auto& each) { return each.name == array; })
        ->element;
  }

  /// EntryAppends the expansion of a statement to `few` and the count of its terms to `counting`.
  bool add(const StatementPtr& statement, Statements& few, Statements& counting) {
    if (as<loop_ir::Let>(statement) != nullptr) {
      few.push_back(statement);
      counting.push_back(statement);
      return true;
    }
    if (as<loop_ir::OccupyGroups>(statement) != nullptr) return true;
    if (const auto* branch = as<loop_ir::If>(statement)) {
      // Both variants add the same terms; the scattered one is expanded.
      if (as<loop_ir::AddSupernode>(branch->body) != nullptr) return true;
      const auto* inside = as<For>(branch->body);
      if (inside == nullptr || !inside->adds) return false;
      if (inside->adds->variant == loop_ir::AddedRow::Variant::clustered) return true;
      return inside->adds->variant == loop_ir::AddedRow::Variant::scattered &&
             add(branch->body, few, counting);
    }
    const auto* loop = as<For>(statement);
    if (loop == nullptr || loop->step != 1 || loop->entries.empty()) return false;
    if (const auto expanded = of_walk(*loop)) {
      few.push_back(loop_ir::make(*expanded));
      const auto count = loop_ir::subtract(loop->end, loop->begin);
      counting.push_back(
          loop_ir::make(loop_ir::SetCounter{number_, loop_ir::add(loop_ir::name(number_), count)}));
      return true;
    }
    Statements inner_few, inner_counting;
    for (const auto& each : statements_of(loop->body)) {
      if (!add(each, inner_few, inner_counting)) return false;
    }
    For expanding = *loop, counted = *loop;
    expanding.body = loop_ir::block(loop_ir::without_unused_lets(inner_few));
    counted.body = loop_ir::block(loop_ir::without_unused_lets(inner_counting));
    // Counting gathers nothing.
    counted.prefetch_distance = 0;
    few.push_back(loop_ir::make(std::move(expanding)));
    counting.push_back(loop_ir::make(std::move(counted)));
    return true;
  }

  /// Returns the expansion of a loop that adds a row to the workspace.
  std::optional<loop_ir::Expand> of_walk(const For& loop) {
    if (!loop.adds || loop.adds->set != occupancy_.array ||
        (!workspace_.empty() && loop.adds->sums != workspace_))
      return std::nullopt;
    // The coordinates are copied into the list of terms, so both have one width.
    if (element_of(loop.entries) != element_of(occupancy_.list)) return std::nullopt;
    // One arithmetic serves all terms of a row.
    if (!workspace_.empty() && terms_.arithmetic != loop.adds->arithmetic) return std::nullopt;
    terms_.arithmetic = loop.adds->arithmetic;
    workspace_ = loop.adds->sums;
    return loop_ir::Expand{terms_, loop.entries, loop.adds->values, loop.begin, loop.end, loop.adds->factor};
  }

  /// Returns the loop over occupied coordinates rewritten to read terms; null when it does more than read and
  /// clear its element.
  StatementPtr reading(const StatementPtr& statement) const {
    const auto* loop = as<For>(statement);
    if (loop == nullptr || loop->step != 1 || loop->entries != occupancy_.list) return nullptr;
    For after = *loop;
    after.entries = terms_.list;
    std::string coordinate;
    Statements statements;
    for (const auto& each : statements_of(loop->body)) {
      if (const auto* let = as<loop_ir::Let>(each)) {
        if (equal(let->value, loop_ir::load(occupancy_.list, loop_ir::name(loop->variable)))) {
          coordinate = let->name;
          statements.push_back(loop_ir::make(loop_ir::Let{
              coordinate, loop_ir::Type::index, loop_ir::load(terms_.list, loop_ir::name(loop->variable))}));
        } else {
          statements.push_back(
              loop_ir::make(loop_ir::Let{let->name, let->type, read(let->value, coordinate, *loop)}));
        }
      } else if (const auto* store = as<loop_ir::Store>(each)) {
        if (store->array == workspace_ && store->mode == loop_ir::Write::set && !coordinate.empty() &&
            is_name(store->index, coordinate))
          continue;  // clears the element
        auto value = *store;
        value.value = read(store->value, coordinate, *loop);
        statements.push_back(loop_ir::make(std::move(value)));
      } else if (as<loop_ir::SetCounter>(each) != nullptr) {
        statements.push_back(each);
      } else {
        return nullptr;
      }
    }
    after.body = loop_ir::block(std::move(statements));
    if (coordinate.empty() || uses_workspace(after.body)) return nullptr;
    return loop_ir::make(std::move(after));
  }

  bool uses_workspace(const StatementPtr& statement) const {
    loop_ir::Uses uses;
    collect_uses(statement, uses);
    const auto is_used = [&](const std::string& array) { return uses.arrays.count(array) > 0; };
    return is_used(workspace_) || is_used(occupancy_.list) || is_used(occupancy_.array);
  }

  /// Replaces loads of the workspace at `coordinate` by the sum of the terms.
  ExpressionPtr read(const ExpressionPtr& value, const std::string& coordinate, const For& loop) const {
    if (equal(value, loop_ir::load(workspace_, loop_ir::name(coordinate))))
      return loop_ir::load(terms_.values, loop_ir::name(loop.variable));
    const auto* apply = std::get_if<loop_ir::Apply>(&value->node);
    if (apply == nullptr) return value;
    auto after = *apply;
    for (auto& each : after.arguments) each = read(each, coordinate, loop);
    return std::make_shared<const loop_ir::Expression>(loop_ir::Expression{std::move(after)});
  }

  const loop_ir::Kernel& kernel_;
  loop_ir::Terms terms_;
  const std::string number_;  ///< counter: number of terms of the row
  loop_ir::Occupancy occupancy_;
  std::string workspace_;
};

/// Finds rows in the bodies of phases; at most one in each block of statements.
class RowExpansion {
 public:
  RowExpansion(loop_ir::Kernel& kernel, Names& names) : kernel_(kernel), names_(names) {}

  StatementPtr walk(const StatementPtr& statement) {
    const auto statements = statements_of(statement);
    for (std::size_t n = 0; n + 1 < statements.size(); ++n) {
      const auto* compact = as<loop_ir::Compact>(statements[n]);
      if (compact == nullptr) continue;
      const auto counter = std::find_if(statements.begin(), statements.end(), [&](const auto& each) {
        const auto* found = as<loop_ir::Counter>(each);
        return found != nullptr && found->name == compact->occupancy.count;
      });
      const auto first = static_cast<std::size_t>(counter - statements.begin());
      if (first >= n) continue;
      Row row(kernel_, {names_.fresh("t_list"), names_.fresh("t"), {}, {}}, names_.fresh("terms"));
      auto computed = row.result(statements, first, n);
      if (computed.empty()) continue;
      kernel_.arrays.push_back(row.list());
      kernel_.arrays.push_back(row.values());
      Statements all(statements.begin(), counter);
      all.insert(all.end(), computed.begin(), computed.end());
      all.insert(all.end(), statements.begin() + static_cast<std::ptrdiff_t>(n) + 2, statements.end());
      return loop_ir::block(std::move(all));
    }
    return loop_ir::map_loops(statement, [&](const For& x) {
      For loop = x;
      loop.body = walk(x.body);
      return loop_ir::make(std::move(loop));
    });
  }

 private:
  loop_ir::Kernel& kernel_;
  Names& names_;
};

}  // namespace

loop_ir::Kernel expand_rows(loop_ir::Kernel kernel, Names& names) {
  if (!loop_ir::widened_arrays(kernel).empty()) return kernel;  // the runtime reads operands as values
  for (auto& phase : kernel.phases) phase.body = RowExpansion(kernel, names).walk(phase.body);
  return kernel;
}

}  // namespace schaas::lower
