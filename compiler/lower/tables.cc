// What a sparse result is gathered in as a hash table: coordinates, each with and its values, in as much
// memory as a row has entries and not as it has columns. How large a table must be is found out by the phase
// that counts: it gives up when one is more than half full, and is run again with larger ones
// (proto/kernel_abi.h). Open addressing, as in hashed levels; a free place has key 0, so that a workspace of
// zeros is an empty table.
#include "compiler/lower/emitter.h"

namespace schaas::lower {

using loop_ir::ExpressionPtr;
using loop_ir::make;
using loop_ir::Step;
using loop_ir::Write;
using operators::Function;

namespace {

ExpressionPtr key_of(const std::string& coordinate) {
  return loop_ir::add(loop_ir::name(coordinate), loop_ir::integer(1));
}

ExpressionPtr place_of(const std::string& keys, const std::string& coordinate) {
  return loop_ir::search(keys, loop_ir::integer(0), loop_ir::name("places"), key_of(coordinate),
                         loop_ir::Layout::filled);
}

}  // namespace

void Emitter::emit_table(const Branch& branch, Statements& out, const std::function<void()>& produce,
                         const std::function<void()>& consume) {
  const int writer = target_of(branch.producer);
  const auto& indices = operand(writer).indices;
  SCHAAS_CHECK(tensor_of(writer).tracked == 1 && appends_to(target_of(branch.consumer)),
               "a table that gathers no level of a sparse result");
  Tracking& tracking = tracking_[branch.temporary];
  tracking.keys = builder_.add_keys(branch.temporary);
  tracking.taken = builder_.add_taken(branch.temporary);
  tracking.count = builder_.names().fresh("n");
  if (step_ == Step::compute) {
    builder_.add_table(branch.temporary, {indices.begin() + 1, indices.end()});
    tracking.list = builder_.add_table_list(branch.temporary);
  }
  out.push_back(make(loop_ir::Counter{tracking.count, loop_ir::integer(0)}));
  produce();
  const auto count = loop_ir::name(tracking.count);
  if (step_ == Step::count) {
    const std::string& counter = counters_.rbegin()->second;  // of the last compressed level
    out.push_back(make(loop_ir::SetCounter{counter, loop_ir::add(loop_ir::name(counter), count)}));
  } else {
    if (is_ordered(target_of(branch.consumer)))
      out.push_back(make(loop_ir::Sort{tracking.list, loop_ir::integer(0), count}));
    consume();
  }
  emit_table_forget(tracking, out);
}

/// Empties the table.
void Emitter::emit_table_forget(const Tracking& tracking, Statements& out) {
  const std::string place = builder_.names().fresh("p");
  const auto reset = make(loop_ir::Store{tracking.keys, loop_ir::load(tracking.taken, loop_ir::name(place)),
                                         Write::set, loop_ir::integer(0)});
  out.push_back(make(loop_ir::For{place, loop_ir::integer(0), loop_ir::name(tracking.count),
                                  loop_ir::Shape::scalar, reset}));
}

/// Finds the element's place; when it is free the element is noted and gets its start value.
void Emitter::emit_table_insert(int target, Scope& scope, Statements& out) {
  const Operand& use = operand(target);
  const Tracking& tracking = tracking_.at(use.tensor);
  const std::string& coordinate = scope.coordinates.at(use.indices.front());
  const std::string place = builder_.names().fresh("o");
  out.push_back(make(loop_ir::Let{place, loop_ir::Type::index, place_of(tracking.keys, coordinate)}));
  const auto at_place = loop_ir::name(place);
  const auto count = loop_ir::name(tracking.count);
  Statements first;
  if (step_ == Step::count) {
    const auto half = loop_ir::apply(Function::divide, {loop_ir::name("places"), loop_ir::integer(2)});
    first.push_back(
        make(loop_ir::If{loop_ir::apply(Function::less_equal, {half, count}), make(loop_ir::GiveUp{})}));
  }
  first.push_back(make(loop_ir::Store{tracking.keys, at_place, Write::set, key_of(coordinate)}));
  first.push_back(make(loop_ir::Store{tracking.taken, count, Write::set, at_place}));
  if (!tracking.list.empty())
    first.push_back(make(loop_ir::Store{tracking.list, count, Write::set, loop_ir::name(coordinate)}));
  first.push_back(make(loop_ir::SetCounter{tracking.count, loop_ir::add(count, loop_ir::integer(1))}));
  if (step_ == Step::compute) emit_first(target, at_place, first);
  const auto is_free =
      loop_ir::apply(Function::equal, {loop_ir::load(tracking.keys, at_place), loop_ir::integer(0)});
  out.push_back(make(loop_ir::If{is_free, loop_ir::block(std::move(first))}));
  if (step_ == Step::compute) bind_place(target, place, scope, out);
}

/// Where the coordinate, which is in the table, is read.
void Emitter::emit_table_read(const Operand& read, const std::string& coordinate, Scope& scope,
                              Statements& out) {
  const std::string place = builder_.names().fresh("o");
  out.push_back(
      make(loop_ir::Let{place, loop_ir::Type::index, place_of(tracking_.at(read.tensor).keys, coordinate)}));
  bind_place(static_cast<int>(&read - tree_.operands.data()), place, scope, out);
}

void Emitter::bind_place(int number, const std::string& place, Scope& scope, Statements& out) {
  auto& position = scope.positions[static_cast<std::size_t>(number)];
  position.bound.front() = loop_ir::name(place);
  settle(position, operand(number), tensor_of(number), builder_, out);
}

}  // namespace schaas::lower
