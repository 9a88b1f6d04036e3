#include "compiler/lower/passes/coalesce_rows.h"

#include <algorithm>
#include <set>
#include <string>
#include <variant>

#include "compiler/loop_ir/substitute.h"
#include "compiler/loop_ir/traversal.h"
#include "compiler/loop_ir/uses.h"
#include "compiler/loop_ir/vector_form.h"

// Loops are coalesced from the innermost one outwards, so that a nest over several compressed levels becomes
// one loop over the entries of the last. Legal since positions of a level ascend without gaps: the entries of
// a row end where those of the next one begin. Only the order of summation changes.
namespace schaas::lower {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::For;
using loop_ir::StatementPtr;

std::set<std::string> positions_in(const loop_ir::Kernel& kernel) {
  std::set<std::string> arrays;
  for (const auto& array : kernel.arrays)
    if (std::holds_alternative<loop_ir::Positions>(array.origin)) arrays.insert(array.name);
  return arrays;
}

/// The expression is the row, or the first position below it of one level after another.
bool begins_at(const ExpressionPtr& expression, const std::string& row,
               const std::set<std::string>& positions) {
  if (is_name(expression, row)) return true;
  const auto* load = std::get_if<loop_ir::Load>(&expression->node);
  return load != nullptr && positions.count(load->array) > 0 && begins_at(load->index, row, positions);
}

/// The inner loop of each iteration begins where that of the iteration before ends.
bool adjoin(const For& rows, const For& entries, const std::set<std::string>& positions) {
  const auto next = loop_ir::add(loop_ir::name(rows.variable), loop_ir::integer(1));
  return !is_name(entries.begin, rows.variable) && begins_at(entries.begin, rows.variable, positions) &&
         equal(entries.end, substitute(entries.begin, {{rows.variable, next}}));
}

bool walks_in_order(const For& loop) {
  return loop.shape == loop_ir::Shape::scalar && loop.step == 1 && loop.unroll == 1;
}

/// The iterations fold values, in which the row does not occur, into accumulators.
bool folds_alone(const std::vector<StatementPtr>& body, const std::string& row) {
  return std::all_of(body.begin(), body.end(), [&](const StatementPtr& each) {
    loop_ir::Uses uses;
    collect_uses(each, uses);
    return uses.names.count(row) == 0 && loop_ir::is_any<loop_ir::Let, loop_ir::Accumulate>(each);
  });
}

bool in_vectors(const std::vector<StatementPtr>& body, const std::string& variable) {
  return std::all_of(body.begin(), body.end(), [&](const StatementPtr& each) {
    const auto* fold = as<loop_ir::Accumulate>(each);
    return fold != nullptr && loop_ir::is_vector_value(fold->value, variable, {variable});
  });
}

StatementPtr coalesced(const StatementPtr& statement, const std::set<std::string>& positions) {
  const StatementPtr inside =
      map_children(statement, [&](const StatementPtr& each) { return coalesced(each, positions); });
  const auto* rows = as<For>(inside);
  const auto* entries = rows == nullptr ? nullptr : as<For>(rows->body);
  if (entries == nullptr || !walks_in_order(*rows) || entries->shape == loop_ir::Shape::vector ||
      entries->step != 1 || !adjoin(*rows, *entries, positions))
    return inside;
  const auto body = loop_ir::without_unused_lets(statements_of(entries->body));
  if (!folds_alone(body, rows->variable)) return inside;
  For whole = *entries;
  whole.begin = substitute(entries->begin, {{rows->variable, rows->begin}});
  whole.end = substitute(entries->begin, {{rows->variable, rows->end}});
  whole.body = loop_ir::block(body);
  if (in_vectors(body, whole.variable)) whole.shape = loop_ir::Shape::simd;
  return make(std::move(whole));
}

}  // namespace

loop_ir::Kernel coalesce_rows(loop_ir::Kernel kernel) {
  const auto positions = positions_in(kernel);
  for (auto& phase : kernel.phases) phase.body = coalesced(phase.body, positions);
  return kernel;
}

}  // namespace schaas::lower
