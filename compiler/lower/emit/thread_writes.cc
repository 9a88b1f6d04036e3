#include "compiler/lower/emit/thread_writes.h"

#include "compiler/lower/emit/levels/entry_ranges.h"

// Writes of GPU phases: by one thread, by a group that folds first, or deferred until the group flushes; and
// loops interleaved among threads. A write needs no atomic step when one thread, or one group of all threads
// that share the iteration, computes the element. All threads of a group must arrive at a flush together, so
// it stands outside of the test for an empty range.
namespace schaas::lower {

using concrete_notation::GroupReduction;
using loop_ir::make;
using loop_ir::Write;

bool ThreadWrites::are_exclusive() const {
  if (facts_.mapped.rows == nullptr) return true;
  const auto& mapping = facts_.mapped.mapping;
  const Loop* shared = facts_.mapped.consumer != nullptr ? facts_.mapped.consumer : facts_.mapped.inside;
  const bool distributed =
      shared != nullptr && level_of(facts_.operand(target_of(shared->body)), shared->index) >= 0;
  const bool whole =
      mapping.threads_per_item == 1 || distributed ||
      (mapping.reduce == GroupReduction::parallel && mapping.group_size == mapping.threads_per_item);
  return whole && writes_own(*facts_.mapped.rows, facts_.tree);
}

void ThreadWrites::open(const NestPtr& nest) {
  writing_ = Writing::alone;
  const auto& mapping = facts_.mapped.mapping;
  target_array_ = facts_.builder.arrays.values(facts_.operand(target_of(nest)).tensor);
  if (mapping.group_size > 1)
    writing_ = mapping.reduce == GroupReduction::segment ? Writing::deferred : Writing::grouped;
  if (writing_ == Writing::deferred) deferred_ = {facts_.fresh("deferred"), target_array_, monoid_of(nest)};
}

loop_ir::StatementPtr ThreadWrites::stored(const Sink& sink, const std::string& array,
                                           const loop_ir::ExpressionPtr& index,
                                           const loop_ir::ExpressionPtr& value) const {
  const bool target = array == target_array_;
  if (target && writing_ == Writing::deferred) return make(loop_ir::Defer{deferred_.name, index, value});
  if (target && writing_ == Writing::grouped)
    return make(
        loop_ir::GroupStore{array, index, sink.mode, value, sink.monoid, facts_.mapped.mapping.group_size});
  return make(loop_ir::Store{array, index, sink.mode, value, sink.monoid});
}

loop_ir::ExpressionPtr ThreadWrites::folded_in_group(const std::string& sum, operators::Monoid monoid,
                                                     Statements& out) const {
  const std::string folded = facts_.fresh("t");
  out.push_back(make(loop_ir::Let{folded, loop_ir::Type::value, loop_ir::name(sum), 1,
                                  loop_ir::GroupFold{facts_.mapped.mapping.threads_per_item, monoid}}));
  return loop_ir::name(folded);
}

/// Emits a flush after the body: all threads of a group reach it, those with an empty range too.
Statements ThreadWrites::with_flush(Statements body) const {
  const auto some = loop_ir::apply(operators::Function::less, {loop_ir::range_begin(), loop_ir::range_end()});
  const auto guarded = make(loop_ir::If{some, loop_ir::block(std::move(body))});
  if (writing_ != Writing::deferred) return {guarded};
  return {make(deferred_), guarded, make(loop_ir::Flush{deferred_.name, facts_.mapped.mapping.group_size})};
}

Body ThreadWrites::with_deferred(const Body& body) const {
  if (writing_ != Writing::deferred) return body;
  return [this, body](Scope& scope, Statements& out) {
    Statements inside;
    body(scope, inside);
    for (auto& each : with_flush(std::move(inside))) out.push_back(std::move(each));
  };
}

void ThreadWrites::close(Statements& out, loop_ir::Phase& phase) const {
  // Deferred updates of columns are flushed inside their loop (with_deferred).
  if (facts_.mapped.columns == nullptr || writing_ != Writing::deferred) out = with_flush(std::move(out));
  phase.parallel = true;
  phase.fold.reset();
  phase.balance_argument = -1;
  phase.balance_level = 0;
  phase.mapping = mapping_of(facts_.mapped);
  if (facts_.mapped.columns != nullptr)
    phase.mapping->columns = facts_.builder.extents.of(facts_.mapped.columns->index);
  if (!facts_.mapped.mapping.merge_path) return;
  const Loop& rows = *facts_.mapped.rows;
  const int walked = facts_.operand(operand_at(rows, facts_.tree)).tensor;
  phase.mapping->merged_positions = facts_.builder.arrays.positions(walked, 1);
  phase.mapping->rows = facts_.builder.extents.of(rows.index);
}

loop_ir::StatementPtr ThreadWrites::interleaved(const loop_ir::StatementPtr& statement,
                                                bool among_groups) const {
  const auto* loop = std::get_if<loop_ir::For>(&statement->node);
  SCHAAS_CHECK(loop != nullptr, "threads share what is no loop");
  const MappedLoops& mapped = facts_.mapped;
  if (among_groups && mapped.groups == 1) return statement;
  auto result = *loop;
  result.begin = loop_ir::add(loop->begin, loop_ir::name(among_groups ? "lane_group" : "lane"));
  result.step = among_groups ? mapped.groups : mapped.mapping.threads_per_item;
  result.interleaved = true;
  result.shape = loop_ir::Shape::scalar;
  return make(std::move(result));
}

}  // namespace schaas::lower
