#include <algorithm>
#include <utility>

#include "compiler/lower/emit/emitter.h"

// Sparse accumulators (Gilbert, Moler, Schreiber, SIMAX 13, 1992; Kjolstad et al., CGO 2019, section 5.3):
// dense arrays with occupancy. Only elements written since the start are appended to a sparse result.
// Occupancy is a flag per element, or a bitmap from which a sorted list is compacted. Elements are reset
// while they are read, so that the next row starts clean at a cost proportional to its entries. The symbolic
// phase needs only the number of new elements and stores epochs, which are never reset. Rejected: appending
// to a list at first writes, which takes a branch at each write and a sort of each row.
namespace schaas::lower {

using loop_ir::ExpressionPtr;
using loop_ir::make;
using loop_ir::Match;
using loop_ir::Step;
using loop_ir::Write;

/// The result's entries come in the order of coordinates, else in that of first writes.
bool Emitter::is_ordered(int target) const {
  const auto& levels = tensor_of(target).levels;
  return std::all_of(levels.begin(), levels.end(), format::is_ordered);
}

bool Emitter::tracks(int target) const { return tensor_of(target).occupancy_levels > 0; }

bool Emitter::sums_in_register(int target) const {
  return !tracks(target) || !appends_to(target_of(tree_.root));
}

void Emitter::emit_accumulator(const Branch& branch, Statements& out, const std::function<void()>& produce,
                               const std::function<void()>& consume) {
  const int writer = target_of(branch.producer);
  const auto& indices = operand(writer).indices;
  const std::vector<int> occupancy_levels(
      indices.begin(), indices.begin() + static_cast<std::ptrdiff_t>(tensor_of(writer).occupancy_levels));
  const bool appended = appends_to(target_of(branch.consumer));
  // The form is the first that fits: a table, epochs, flags of several levels, a bitmap with a list.
  SparseAccumulator& accumulator = accumulators_[branch.temporary];
  accumulator = {};
  if (tensor_of(writer).hashed) return emit_table(branch, out, produce, consume);
  const auto* outermost = std::get_if<Loop>(&branch.consumer->node);
  if (step_ == Step::symbolic && appended && occupancy_levels.size() == 1 &&
      occupied_walk(branch, tree_) == outermost)
    return emit_counted(branch, occupancy_levels, out, produce);
  builder_.add_scratch(branch.temporary, indices);
  if (occupancy_levels.size() != 1) {
    accumulator.flags = builder_.add_flags(branch.temporary, occupancy_levels);
    produce();
    return consume();
  }
  accumulator.list = builder_.add_list(branch.temporary, occupancy_levels);
  accumulator.count = builder_.names().fresh("n");
  accumulator.flags = builder_.add_occupancy(branch.temporary, occupancy_levels);
  accumulator.extent = builder_.extents(branch.temporary, occupancy_levels);
  out.push_back(make(loop_ir::Counter{accumulator.count, loop_ir::integer(0)}));
  produce();
  out.push_back(make(loop_ir::Compact{accumulator.occupancy()}));
  if (step_ != Step::compute || !starts_clean(writer)) return consume();
  // The loop that reads the elements resets them; where there is none, a loop of its own does.
  accumulator.writer = writer;
  accumulator.reader = std::get_if<Loop>(&branch.consumer->node);
  consume();
  if (accumulator.writer >= 0) emit_clean(accumulator, out);
}

/// Counts written elements. Each element holds the epoch of the iteration that wrote it last instead of a
/// flag. Nothing is reset: epochs of one thread never repeat.
void Emitter::emit_counted(const Branch& branch, const std::vector<int>& occupancy_levels, Statements& out,
                           const std::function<void()>& produce) {
  SparseAccumulator& accumulator = accumulators_[branch.temporary];
  accumulator.flags = builder_.add_epochs(branch.temporary, occupancy_levels);
  accumulator.count = builder_.names().fresh("n");
  accumulator.epoch = builder_.names().fresh("epoch");
  const std::string last = builder_.add_last_epoch(branch.temporary);
  const auto next = loop_ir::add(loop_ir::load(last, loop_ir::integer(0)), loop_ir::integer(1));
  out.push_back(make(loop_ir::Let{accumulator.epoch, loop_ir::Type::index, next}));
  out.push_back(
      make(loop_ir::Store{last, loop_ir::integer(0), Write::set, loop_ir::name(accumulator.epoch)}));
  out.push_back(make(loop_ir::Counter{accumulator.count, loop_ir::integer(0)}));
  produce();
  const std::string& counter = counters_.rbegin()->second;  // the last compressed level's
  out.push_back(make(
      loop_ir::SetCounter{counter, loop_ir::add(loop_ir::name(counter), loop_ir::name(accumulator.count))}));
}

/// Elements are 0 until written, as in fresh scratch, and again after they are read. The first write then
/// needs no branch, which would often be mispredicted.
bool Emitter::starts_clean(int target) const { return tensor_of(target).fill == 0; }

void Emitter::emit_clean(const SparseAccumulator& accumulator, Statements& out) {
  const std::string slot = builder_.names().fresh("p");
  Statements reset;
  emit_first(accumulator.writer, loop_ir::load(accumulator.list, loop_ir::name(slot)), reset);
  out.push_back(make(loop_ir::For{slot, loop_ir::integer(0), loop_ir::name(accumulator.count),
                                  loop_ir::Shape::scalar, loop_ir::block(std::move(reset))}));
}

/// Emits the producer without its values.
void Emitter::emit_inserts(const NestPtr& nest, const Scope& scope, Statements& out) {
  std::visit(Match{
                 [&](const Loop& loop) {
                   emit_loop(loop, scope, loop_ir::Shape::scalar, out,
                             [&](Scope& below, Statements& body) { emit_inserts(loop.body, below, body); });
                 },
                 [&](const Blocks& blocks) {
                   emit_blocks(blocks, scope, out, [&](Scope& below, Statements& body) {
                     emit_inserts(blocks.body, below, body);
                   });
                 },
                 [&](const Branch& branch) {
                   const auto consume = [&] { emit_inserts(branch.consumer, scope, out); };
                   if (!tracks(target_of(branch.producer))) return consume();
                   emit_accumulator(
                       branch, out, [&] { emit_inserts(branch.producer, scope, out); }, consume);
                 },
                 [&](const Terms& sum) {
                   for (const auto& term : sum.terms) emit_inserts(term, scope, out);
                 },
                 [&](const Leaf& leaf) {
                   Scope inserted = scope;
                   emit_insert(leaf.target, inserted, out);
                 },
             },
             nest->node);
}

/// Returns the index of one use in the occupancy levels.
ExpressionPtr Emitter::occupancy_index(const Operand& use, const Scope& scope) {
  const Tensor& temporary = tree_.tensors[static_cast<std::size_t>(use.tensor)];
  ExpressionPtr slot;
  for (int level = 0; level < temporary.occupancy_levels; ++level) {
    const int index = use.indices[static_cast<std::size_t>(level)];
    const auto coordinate = loop_ir::name(scope.coordinates.at(index));
    slot = slot ? loop_ir::add(loop_ir::multiply(slot, builder_.extent(index)), coordinate) : coordinate;
  }
  return slot;
}

/// Emits the first write of an element since the start: records it and stores the start value.
void Emitter::emit_insert(int target, Scope& scope, Statements& out) {
  if (tensor_of(target).hashed) return emit_table_insert(target, scope, out);
  const Operand& use = operand(target);
  const SparseAccumulator& accumulator = accumulators_.at(use.tensor);
  const std::string slot = builder_.names().fresh("o");
  out.push_back(make(loop_ir::Let{slot, loop_ir::Type::index, occupancy_index(use, scope)}));
  const auto at_slot = loop_ir::name(slot);
  if (!accumulator.epoch.empty()) return emit_epoch(accumulator, at_slot, out);
  Statements first;
  if (accumulator.list.empty()) {
    first.push_back(make(loop_ir::Store{accumulator.flags, at_slot, Write::set, loop_ir::integer(1)}));
  } else {
    first.push_back(make(loop_ir::Occupy{accumulator.occupancy(), at_slot}));
    if (step_ == Step::symbolic || starts_clean(target)) {
      out.insert(out.end(), first.begin(), first.end());
      return;
    }
  }
  if (step_ == Step::compute) emit_first(target, at_slot, first);
  const auto unset = loop_ir::apply(operators::Function::equal,
                                    {loop_ir::load(accumulator.flags, at_slot), loop_ir::integer(0)});
  out.push_back(make(loop_ir::If{unset, loop_ir::block(std::move(first))}));
}

/// Emits the start values of the elements at one index of the occupancy levels.
void Emitter::emit_first(int target, const ExpressionPtr& slot, Statements& out) {
  const Operand& use = operand(target);
  const std::vector<int> rest(
      use.indices.begin() + static_cast<std::ptrdiff_t>(tensor_of(target).occupancy_levels),
      use.indices.end());
  const auto size = builder_.extents(use.tensor, rest);
  const auto begin = loop_ir::multiply(slot, size);
  const std::string values = builder_.values(use.tensor);
  const auto start = loop_ir::number(tensor_of(target).fill);
  if (rest.empty()) {
    out.push_back(make(loop_ir::Store{values, begin, Write::set, start}));
    return;
  }
  const std::string variable = builder_.names().fresh("x");
  const auto body =
      make(loop_ir::Store{values, loop_ir::add(begin, loop_ir::name(variable)), Write::set, start});
  out.push_back(make(loop_ir::For{variable, loop_ir::integer(0), size, loop_ir::Shape::simd, body}));
}

/// Emits a walk over ascending coordinates that occupies each. When first and last coordinate show that many
/// share a group, the group is occupied once instead of by each.
void Emitter::emit_occupy(const loop_ir::For& walk, const std::string& coordinates,
                          const std::string& coordinate, Statements& out) {
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
  loop_ir::For clustered_walk = walk;
  clustered_walk.body = loop_ir::block(std::move(inside));
  const std::string clustered = builder_.names().fresh("clustered");
  const auto last = loop_ir::add(walk.end, loop_ir::integer(-1));
  const auto far = loop_ir::apply(Function::equal, {loop_ir::name(clustered), loop_ir::integer(0)});
  out.push_back(
      make(loop_ir::OccupyGroups{clustered, occupancy, loop_ir::load(coordinates, walk.begin),
                                 loop_ir::load(coordinates, last), loop_ir::subtract(walk.end, walk.begin)}));
  out.push_back(make(loop_ir::If{loop_ir::name(clustered), make(std::move(clustered_walk))}));
  out.push_back(make(loop_ir::If{far, make(walk)}));
}

/// Counts an element without a branch, which would often be mispredicted.
void Emitter::emit_epoch(const SparseAccumulator& accumulator, const ExpressionPtr& element,
                         Statements& out) {
  const auto epoch = loop_ir::name(accumulator.epoch);
  const auto is_new =
      loop_ir::apply(operators::Function::not_equal, {loop_ir::load(accumulator.flags, element), epoch});
  out.push_back(
      make(loop_ir::SetCounter{accumulator.count, loop_ir::add(loop_ir::name(accumulator.count), is_new)}));
  out.push_back(make(loop_ir::Store{accumulator.flags, element, Write::set, epoch}));
}

/// Returns the use of a temporary whose last occupancy level the loop binds, read below it; or null.
const Operand* Emitter::occupied_read(const NestPtr& body, int index) const {
  if (!is_chain(body)) return nullptr;
  for (const int number : factors_below(body, tree_)) {
    const int occupancy_levels = tensor_of(number).occupancy_levels;
    if (occupancy_levels > 0 && level_of(operand(number), index) == occupancy_levels - 1)
      return &operand(number);
  }
  return nullptr;
}

/// Emits a loop over the list when there is one.
bool Emitter::emit_list_loop(const Loop& loop, const Scope& scope, Statements& out, const Body& body) {
  const Operand* read = occupied_read(loop.body, loop.index);
  if (read == nullptr || accumulators_.at(read->tensor).list.empty()) return false;
  SparseAccumulator& accumulator = accumulators_.at(read->tensor);
  const std::string slot = builder_.names().fresh("p" + letter_of(loop.index));
  const std::string coordinate = builder_.names().fresh(letter_of(loop.index));
  Statements statements;
  statements.push_back(make(
      loop_ir::Let{coordinate, loop_ir::Type::index, loop_ir::load(accumulator.list, loop_ir::name(slot))}));
  Scope inner = scope;
  if (!accumulator.keys.empty()) emit_table_read(*read, coordinate, inner, statements);
  const int writer = accumulator.reader == &loop ? std::exchange(accumulator.writer, -1) : -1;
  const Body whole = [&](Scope& below, Statements& read_here) {
    body(below, read_here);
    if (writer >= 0) emit_first(writer, loop_ir::name(coordinate), read_here);
  };
  const auto inside = loop_body(loop, {}, std::move(inner), coordinate, std::move(statements), whole);
  loop_ir::For entries{slot, loop_ir::integer(0), loop_ir::name(accumulator.count), loop_ir::Shape::scalar,
                       inside};
  entries.entries = accumulator.list;
  out.push_back(make(std::move(entries)));
  return true;
}

/// Tests flags one by one. Thread-private ones are reset; shared ones are tested again by other readers.
Emitter::Body Emitter::with_flag(const Loop& loop, const Body& body) {
  const Operand* read = occupied_read(loop.body, loop.index);
  if (read == nullptr || !accumulators_.at(read->tensor).list.empty()) return body;
  return [this, body, read](Scope& scope, Statements& out) {
    const SparseAccumulator& accumulator = accumulators_.at(read->tensor);
    const auto slot = occupancy_index(*read, scope);
    Statements inside;
    if (builder_.is_private(accumulator.flags))
      inside.push_back(make(loop_ir::Store{accumulator.flags, slot, Write::set, loop_ir::integer(0)}));
    body(scope, inside);
    out.push_back(
        make(loop_ir::If{loop_ir::load(accumulator.flags, slot), loop_ir::block(std::move(inside))}));
  };
}

}  // namespace schaas::lower
