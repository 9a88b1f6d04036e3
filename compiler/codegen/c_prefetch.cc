#include "compiler/codegen/c_prefetch.h"

#include <algorithm>
#include <set>

#include "compiler/loop_ir/entries.h"
#include "compiler/loop_ir/uses.h"
#include "compiler/support/result.h"

// Finds the loads of a loop over entries that depend on the entry's coordinate. The printer repeats the
// chain of lets from the coordinate to these loads for an entry further on (c_vector_loops.cc).
namespace schaas::codegen {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::Match;

void collect_loads(const ExpressionPtr& expression, const std::set<std::string>& at,
                   std::vector<loop_ir::Load>& loads) {
  std::visit(Match{
                 [&](const loop_ir::Load& x) {
                   // Each element is prefetched once.
                   const bool known = std::any_of(loads.begin(), loads.end(), [&](const auto& each) {
                     return each.array == x.array && equal(each.index, x.index);
                   });
                   if (!known && mentions(x.index, at)) loads.push_back(x);
                 },
                 [&](const loop_ir::Apply& x) {
                   for (const auto& each : x.arguments) collect_loads(each, at, loads);
                 },
                 [](const auto&) {},
             },
             expression->node);
}

void collect_prefetched(const loop_ir::StatementPtr& statement, std::set<std::string>& arrays) {
  std::visit(Match{
                 [&](const loop_ir::Block& x) {
                   for (const auto& each : x.statements) collect_prefetched(each, arrays);
                 },
                 [&](const loop_ir::If& x) { collect_prefetched(x.body, arrays); },
                 [&](const loop_ir::For& x) {
                   collect_prefetched(x.body, arrays);
                   if (x.prefetch_distance == 0) return;
                   for (const auto& load : gathered(x).loads) arrays.insert(load.array);
                 },
                 [](const auto&) {},
             },
             statement->node);
}

}  // namespace

std::set<std::string> prefetched_arrays(const loop_ir::StatementPtr& statement) {
  std::set<std::string> arrays;
  collect_prefetched(statement, arrays);
  return arrays;
}

Gathered gathered(const loop_ir::For& loop) {
  const loop_ir::Let* coordinate = loop_ir::coordinate_let(loop);
  SCHAAS_CHECK(coordinate != nullptr, "a loop with prefetches but without coordinates");
  Gathered found{std::get<loop_ir::Load>(coordinate->value->node).array, {*coordinate}, {}};
  // Lets stand before their uses, so one walk follows the chain.
  std::set<std::string> derived{coordinate->name};
  for (const auto& each : statements_of(loop.body)) {
    const auto* let = std::get_if<loop_ir::Let>(&each->node);
    if (let != nullptr && let->type != loop_ir::Type::index) collect_loads(let->value, derived, found.loads);
    if (let != nullptr && let->type == loop_ir::Type::index && mentions(let->value, derived)) {
      derived.insert(let->name);
      found.indices.push_back(*let);
    }
    if (const auto* fold = std::get_if<loop_ir::Accumulate>(&each->node))
      collect_loads(fold->value, derived, found.loads);
  }
  return found;
}

}  // namespace schaas::codegen
