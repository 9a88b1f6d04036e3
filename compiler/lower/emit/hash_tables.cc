#include "compiler/lower/emit/hash_tables.h"

#include <algorithm>

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

/// The result's entries come in the order of coordinates, else in that of first writes.
bool has_ordered_levels(const Tensor& tensor) {
  return std::all_of(tensor.levels.begin(), tensor.levels.end(), format::is_ordered);
}

}  // namespace

void HashTables::emit(const Branch& branch, SparseAccumulator& accumulator, Statements& out,
                      const Part& produce, const Part& consume) const {
  const int writer = target_of(branch.producer);
  const auto& indices = facts_.operand(writer).indices;
  SCHAAS_CHECK(
      facts_.tensor_of(writer).occupancy_levels == 1 && facts_.appends_to(target_of(branch.consumer)),
      "a table that gathers no level of a sparse result");
  accumulator.keys = facts_.builder.scratch.add_keys(branch.temporary);
  accumulator.taken = facts_.builder.scratch.add_taken(branch.temporary);
  accumulator.count = facts_.fresh("n");
  if (facts_.step == Step::compute) {
    facts_.builder.scratch.add_table(branch.temporary, {indices.begin() + 1, indices.end()});
    accumulator.list = facts_.builder.scratch.add_table_list(branch.temporary);
  }
  out.push_back(make(loop_ir::Counter{accumulator.count, loop_ir::integer(0)}));
  produce();
  const auto count = loop_ir::name(accumulator.count);
  if (facts_.step == Step::symbolic) {
    appends_.add_to_count(count, out);
  } else {
    // Elements are listed in the order of first writes.
    if (has_ordered_levels(facts_.tensor_of(target_of(branch.consumer))))
      out.push_back(make(loop_ir::Sort{accumulator.list, loop_ir::integer(0), count}));
    consume();
  }
  emit_clear(accumulator, out);
}

/// Frees the occupied slots.
void HashTables::emit_clear(const SparseAccumulator& accumulator, Statements& out) const {
  const std::string slot = facts_.fresh("p");
  const auto reset =
      make(loop_ir::Store{accumulator.keys, loop_ir::load(accumulator.taken, loop_ir::name(slot)), Write::set,
                          loop_ir::integer(0)});
  out.push_back(make(loop_ir::For{slot, loop_ir::integer(0), loop_ir::name(accumulator.count),
                                  loop_ir::Shape::scalar, reset}));
}

void HashTables::emit_insert(const SparseAccumulator& accumulator, int target, Scope& scope,
                             Statements& out) const {
  const Operand& use = facts_.operand(target);
  const std::string& coordinate = scope.coordinates.at(use.indices.front());
  const std::string slot = facts_.fresh("o");
  out.push_back(make(loop_ir::Let{slot, loop_ir::Type::index, slot_of(accumulator.keys, coordinate)}));
  const auto at_slot = loop_ir::name(slot);
  const auto count = loop_ir::name(accumulator.count);
  Statements first;
  // Only counting can overflow: later phases have the capacity that sufficed for it.
  if (facts_.step == Step::symbolic) {
    const auto half = loop_ir::apply(Function::divide, {loop_ir::name("capacity"), loop_ir::integer(2)});
    first.push_back(
        make(loop_ir::If{loop_ir::apply(Function::less_equal, {half, count}), make(loop_ir::Overflow{})}));
  }
  first.push_back(make(loop_ir::Store{accumulator.keys, at_slot, Write::set, key_of(coordinate)}));
  first.push_back(make(loop_ir::Store{accumulator.taken, count, Write::set, at_slot}));
  if (!accumulator.list.empty())
    first.push_back(make(loop_ir::Store{accumulator.list, count, Write::set, loop_ir::name(coordinate)}));
  first.push_back(make(loop_ir::SetCounter{accumulator.count, loop_ir::add(count, loop_ir::integer(1))}));
  if (facts_.step == Step::compute) emit_start_values(target, at_slot, facts_, first);
  const auto is_free =
      loop_ir::apply(Function::equal, {loop_ir::load(accumulator.keys, at_slot), loop_ir::integer(0)});
  out.push_back(make(loop_ir::If{is_free, loop_ir::block(std::move(first))}));
  if (facts_.step == Step::compute) bind_slot(target, slot, scope, out);
}

void HashTables::emit_read(const SparseAccumulator& accumulator, int read, const std::string& coordinate,
                           Scope& scope, Statements& out) const {
  const std::string slot = facts_.fresh("o");
  out.push_back(make(loop_ir::Let{slot, loop_ir::Type::index, slot_of(accumulator.keys, coordinate)}));
  bind_slot(read, slot, scope, out);
}

void HashTables::bind_slot(int number, const std::string& slot, Scope& scope, Statements& out) const {
  auto& position = scope.positions[static_cast<std::size_t>(number)];
  position.bound.front() = loop_ir::name(slot);
  resolve(position, facts_.operand(number), facts_.tensor_of(number), facts_.builder, out);
}

}  // namespace schaas::lower
