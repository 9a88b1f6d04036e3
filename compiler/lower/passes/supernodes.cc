#include "compiler/lower/passes/supernodes.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop_ir/map_loops.h"
#include "compiler/loop_ir/uses.h"
#include "compiler/lower/analysis/row_walk.h"

// Matches loops over rows that are added to a clustered row of a sparse accumulator. The clustered case is
// split by the row's length. Long rows go to loop_ir::AddSupernode, which looks at run time for next rows
// with identical coordinates and advances the loop past them. Short ones keep their walk, since coordinates
// are compared by whole vectors. A statement of another form leaves the loop as it is, and so do indices of
// several widths, which AddSupernode does not take.
namespace schaas::lower {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::For;
using loop_ir::StatementPtr;
using operators::Function;

/// Returns the load, or null.
const loop_ir::Load* load_of(const ExpressionPtr& expression) {
  return std::get_if<loop_ir::Load>(&expression->node);
}

/// A loop over the positions of rows that are added.
class SupernodeRows {
 public:
  SupernodeRows(const For& loop, const loop_ir::Kernel& kernel) : loop_(loop), kernel_(kernel) {}

  /// Returns the loop with rows of a supernode added at once, or the loop unchanged.
  For result() {
    std::vector<StatementPtr> statements;
    declared_.insert(loop_.variable);
    for (const auto& each : statements_of(loop_.body)) {
      statements.push_back(each);
      if (const auto* let = as<loop_ir::Let>(each)) {
        declared_.insert(let->name);
        lets_.emplace(let->name, let->value);
      } else if (const auto* groups = as<loop_ir::OccupyGroups>(each)) {
        clustered_ = groups->clustered;
        set_ = groups->occupancy.array;
      } else if (const auto* branch = as<loop_ir::If>(each)) {
        // A condition before the clustered case is of another form.
        if (clustered_.empty()) return loop_;
        if (!is_name(branch->condition, clustered_)) continue;
        const auto add = clustered(branch->body);
        if (!add) return loop_;
        const auto& walk = std::get<For>(branch->body->node);
        const auto count = loop_ir::subtract(walk.end, walk.begin);
        const auto is = [&](Function function) {
          return loop_ir::apply(
              Function::logical_and,
              {branch->condition,
               loop_ir::apply(function, {count, loop_ir::integer(loop_ir::min_supernode_entries)})});
        };
        statements.back() = loop_ir::make(loop_ir::If{is(Function::greater_equal), loop_ir::make(*add)});
        statements.push_back(loop_ir::make(loop_ir::If{is(Function::less), branch->body}));
        found_ = true;
      } else {
        return loop_;
      }
    }
    if (!found_) return loop_;
    For after = loop_;
    after.body = loop_ir::block(std::move(statements));
    return after;
  }

 private:
  /// Returns the statement that adds the row and its like, or nothing where the walk has another form.
  std::optional<loop_ir::AddSupernode> clustered(const StatementPtr& body) const {
    const auto* walk = as<For>(body);
    if (walk == nullptr) return std::nullopt;
    loop_ir::AddSupernode add;
    add.variable = loop_.variable;
    add.end = loop_.end;
    add.set = set_;
    // Matches the row's number, its begin and its end.
    const auto* begin = load_of(walk->begin);
    const auto* row = begin ? std::get_if<loop_ir::Name>(&begin->index->node) : nullptr;
    if (row == nullptr || lets_.count(row->name) == 0 ||
        !equal(walk->end,
               loop_ir::load(begin->array, loop_ir::add(loop_ir::name(row->name), loop_ir::integer(1)))))
      return std::nullopt;
    const auto* rows = load_of(lets_.at(row->name));
    if (rows == nullptr || !is_name(rows->index, loop_.variable)) return std::nullopt;
    add.positions = begin->array;
    add.rows = rows->array;
    return with_sums(std::move(add), *walk);
  }

  /// Matches the walk over a row: it occupies each coordinate and adds a product there.
  std::optional<loop_ir::AddSupernode> with_sums(loop_ir::AddSupernode add, const For& loop) const {
    const auto walk = row_walk(loop, [&](const StatementPtr& each) -> const loop_ir::Expression* {
      const auto* occupy = as<loop_ir::Store>(each);
      return occupy != nullptr && occupy->array == add.set && occupy->mode == loop_ir::Write::set
                 ? occupy->index.get()
                 : nullptr;
    });
    if (!walk || !split(walk->sum->value, loop, add)) return std::nullopt;
    add.coordinates = walk->coordinates;
    add.sums = walk->sum->array;
    if (!has_one_width({add.rows, add.positions, add.coordinates})) return std::nullopt;
    return add;
  }

  /// All of the arrays of indices have elements of one type, as the statement wants.
  bool has_one_width(const std::set<std::string>& arrays) const {
    std::set<loop_ir::Element> elements;
    for (const loop_ir::Array& each : kernel_.arrays)
      if (arrays.count(each.name) > 0) elements.insert(each.element);
    return elements.size() == 1;
  }

  /// Matches scale * factors[position] * values[entry], the first two as a name.
  bool split(const ExpressionPtr& value, const For& walk, loop_ir::AddSupernode& add) const {
    const auto* product = arguments_of(value, Function::multiply);
    if (product == nullptr || product->size() != 2) return false;
    const auto* known = std::get_if<loop_ir::Name>(&product->front()->node);
    const auto* entry = load_of(product->back());
    if (known == nullptr || entry == nullptr || !is_name(entry->index, walk.variable)) return false;
    add.values = entry->array;
    const auto let = lets_.find(known->name);
    if (let == lets_.end()) return false;
    add.scale = loop_ir::number(1);
    ExpressionPtr factor = let->second;
    if (const auto* factors = arguments_of(factor, Function::multiply)) {
      if (factors->size() != 2 || loop_ir::mentions(factors->front(), declared_)) return false;
      add.scale = factors->front();
      factor = factors->back();
    }
    const auto* load = load_of(factor);
    if (load == nullptr || !is_name(load->index, loop_.variable)) return false;
    add.factors = load->array;
    return true;
  }

  const For& loop_;
  const loop_ir::Kernel& kernel_;
  std::map<std::string, ExpressionPtr> lets_;
  std::set<std::string> declared_;
  std::string clustered_, set_;
  bool found_ = false;
};

StatementPtr with_supernodes(const StatementPtr& statement, const loop_ir::Kernel& kernel) {
  return loop_ir::map_loops(statement, [&](const For& x) {
    For loop = x.step == 1 && x.shape == loop_ir::Shape::scalar ? SupernodeRows(x, kernel).result() : x;
    loop.body = with_supernodes(loop.body, kernel);
    return loop_ir::make(std::move(loop));
  });
}

}  // namespace

loop_ir::Kernel add_supernodes(loop_ir::Kernel kernel) {
  if (operators::is_narrow(kernel.value_type)) return kernel;  // the runtime reads operands as values
  for (auto& phase : kernel.phases) phase.body = with_supernodes(phase.body, kernel);
  return kernel;
}

}  // namespace schaas::lower
