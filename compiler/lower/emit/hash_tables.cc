#include "compiler/lower/emit/emitter.h"

// Hash tables as the workspace of a sparse result (Kjolstad et al., CGO 2019, section 5.3). They take memory
// for the entries of a row instead of its extent. Open addressing with linear probing, as in hashed levels.
// A free slot has key 0, so a zeroed workspace is an empty table. The symbolic phase returns an overflow
// when a table is more than half full. It is run again with a larger one (proto/kernel_abi.h); the numeric
// phase finds tables that suffice. Growing a table in place was rejected: kernels allocate nothing.
namespace schaas::lower {

using loop_ir::ExpressionPtr;
using loop_ir::make;
using loop_ir::Step;
using loop_ir::Write;
using operators::Function;

namespace {

/// Returns the coordinate plus one: 0 marks free slots.
ExpressionPtr key_of(const std::string& coordinate) {
  return loop_ir::add(loop_ir::name(coordinate), loop_ir::integer(1));
}

ExpressionPtr slot_of(const std::string& keys, const std::string& coordinate) {
  return loop_ir::search(keys, loop_ir::integer(0), loop_ir::name("capacity"), key_of(coordinate),
                         loop_ir::Layout::filled);
}

}  // namespace

/// Emits a table around its producer and consumer. The slots that were occupied are freed one by one, so a
/// row costs as much as it has entries.
void Emitter::emit_table(const Branch& branch, Statements& out, const std::function<void()>& produce,
                         const std::function<void()>& consume) {
  const int writer = target_of(branch.producer);
  const auto& indices = operand(writer).indices;
  SCHAAS_CHECK(tensor_of(writer).occupancy_levels == 1 && appends_to(target_of(branch.consumer)),
               "a table that gathers no level of a sparse result");
  SparseAccumulator& accumulator = accumulators_[branch.temporary];
  accumulator.keys = builder_.add_keys(branch.temporary);
  accumulator.taken = builder_.add_taken(branch.temporary);
  accumulator.count = builder_.names().fresh("n");
  if (step_ == Step::compute) {
    builder_.add_table(branch.temporary, {indices.begin() + 1, indices.end()});
    accumulator.list = builder_.add_table_list(branch.temporary);
  }
  out.push_back(make(loop_ir::Counter{accumulator.count, loop_ir::integer(0)}));
  produce();
  const auto count = loop_ir::name(accumulator.count);
  if (step_ == Step::symbolic) {
    const std::string& counter = counters_.rbegin()->second;  // the last compressed level's
    out.push_back(make(loop_ir::SetCounter{counter, loop_ir::add(loop_ir::name(counter), count)}));
  } else {
    // Elements are listed in the order of first writes.
    if (is_ordered(target_of(branch.consumer)))
      out.push_back(make(loop_ir::Sort{accumulator.list, loop_ir::integer(0), count}));
    consume();
  }
  emit_table_clear(accumulator, out);
}

/// Frees the occupied slots.
void Emitter::emit_table_clear(const SparseAccumulator& accumulator, Statements& out) {
  const std::string slot = builder_.names().fresh("p");
  const auto reset =
      make(loop_ir::Store{accumulator.keys, loop_ir::load(accumulator.taken, loop_ir::name(slot)), Write::set,
                          loop_ir::integer(0)});
  out.push_back(make(loop_ir::For{slot, loop_ir::integer(0), loop_ir::name(accumulator.count),
                                  loop_ir::Shape::scalar, reset}));
}

/// Finds the slot of the element; a free one is recorded and gets the start value.
void Emitter::emit_table_insert(int target, Scope& scope, Statements& out) {
  const Operand& use = operand(target);
  const SparseAccumulator& accumulator = accumulators_.at(use.tensor);
  const std::string& coordinate = scope.coordinates.at(use.indices.front());
  const std::string slot = builder_.names().fresh("o");
  out.push_back(make(loop_ir::Let{slot, loop_ir::Type::index, slot_of(accumulator.keys, coordinate)}));
  const auto at_slot = loop_ir::name(slot);
  const auto count = loop_ir::name(accumulator.count);
  Statements first;
  // Only counting can overflow: later phases have the capacity that sufficed for it.
  if (step_ == Step::symbolic) {
    const auto half = loop_ir::apply(Function::divide, {loop_ir::name("capacity"), loop_ir::integer(2)});
    first.push_back(
        make(loop_ir::If{loop_ir::apply(Function::less_equal, {half, count}), make(loop_ir::Overflow{})}));
  }
  first.push_back(make(loop_ir::Store{accumulator.keys, at_slot, Write::set, key_of(coordinate)}));
  first.push_back(make(loop_ir::Store{accumulator.taken, count, Write::set, at_slot}));
  if (!accumulator.list.empty())
    first.push_back(make(loop_ir::Store{accumulator.list, count, Write::set, loop_ir::name(coordinate)}));
  first.push_back(make(loop_ir::SetCounter{accumulator.count, loop_ir::add(count, loop_ir::integer(1))}));
  if (step_ == Step::compute) emit_first(target, at_slot, first);
  const auto is_free =
      loop_ir::apply(Function::equal, {loop_ir::load(accumulator.keys, at_slot), loop_ir::integer(0)});
  out.push_back(make(loop_ir::If{is_free, loop_ir::block(std::move(first))}));
  if (step_ == Step::compute) bind_slot(target, slot, scope, out);
}

/// Binds the slot from which a coordinate in the table is read.
void Emitter::emit_table_read(const Operand& read, const std::string& coordinate, Scope& scope,
                              Statements& out) {
  const std::string slot = builder_.names().fresh("o");
  out.push_back(make(
      loop_ir::Let{slot, loop_ir::Type::index, slot_of(accumulators_.at(read.tensor).keys, coordinate)}));
  bind_slot(static_cast<int>(&read - tree_.operands.data()), slot, scope, out);
}

void Emitter::bind_slot(int number, const std::string& slot, Scope& scope, Statements& out) {
  auto& position = scope.positions[static_cast<std::size_t>(number)];
  position.bound.front() = loop_ir::name(slot);
  resolve(position, operand(number), tensor_of(number), builder_, out);
}

}  // namespace schaas::lower
