#include "compiler/loop_ir/uses.h"

#include <algorithm>

#include "compiler/loop_ir/traversal.h"

// Names and arrays that code mentions, for passes that move, copy or drop statements. Collection is flat: a
// name that is declared again does so only out of sight of the first (README.md), so no scopes are kept. A
// declaration alone is no use: names count where they are read or written.
namespace schaas::loop_ir {

void collect_uses(const ExpressionPtr& expression, Uses& uses) {
  std::visit(Match{
                 [](const Integer&) {},
                 [](const Number&) {},
                 [&](const Name& x) { uses.names.insert(x.name); },
                 [&](const Load& x) {
                   uses.arrays.insert(x.array);
                   collect_uses(x.index, uses);
                 },
                 [&](const Apply& x) {
                   for (const auto& each : x.arguments) collect_uses(each, uses);
                 },
                 [&](const Choose& x) {
                   for (const auto& part : {x.condition, x.then, x.otherwise}) collect_uses(part, uses);
                 },
                 [&](const Search& x) {
                   uses.arrays.insert(x.array);
                   for (const auto& part : {x.begin, x.end, x.key}) collect_uses(part, uses);
                 },
                 [&](const Convert& x) { collect_uses(x.index, uses); },
             },
             expression->node);
}

namespace {

/// Collects an occupancy map: two arrays, the counter, and the names of the extent.
void collect_occupancy(const Occupancy& occupancy, Uses& uses) {
  uses.arrays.insert({occupancy.array, occupancy.list});
  uses.names.insert(occupancy.count);
  collect_uses(occupancy.extent, uses);
}

void collect_terms(const Terms& terms, Uses& uses) {
  uses.arrays.insert({terms.list, terms.values});
  uses.names.insert(terms.count);
}

}  // namespace

/// Visits parts of a statement explicitly, since each kind names its expressions and arrays differently.
void collect_uses(const StatementPtr& statement, Uses& uses) {
  std::visit(Match{
                 [&](const Block& x) {
                   for (const auto& each : x.statements) collect_uses(each, uses);
                 },
                 [&](const Let& x) { collect_uses(x.value, uses); },
                 [](const Accumulator&) {},
                 [&](const Accumulate& x) {
                   uses.names.insert(x.name);
                   collect_uses(x.value, uses);
                 },
                 [&](const Store& x) {
                   uses.arrays.insert(x.array);
                   collect_uses(x.index, uses);
                   collect_uses(x.value, uses);
                 },
                 [&](const If& x) {
                   collect_uses(x.condition, uses);
                   collect_uses(x.body, uses);
                 },
                 [&](const Counter& x) { collect_uses(x.initial, uses); },
                 [&](const SetCounter& x) {
                   uses.names.insert(x.name);
                   collect_uses(x.value, uses);
                 },
                 [&](const For& x) {
                   collect_uses(x.begin, uses);
                   collect_uses(x.end, uses);
                   collect_uses(x.body, uses);
                 },
                 [&](const Merge& x) {
                   for (const auto& cursor : x.cursors) {
                     if (!cursor.coordinates.empty()) uses.arrays.insert(cursor.coordinates);
                     collect_uses(cursor.begin, uses);
                     collect_uses(cursor.end, uses);
                   }
                   if (x.over) {
                     collect_uses(x.over->begin, uses);
                     collect_uses(x.over->end, uses);
                   }
                   collect_uses(x.body, uses);
                 },
                 [&](const Fill& x) {
                   uses.arrays.insert(x.array);
                   collect_uses(x.begin, uses);
                   collect_uses(x.count, uses);
                   collect_uses(x.value, uses);
                 },
                 [&](const Prefetch& x) {
                   uses.arrays.insert(x.array);
                   collect_uses(x.index, uses);
                 },
                 [](const Overflow&) {},
                 [&](const Sort& x) {
                   uses.arrays.insert(x.array);
                   collect_uses(x.begin, uses);
                   collect_uses(x.end, uses);
                 },
                 [&](const Occupy& x) {
                   collect_occupancy(x.occupancy, uses);
                   collect_uses(x.index, uses);
                 },
                 [&](const OccupyGroups& x) {
                   collect_occupancy(x.occupancy, uses);
                   for (const auto& each : {x.first, x.last, x.times}) collect_uses(each, uses);
                 },
                 [&](const Compact& x) { collect_occupancy(x.occupancy, uses); },
                 [&](const Expand& x) {
                   collect_terms(x.terms, uses);
                   uses.arrays.insert({x.coordinates, x.values});
                   for (const auto& each : {x.begin, x.end, x.scale}) collect_uses(each, uses);
                 },
                 [&](const Compress& x) { collect_terms(x.terms, uses); },
                 [&](const AddSupernode& x) {
                   // The statement reads and advances the loop's variable.
                   uses.names.insert(x.variable);
                   uses.arrays.insert({x.rows, x.factors, x.sums, x.set});
                   uses.arrays.insert({x.positions, x.coordinates, x.values});
                   for (const auto& each : {x.end, x.scale}) collect_uses(each, uses);
                 },
                 [&](const GroupStore& x) {
                   uses.arrays.insert(x.array);
                   collect_uses(x.index, uses);
                   collect_uses(x.value, uses);
                 },
                 [&](const Deferred& x) { uses.arrays.insert(x.array); },
                 [&](const Defer& x) {
                   uses.names.insert(x.name);
                   collect_uses(x.index, uses);
                   collect_uses(x.value, uses);
                 },
                 [&](const Flush& x) { uses.names.insert(x.name); },
                 [&](const Stage& x) {
                   for (const auto& copy : x.copies) uses.arrays.insert({copy.to, copy.from});
                   collect_uses(x.begin, uses);
                   collect_uses(x.count, uses);
                 },
             },
             statement->node);
}

void collect_declared(const StatementPtr& statement, std::set<std::string>& names) {
  for_each_statement(statement, [&](const StatementPtr& each) {
    std::visit(Match{
                   [&](const Let& x) { names.insert(x.name); },
                   [&](const Accumulator& x) { names.insert(x.name); },
                   [&](const Counter& x) { names.insert(x.name); },
                   [&](const For& x) { names.insert(x.variable); },
                   [&](const Merge& x) {
                     names.insert(x.variable);
                     // An absent name is empty, which no identifier is.
                     for (const auto& cursor : x.cursors)
                       names.insert({cursor.position, cursor.present, cursor.until});
                   },
                   [&](const OccupyGroups& x) { names.insert(x.clustered); },
                   [&](const Deferred& x) { names.insert(x.name); },
                   [](const auto&) {},
               },
               each->node);
  });
}

/// Walks backwards, so that a let goes, too, when only lets that go use it.
std::vector<StatementPtr> without_unused_lets(const std::vector<StatementPtr>& statements) {
  Uses below;
  std::vector<StatementPtr> kept;
  for (auto each = statements.rbegin(); each != statements.rend(); ++each) {
    const auto* let = as<Let>(*each);
    // Nothing below uses the let; its value then uses nothing either.
    if (let != nullptr && below.names.count(let->name) == 0) continue;
    collect_uses(*each, below);
    kept.push_back(*each);
  }
  return {kept.rbegin(), kept.rend()};
}

bool mentions(const ExpressionPtr& expression, const std::set<std::string>& names) {
  Uses uses;
  collect_uses(expression, uses);
  return std::any_of(uses.names.begin(), uses.names.end(),
                     [&](const auto& name) { return names.count(name) > 0; });
}

}  // namespace schaas::loop_ir
