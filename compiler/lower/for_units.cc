// Phases for a GPU: what a thread gets, how its values reach memory, how the loop that threads share is
// walked.
#include "compiler/lower/emitter.h"

namespace schaas::lower {

using concrete_notation::Gather;
using loop_ir::make;
using loop_ir::Write;

/// Of each element: one thread, or a group that holds all threads of its iteration.
bool Emitter::has_one_writer() const {
  if (units_.rows == nullptr) return true;
  const auto& units = units_.units;
  const bool whole = units.share == 1 || (units.reduce == Gather::parallel && units.width == units.share);
  return whole && writes_own(*units_.rows);
}

Write Emitter::unit_write_mode(const NestPtr& nest) {
  together_ = Together::alone;
  const auto& units = units_.units;
  const int target = target_of(nest);
  atomic_ = -1;
  target_array_ = builder_.values(operand(target).tensor);
  if (units.width > 1) together_ = units.reduce == Gather::segment ? Together::pending : Together::grouped;
  if (together_ == Together::pending)
    pending_ = {builder_.names().fresh("later"), target_array_, monoid_of(nest)};
  if (has_one_writer()) return write_mode(nest);
  atomic_ = operand(target).tensor;
  return Write::atomic;
}

loop_ir::StatementPtr Emitter::stored(const Sink& sink, const std::string& array,
                                      const loop_ir::ExpressionPtr& index,
                                      const loop_ir::ExpressionPtr& value) const {
  const bool target = array == target_array_;
  if (target && together_ == Together::pending) return make(loop_ir::Defer{pending_.name, index, value});
  if (target && together_ == Together::grouped)
    return make(loop_ir::GroupStore{array, index, sink.mode, value, sink.monoid, units_.units.width});
  return make(loop_ir::Store{array, index, sink.mode, value, sink.monoid});
}

/// Around what writes later: the threads of a group all come by its end, also those with an empty share.
Statements Emitter::settled(Statements body) const {
  const auto some = loop_ir::apply(operators::Function::less, {loop_ir::name("begin"), loop_ir::name("end")});
  const auto guarded = make(loop_ir::If{some, loop_ir::block(std::move(body))});
  if (together_ != Together::pending) return {guarded};
  return {make(pending_), guarded, make(loop_ir::Settle{pending_.name, units_.units.width})};
}

Emitter::Body Emitter::with_pending(const Body& body) {
  if (together_ != Together::pending) return body;
  return [this, body](Scope& scope, Statements& out) {
    Statements inside;
    body(scope, inside);
    for (auto& each : settled(std::move(inside))) out.push_back(std::move(each));
  };
}

void Emitter::close_units(Statements& out, loop_ir::Phase& phase) {
  if (units_.columns == nullptr || together_ != Together::pending) out = settled(std::move(out));
  phase.parallel = true;
  phase.fold.reset();
  phase.balance_argument = -1;
  phase.balance_level = 0;
  phase.units = units_of(units_);
  if (units_.columns != nullptr) phase.units->columns = builder_.extent(units_.columns->index);
}

/// Every share-th turn, from the thread's place on.
loop_ir::StatementPtr Emitter::in_turns(const loop_ir::StatementPtr& statement) const {
  const auto* loop = std::get_if<loop_ir::For>(&statement->node);
  SCHAAS_CHECK(loop != nullptr, "threads share what is no loop");
  auto turns = *loop;
  turns.begin = loop_ir::add(loop->begin, loop_ir::name("lane"));
  turns.step = units_.units.share;
  turns.shape = loop_ir::Shape::scalar;
  return make(std::move(turns));
}

}  // namespace schaas::lower
