#include "compiler/lower/emit/emitter.h"

// Writes of GPU phases: by one thread, by a group that folds first, or deferred until the group flushes; and
// loops interleaved among threads. A write needs no atomic step when one thread, or one group of all threads
// that share the iteration, computes the element. All threads of a group must arrive at a flush together, so
// it stands outside of the test for an empty range.
namespace schaas::lower {

using concrete_notation::GroupReduction;
using loop_ir::make;
using loop_ir::Write;

/// One thread writes each element, or a group that holds all threads of its iteration.
bool Emitter::writes_exclusively() const {
  if (mapped_.rows == nullptr) return true;
  const auto& mapping = mapped_.mapping;
  const Loop* shared = mapped_.consumer != nullptr ? mapped_.consumer : mapped_.inside;
  const bool distributed =
      shared != nullptr && level_of(operand(target_of(shared->body)), shared->index) >= 0;
  const bool whole =
      mapping.threads_per_item == 1 || distributed ||
      (mapping.reduce == GroupReduction::parallel && mapping.group_size == mapping.threads_per_item);
  return whole && writes_own(*mapped_.rows);
}

/// Decides how the threads of the phase write, and whether their writes are atomic.
Write Emitter::thread_write_mode(const NestPtr& nest) {
  thread_writes_ = ThreadWrites::alone;
  const auto& mapping = mapped_.mapping;
  const int target = target_of(nest);
  atomic_ = -1;
  target_array_ = builder_.values(operand(target).tensor);
  if (mapping.group_size > 1)
    thread_writes_ =
        mapping.reduce == GroupReduction::segment ? ThreadWrites::deferred : ThreadWrites::grouped;
  if (thread_writes_ == ThreadWrites::deferred)
    deferred_ = {builder_.names().fresh("deferred"), target_array_, monoid_of(nest)};
  if (writes_exclusively()) return write_mode(nest);
  atomic_ = operand(target).tensor;
  return Write::atomic;
}

loop_ir::StatementPtr Emitter::stored(const Sink& sink, const std::string& array,
                                      const loop_ir::ExpressionPtr& index,
                                      const loop_ir::ExpressionPtr& value) const {
  const bool target = array == target_array_;
  if (target && thread_writes_ == ThreadWrites::deferred)
    return make(loop_ir::Defer{deferred_.name, index, value});
  if (target && thread_writes_ == ThreadWrites::grouped)
    return make(loop_ir::GroupStore{array, index, sink.mode, value, sink.monoid, mapped_.mapping.group_size});
  return make(loop_ir::Store{array, index, sink.mode, value, sink.monoid});
}

/// Emits the fold of an accumulator among the threads of an iteration; each of them gets it.
loop_ir::ExpressionPtr Emitter::folded_in_group(const std::string& sum, operators::Monoid monoid,
                                                Statements& out) {
  const std::string folded = builder_.names().fresh("t");
  out.push_back(make(loop_ir::Let{folded, loop_ir::Type::value, loop_ir::name(sum), 1,
                                  loop_ir::GroupFold{mapped_.mapping.threads_per_item, monoid}}));
  return loop_ir::name(folded);
}

/// Emits a flush after the body: all threads of a group reach it, those with an empty range too.
Statements Emitter::with_flush(Statements body) const {
  const auto some = loop_ir::apply(operators::Function::less, {loop_ir::range_begin(), loop_ir::range_end()});
  const auto guarded = make(loop_ir::If{some, loop_ir::block(std::move(body))});
  if (thread_writes_ != ThreadWrites::deferred) return {guarded};
  return {make(deferred_), guarded, make(loop_ir::Flush{deferred_.name, mapped_.mapping.group_size})};
}

Emitter::Body Emitter::with_deferred(const Body& body) {
  if (thread_writes_ != ThreadWrites::deferred) return body;
  return [this, body](Scope& scope, Statements& out) {
    Statements inside;
    body(scope, inside);
    for (auto& each : with_flush(std::move(inside))) out.push_back(std::move(each));
  };
}

/// Completes the phase for a GPU, to which private copies and weights of the processor do not apply.
void Emitter::close_mapping(Statements& out, loop_ir::Phase& phase) {
  // Deferred updates of columns are flushed inside their loop (with_deferred).
  if (mapped_.columns == nullptr || thread_writes_ != ThreadWrites::deferred)
    out = with_flush(std::move(out));
  phase.parallel = true;
  phase.fold.reset();
  phase.balance_argument = -1;
  phase.balance_level = 0;
  phase.mapping = mapping_of(mapped_);
  if (mapped_.columns != nullptr) phase.mapping->columns = builder_.extent(mapped_.columns->index);
}

/// Interleaves the loop: each thread starts at its lane and advances by the number of threads.
loop_ir::StatementPtr Emitter::interleaved(const loop_ir::StatementPtr& statement) const {
  const auto* loop = std::get_if<loop_ir::For>(&statement->node);
  SCHAAS_CHECK(loop != nullptr, "threads share what is no loop");
  auto result = *loop;
  result.begin = loop_ir::add(loop->begin, loop_ir::name("lane"));
  result.step = mapped_.mapping.threads_per_item;
  result.interleaved = true;
  result.shape = loop_ir::Shape::scalar;
  return make(std::move(result));
}

}  // namespace schaas::lower
