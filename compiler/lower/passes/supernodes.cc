#include "compiler/lower/passes/supernodes.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/loop_ir/entries.h"
#include "compiler/loop_ir/map_loops.h"
#include "compiler/loop_ir/result_rows.h"

// Splits the clustered case of a row that is added to a sparse accumulator (AddedRow) by the row's length.
// Long rows go to loop_ir::AddSupernode, which looks at run time for next rows with identical coordinates and
// advances the loop past them; it multiplies and adds. Short ones keep their walk, since coordinates are
// compared by whole vectors. Indices of several widths are left alone, which AddSupernode does not take.
namespace schaas::lower {
namespace {

using loop_ir::For;
using loop_ir::StatementPtr;
using operators::Function;

/// All of the arrays of indices have elements of one type.
bool has_one_width(const std::set<std::string>& arrays, const loop_ir::Kernel& kernel) {
  std::set<loop_ir::Element> elements;
  for (const loop_ir::Array& each : kernel.arrays)
    if (arrays.count(each.name) > 0) elements.insert(each.element);
  return elements.size() == 1;
}

/// Returns the statement that adds a clustered row and its like. Returns nothing where the row's number is
/// not the coordinate of the iteration.
std::optional<loop_ir::AddSupernode> supernode(const For& loop, const For& walk,
                                               const loop_ir::Kernel& kernel) {
  const auto* number = loop_ir::coordinate_let(loop);
  if (number == nullptr || !walk.adds || walk.adds->variant != loop_ir::AddedRow::Variant::clustered)
    return std::nullopt;
  const loop_ir::AddedRow& row = *walk.adds;
  if (row.arithmetic != loop_ir::RowArithmetic{}) return std::nullopt;
  if (row.at != loop.variable || !walk.row || walk.row->row != number->name) return std::nullopt;
  if (walk.row->positions.size() != 1) return std::nullopt;
  const std::string& positions = walk.row->positions.front();
  if (!has_one_width({loop.entries, positions, walk.entries}, kernel)) return std::nullopt;
  return loop_ir::AddSupernode{loop.variable, loop.entries, row.factors, loop.end, row.scale,
                               positions,     walk.entries, row.values,  row.sums, row.set};
}

/// Returns the statements of a loop over rows, with rows of a supernode added at once.
std::vector<StatementPtr> with_supernode(const For& loop, const loop_ir::Kernel& kernel) {
  std::vector<StatementPtr> statements;
  for (const auto& each : statements_of(loop.body)) {
    statements.push_back(each);
    const auto* branch = as<loop_ir::If>(each);
    const auto* walk = branch != nullptr ? as<For>(branch->body) : nullptr;
    const auto add = walk != nullptr ? supernode(loop, *walk, kernel) : std::nullopt;
    if (!add) continue;
    const auto count = loop_ir::subtract(walk->end, walk->begin);
    const auto is = [&](Function function) {
      const auto entries = loop_ir::integer(loop_ir::min_supernode_entries);
      return loop_ir::apply(Function::logical_and,
                            {branch->condition, loop_ir::apply(function, {count, entries})});
    };
    statements.back() = loop_ir::make(loop_ir::If{is(Function::greater_equal), loop_ir::make(*add)});
    statements.push_back(loop_ir::make(loop_ir::If{is(Function::less), branch->body}));
  }
  return statements;
}

StatementPtr with_supernodes(const StatementPtr& statement, const loop_ir::Kernel& kernel) {
  return loop_ir::map_loops(statement, [&](const For& x) {
    For loop = x;
    if (x.step == 1 && x.shape == loop_ir::Shape::scalar)
      loop.body = loop_ir::block(with_supernode(x, kernel));
    loop.body = with_supernodes(loop.body, kernel);
    return loop_ir::make(std::move(loop));
  });
}

}  // namespace

loop_ir::Kernel add_supernodes(loop_ir::Kernel kernel) {
  // The runtime reads operands as values and multiplies real ones.
  if (!loop_ir::widened_arrays(kernel).empty() || operators::is_complex(kernel.value_type)) return kernel;
  for (auto& phase : kernel.phases) phase.body = with_supernodes(phase.body, kernel);
  return kernel;
}

}  // namespace schaas::lower
