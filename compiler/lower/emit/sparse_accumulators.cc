#include "compiler/lower/emit/sparse_accumulators.h"

#include <algorithm>
#include <utility>

#include "compiler/lower/analysis/met_lists.h"

// Sparse accumulators (Gilbert, Moler, Schreiber, SIMAX 13, 1992; Kjolstad et al., CGO 2019, section 5.3):
// dense arrays with occupancy. Only elements written since the start are appended to a sparse result.
// Occupancy is a flag per element, or a bitmap from which a sorted list is compacted. Elements are reset
// while they are read, so that the next row starts clean at a cost proportional to its entries. The symbolic
// phase needs only the number of new elements and stores epochs, which are never reset. Rejected: appending
// to a list at first writes, which takes a branch at each write and a sort of each row.
namespace schaas::lower {

using loop_ir::ExpressionPtr;
using loop_ir::make;
using loop_ir::Step;
using loop_ir::Write;

namespace {

/// Elements are 0 until written, as in fresh scratch, and again after they are read. The first write then
/// needs no branch, which would often be mispredicted.
bool starts_clean(const Tensor& temporary) { return temporary.fill == 0; }

}  // namespace

void emit_start_values(int target, const ExpressionPtr& slot, const EmissionFacts& facts, Statements& out) {
  const Operand& use = facts.operand(target);
  const std::vector<int> rest(
      use.indices.begin() + static_cast<std::ptrdiff_t>(facts.tensor_of(target).occupancy_levels),
      use.indices.end());
  const auto size = facts.builder.extents.product(use.tensor, rest);
  const auto begin = loop_ir::multiply(slot, size);
  const std::string values = facts.builder.arrays.values(use.tensor);
  const auto start = loop_ir::number(facts.tensor_of(target).fill);
  if (rest.empty()) {
    out.push_back(make(loop_ir::Store{values, begin, Write::set, start}));
    return;
  }
  const std::string variable = facts.fresh("x");
  const auto body =
      make(loop_ir::Store{values, loop_ir::add(begin, loop_ir::name(variable)), Write::set, start});
  out.push_back(make(loop_ir::For{variable, loop_ir::integer(0), size, loop_ir::Shape::simd, body}));
}

void SparseAccumulators::declare_shared(const Branch& branch) {
  const int writer = target_of(branch.producer);
  const auto& indices = facts_.operand(writer).indices;
  const auto occupancy_levels = static_cast<std::ptrdiff_t>(facts_.tensor_of(writer).occupancy_levels);
  accumulators_[branch.temporary].flags = facts_.builder.shared.add_flags(
      branch.temporary, {indices.begin(), indices.begin() + occupancy_levels});
}

void SparseAccumulators::emit(const Branch& branch, Statements& out, const Part& produce,
                              const Part& consume) {
  const int writer = target_of(branch.producer);
  const auto& indices = facts_.operand(writer).indices;
  const std::vector<int> occupancy_levels(
      indices.begin(),
      indices.begin() + static_cast<std::ptrdiff_t>(facts_.tensor_of(writer).occupancy_levels));
  const bool appended = facts_.appends_to(target_of(branch.consumer));
  // The form is the first that fits: a table, epochs, flags of several levels, a bitmap with a list.
  SparseAccumulator& accumulator = accumulators_[branch.temporary];
  accumulator = {};
  if (facts_.tensor_of(writer).hashed) return tables_.emit(branch, accumulator, out, produce, consume);
  const auto* outermost = std::get_if<Loop>(&branch.consumer->node);
  if (facts_.step == Step::symbolic && appended && occupancy_levels.size() == 1 && outermost != nullptr &&
      occupied_walk(branch, facts_.tree) == outermost && appends_all(*outermost, branch.temporary))
    return emit_counted(branch, occupancy_levels, out, produce);
  facts_.builder.scratch.add_values(branch.temporary, indices);
  if (occupancy_levels.size() != 1) {
    accumulator.flags = facts_.builder.scratch.add_flags(branch.temporary, occupancy_levels);
    produce();
    return consume();
  }
  accumulator.list = facts_.builder.scratch.add_list(branch.temporary, occupancy_levels);
  accumulator.count = facts_.fresh("n");
  accumulator.flags = facts_.builder.scratch.add_occupancy(branch.temporary, occupancy_levels);
  accumulator.extent = facts_.builder.extents.product(branch.temporary, occupancy_levels);
  out.push_back(make(loop_ir::Counter{accumulator.count, loop_ir::integer(0)}));
  produce();
  out.push_back(make(loop_ir::Compact{accumulator.occupancy()}));
  if (facts_.step != Step::compute || !starts_clean(facts_.tensor_of(writer))) return consume();
  // The loop that reads the elements resets them; where there is none, a loop of its own does.
  accumulator.writer = writer;
  accumulator.reader = std::get_if<Loop>(&branch.consumer->node);
  consume();
  if (accumulator.writer >= 0) emit_clean(accumulator, out);
}

/// Counts written elements. Each element holds the epoch of the iteration that wrote it last instead of a
/// flag. Nothing is reset: epochs of one thread never repeat.
void SparseAccumulators::emit_counted(const Branch& branch, const std::vector<int>& occupancy_levels,
                                      Statements& out, const Part& produce) {
  SparseAccumulator& accumulator = accumulators_[branch.temporary];
  accumulator.flags = facts_.builder.scratch.add_epochs(branch.temporary, occupancy_levels);
  accumulator.count = facts_.fresh("n");
  accumulator.epoch = facts_.fresh("epoch");
  const std::string last = facts_.builder.scratch.add_last_epoch(branch.temporary);
  const auto next = loop_ir::add(loop_ir::load(last, loop_ir::integer(0)), loop_ir::integer(1));
  out.push_back(make(loop_ir::Let{accumulator.epoch, loop_ir::Type::index, next}));
  out.push_back(
      make(loop_ir::Store{last, loop_ir::integer(0), Write::set, loop_ir::name(accumulator.epoch)}));
  out.push_back(make(loop_ir::Counter{accumulator.count, loop_ir::integer(0)}));
  produce();
  appends_.add_to_count(loop_ir::name(accumulator.count), out);
}

void SparseAccumulators::emit_clean(const SparseAccumulator& accumulator, Statements& out) {
  const std::string slot = facts_.fresh("p");
  Statements reset;
  emit_start_values(accumulator.writer, loop_ir::load(accumulator.list, loop_ir::name(slot)), facts_, reset);
  out.push_back(make(loop_ir::For{slot, loop_ir::integer(0), loop_ir::name(accumulator.count),
                                  loop_ir::Shape::scalar, loop_ir::block(std::move(reset))}));
}

/// Returns the index of one use in the occupancy levels.
ExpressionPtr SparseAccumulators::occupancy_index(const Operand& use, const Scope& scope) const {
  const Tensor& temporary = facts_.tree.tensors[static_cast<std::size_t>(use.tensor)];
  ExpressionPtr slot;
  for (int level = 0; level < temporary.occupancy_levels; ++level) {
    const int index = use.indices[static_cast<std::size_t>(level)];
    const auto coordinate = loop_ir::name(scope.coordinates.at(index));
    slot = slot ? loop_ir::add(loop_ir::multiply(slot, facts_.builder.extents.of(index)), coordinate)
                : coordinate;
  }
  return slot;
}

void SparseAccumulators::emit_insert(int target, Scope& scope, Statements& out) {
  if (facts_.tensor_of(target).hashed)
    return tables_.emit_insert(accumulators_.at(facts_.operand(target).tensor), target, scope, out);
  const Operand& use = facts_.operand(target);
  const SparseAccumulator& accumulator = accumulators_.at(use.tensor);
  const std::string slot = facts_.fresh("o");
  out.push_back(make(loop_ir::Let{slot, loop_ir::Type::index, occupancy_index(use, scope)}));
  const auto at_slot = loop_ir::name(slot);
  if (!accumulator.epoch.empty()) return emit_epoch(accumulator, at_slot, out);
  Statements first;
  if (accumulator.list.empty()) {
    first.push_back(make(loop_ir::Store{accumulator.flags, at_slot, Write::set, loop_ir::integer(1)}));
  } else {
    first.push_back(make(loop_ir::Occupy{accumulator.occupancy(), at_slot}));
    if (facts_.step == Step::symbolic || starts_clean(facts_.tensor_of(target))) {
      out.insert(out.end(), first.begin(), first.end());
      return;
    }
  }
  if (facts_.step == Step::compute) emit_start_values(target, at_slot, facts_, first);
  const auto unset = loop_ir::apply(operators::Function::equal,
                                    {loop_ir::load(accumulator.flags, at_slot), loop_ir::integer(0)});
  out.push_back(make(loop_ir::If{unset, loop_ir::block(std::move(first))}));
}

std::string SparseAccumulators::clean_bitmap_of(int temporary) const {
  const auto found = accumulators_.find(temporary);
  const Tensor& tensor = facts_.tree.tensors[static_cast<std::size_t>(temporary)];
  // Elements of a block are occupied at their offset in it.
  if (found == accumulators_.end() || found->second.list.empty() || tensor.hashed || !starts_clean(tensor) ||
      !tensor.blocks.empty())
    return "";
  return found->second.flags;
}

void SparseAccumulators::occupy_by_groups(const loop_ir::For& walk, const std::string& coordinates,
                                          const std::string& coordinate, Statements& out) const {
  using operators::Function;
  auto inside = loop_ir::statements_of(walk.body);
  std::string slot;  // the `let` of the coordinate
  const auto found = std::find_if(inside.begin(), inside.end(), [&](const loop_ir::StatementPtr& each) {
    const auto* let = std::get_if<loop_ir::Let>(&each->node);
    if (let != nullptr && equal(let->value, loop_ir::name(coordinate))) slot = let->name;
    const auto* occupy = std::get_if<loop_ir::Occupy>(&each->node);
    return occupy != nullptr && !slot.empty() && equal(occupy->index, loop_ir::name(slot));
  });
  if (found == inside.end()) return out.push_back(make(walk));
  const loop_ir::Occupancy occupancy = std::get<loop_ir::Occupy>((*found)->node).occupancy;
  *found = make(loop_ir::Store{occupancy.array, loop_ir::name(slot), Write::set,
                               loop_ir::integer(loop_ir::occupied_byte)});
  loop_ir::For clustered_walk = walk, scattered_walk = walk;
  if (walk.adds) {
    clustered_walk.adds->variant = loop_ir::AddedRow::Variant::clustered;
    scattered_walk.adds->variant = loop_ir::AddedRow::Variant::scattered;
  }
  clustered_walk.body = loop_ir::block(std::move(inside));
  const std::string clustered = facts_.fresh("clustered");
  const auto last = loop_ir::add(walk.end, loop_ir::integer(-1));
  const auto far = loop_ir::apply(Function::equal, {loop_ir::name(clustered), loop_ir::integer(0)});
  out.push_back(
      make(loop_ir::OccupyGroups{clustered, occupancy, loop_ir::load(coordinates, walk.begin),
                                 loop_ir::load(coordinates, last), loop_ir::subtract(walk.end, walk.begin)}));
  out.push_back(make(loop_ir::If{loop_ir::name(clustered), make(std::move(clustered_walk))}));
  out.push_back(make(loop_ir::If{far, make(std::move(scattered_walk))}));
}

/// Counts an element without a branch, which would often be mispredicted.
void SparseAccumulators::emit_epoch(const SparseAccumulator& accumulator, const ExpressionPtr& element,
                                    Statements& out) {
  const auto epoch = loop_ir::name(accumulator.epoch);
  const auto is_new =
      loop_ir::apply(operators::Function::not_equal, {loop_ir::load(accumulator.flags, element), epoch});
  out.push_back(
      make(loop_ir::SetCounter{accumulator.count, loop_ir::add(loop_ir::name(accumulator.count), is_new)}));
  out.push_back(make(loop_ir::Store{accumulator.flags, element, Write::set, epoch}));
}

/// Returns the use of a temporary whose last occupancy level the loop binds, read below it, or -1.
int SparseAccumulators::occupied_read(const NestPtr& body, int index) const {
  if (!is_chain(body)) return -1;
  for (const int number : factors_below(body, facts_.tree)) {
    const int occupancy_levels = facts_.tensor_of(number).occupancy_levels;
    if (occupancy_levels > 0 && level_of(facts_.operand(number), index) == occupancy_levels - 1)
      return number;
  }
  return -1;
}

/// The loop appends an entry for each element of this temporary. It walks the list of no other one, and looks
/// for no coordinate that lists have in common.
bool SparseAccumulators::appends_all(const Loop& loop, int temporary) const {
  const int read = occupied_read(loop.body, loop.index);
  const bool walks_another = read >= 0 && facts_.operand(read).tensor != temporary;
  return !walks_another && !met_lists(loop, facts_.tree);
}

bool SparseAccumulators::emit_list_loop(const Loop& loop, const Scope& scope, Statements& out,
                                        const Body& body) {
  const int read = occupied_read(loop.body, loop.index);
  if (read < 0) return false;
  SparseAccumulator& accumulator = accumulators_.at(facts_.operand(read).tensor);
  if (accumulator.list.empty()) return false;
  const std::string slot = facts_.fresh("p" + facts_.letter_of(loop.index));
  const std::string coordinate = facts_.fresh(facts_.letter_of(loop.index));
  Statements statements;
  statements.push_back(make(
      loop_ir::Let{coordinate, loop_ir::Type::index, loop_ir::load(accumulator.list, loop_ir::name(slot))}));
  Scope inner = scope;
  if (!accumulator.keys.empty()) tables_.emit_read(accumulator, read, coordinate, inner, statements);
  const int writer = accumulator.reader == &loop ? std::exchange(accumulator.writer, -1) : -1;
  const Body whole = [&](Scope& below, Statements& read_here) {
    body(below, read_here);
    if (writer >= 0) emit_start_values(writer, loop_ir::name(coordinate), facts_, read_here);
  };
  const auto inside = levels_.loop_body(loop, {}, std::move(inner), coordinate, std::move(statements), whole);
  loop_ir::For entries{slot, loop_ir::integer(0), loop_ir::name(accumulator.count), loop_ir::Shape::scalar,
                       inside};
  entries.entries = accumulator.list;
  out.push_back(make(std::move(entries)));
  return true;
}

Body SparseAccumulators::with_flag(const Loop& loop, const Body& body) {
  const int read = occupied_read(loop.body, loop.index);
  if (read < 0 || !accumulators_.at(facts_.operand(read).tensor).list.empty()) return body;
  return [this, body, read](Scope& scope, Statements& out) {
    const SparseAccumulator& accumulator = accumulators_.at(facts_.operand(read).tensor);
    const auto slot = occupancy_index(facts_.operand(read), scope);
    Statements inside;
    if (facts_.builder.arrays.is_private(accumulator.flags))
      inside.push_back(make(loop_ir::Store{accumulator.flags, slot, Write::set, loop_ir::integer(0)}));
    body(scope, inside);
    out.push_back(
        make(loop_ir::If{loop_ir::load(accumulator.flags, slot), loop_ir::block(std::move(inside))}));
  };
}

}  // namespace schaas::lower
