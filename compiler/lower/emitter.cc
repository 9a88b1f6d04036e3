#include "compiler/lower/emitter.h"

#include <algorithm>
#include <utility>

#include "compiler/lower/met_rows.h"
#include "compiler/lower/temporaries.h"
#include "compiler/lower/work.h"

namespace schaas::lower {

using concrete_notation::Races;
using format::LevelFormat;
using loop_ir::make;
using loop_ir::Match;
using loop_ir::Shape;
using loop_ir::Write;

loop_ir::StatementPtr Emitter::accumulator(const std::string& name, operators::Monoid monoid) const {
  loop_ir::Accumulator out{name, monoid, {}};
  if (monoid == tree_.semiring->sum && tree_.semiring->zero != operators::identity(monoid))
    out.initial = tree_.semiring->zero;
  return make(std::move(out));
}

void Emitter::emit_phases(const NestPtr& nest) {
  if (const auto* branch = std::get_if<Branch>(&nest->node)) {
    emit_shared(*branch);
    const bool outside = std::exchange(adds_terms_, false);
    const Branch* const reader = std::exchange(reader_, branch);
    emit_phases(branch->producer);
    adds_terms_ = outside;
    reader_ = reader;
    emit_phases(branch->consumer);
    return;
  }
  if (const auto* sum = std::get_if<Terms>(&nest->node)) {
    const bool outside = std::exchange(adds_terms_, true);
    for (const auto& term : sum->terms) emit_phases(term);
    adds_terms_ = outside;
    return;
  }
  const int target = target_of(nest);
  builder_.mark_written(operand(target).tensor);
  const auto* loop = std::get_if<Loop>(&nest->node);
  const bool atomic = loop != nullptr && loop->manner.parallel == Races::atomics;
  atomic_ = atomic ? operand(target).tensor : -1;
  units_ = for_gpu_ ? shared_loops(nest) : SharedLoops{};
  const Write mode = for_gpu_            ? unit_write_mode(nest)
                     : atomic            ? Write::atomic
                     : sums_pieces(nest) ? Write::fold
                                         : write_mode(nest);
  const Sink sink{Sink::Kind::array, target, mode, "", monoid_of(nest)};
  if (appends_to(target)) return emit_appending_phases(nest, sink);
  cleared_ = cleared_rows(nest, sink);
  if (cleared_) builder_.mark_all_written();
  emit_phase(nest, sink, loop_ir::Step::compute);
  cleared_.reset();
  const bool stored = mode == Write::set && tensor_of(target).temporary() && !for_gpu_ &&
                      tree_.cuts.count(nest.get()) == 0 && writes_each_once(nest, tree_);
  if (!stored) return;
  builder_.mark_stored(operand(target).tensor);
  if (reader_ == nullptr || reader_->temporary != operand(target).tensor ||
      !goes_by_rows(nest, target, tree_))
    return;
  if (const auto met = met_rows(reader_->consumer, reader_->temporary, tree_))
    builder_.last_phase() =
        over_list(std::move(builder_.last_phase()), builder_.add_met(operand(met->operand), met->level),
                  builder_.names().fresh("q"));
}

/// Whether the values of a phase's target are stored or folded into what is there, and of a result whether
/// all of them are.
Write Emitter::write_mode(const NestPtr& nest) {
  const int target = target_of(nest);
  const Tensor& tensor = tensor_of(target);
  if (operand(target).indices.empty() || adds_terms_ || tracks(target) || !sums_in_register(target))
    return Write::fold;
  if (tensor.temporary()) return may_overwrite(nest, tree_) ? Write::set : Write::fold;
  const bool all = writes_each_once(nest, tree_);
  // Only a sum changes nothing that it finds at its beginning, whatever is added.
  const bool plain = monoid_of(nest) == operators::Monoid::sum && tensor.fill == 0 && !tree_.update;
  if (!plain || !writes_none_twice(nest, tree_)) return Write::fold;
  if (all || writes_entries_once(nest, tree_)) builder_.mark_all_written();
  return Write::set;
}

/// Memory for a temporary that one phase leaves to later ones; it is zero to begin with.
void Emitter::emit_shared(const Branch& branch) {
  const int writer = target_of(branch.producer);
  const auto& indices = operand(writer).indices;
  builder_.add_shared(branch.temporary, indices);
  if (tracks(writer)) {
    const auto tracked = static_cast<std::ptrdiff_t>(tensor_of(writer).tracked);
    tracking_[branch.temporary].flags =
        builder_.add_shared_flags(branch.temporary, {indices.begin(), indices.begin() + tracked});
    return;
  }
  const double start = tensor_of(writer).fill;
  units_ = for_gpu_ ? shared_loops(branch.producer) : SharedLoops{};
  const bool stored = !indices.empty() && may_overwrite(branch.producer, tree_) &&
                      (for_gpu_ ? has_one_writer() : !sums_pieces(branch.producer));
  if (start == 0 || stored) return;
  loop_ir::Phase phase;
  phase.range = loop_ir::integer(1);
  phase.body = make(loop_ir::Fill{builder_.values(branch.temporary), loop_ir::integer(0),
                                  builder_.elements(branch.temporary, indices), loop_ir::number(start)});
  builder_.add_phase(std::move(phase));
}

void Emitter::emit_phase(const NestPtr& nest, const Sink& sink, loop_ir::Step step) {
  step_ = step;
  shares_ = {};
  outermost_ = std::visit([](const auto& node) -> const void* { return &node; }, nest->node);
  if (units_.columns != nullptr) outermost_ = units_.rows;
  Statements out;
  const Scope scope = start(nest, out);
  loop_ir::Phase phase = describe(units_.columns != nullptr ? units_.columns->body : nest);
  phase.step = step;
  if (step == loop_ir::Step::count) {
    emit_count(nest, scope, out);
  } else {
    emit(nest, scope, sink, out);
  }
  if (for_gpu_) close_units(out, phase);
  phase.body = loop_ir::block(std::move(out));
  const auto cut = tree_.cuts.find(nest.get());
  if (cut != tree_.cuts.end() && step == loop_ir::Step::compute)
    phase.cut = emit_cut(nest, sink, cut->second);
  builder_.add_phase(std::move(phase));
}

/// Nothing is bound.
Scope Emitter::start(const NestPtr& nest, Statements& out) {
  Scope scope;
  for (const auto& each : tree_.operands) scope.positions.push_back(start_position(each));
  settle_all(operands_below(nest, tree_), scope, out);
  return scope;
}

/// Iterations of a phase's outermost loop, or of the several that are one, write elements of their own.
bool Emitter::writes_own(const Loop& loop) const {
  const Operand& target = operand(target_of(loop.body));
  const Operand* walked = loop.manner.positions > 0 ? &operand(operand_at(loop)) : nullptr;
  for (int level = 0; level < loop.manner.positions; ++level) {
    if (level_of(target, walked->indices[static_cast<std::size_t>(level)]) < 0) return false;
  }
  if (loop.manner.collapsed && level_of(target, std::get<Loop>(loop.body->node).index) < 0) return false;
  return level_of(target, loop.index) >= 0;
}

/// The phase's outermost loops are one for the threads, and sum: what they sum comes in pieces.
bool Emitter::sums_pieces(const NestPtr& nest) const {
  if (const auto* branch = std::get_if<Branch>(&nest->node)) return sums_pieces(branch->consumer);
  const auto* loop = std::get_if<Loop>(&nest->node);
  return loop != nullptr && (loop->manner.collapsed || loop->manner.positions > 0) && !writes_own(*loop);
}

loop_ir::Phase Emitter::describe(const NestPtr& nest) {
  loop_ir::Phase phase;
  phase.range = loop_ir::integer(1);
  const auto* loop = std::get_if<Loop>(&nest->node);
  const auto* blocks = std::get_if<Blocks>(&nest->node);
  if (!loop && !blocks) return phase;
  const int index = loop ? loop->index : blocks->index;
  const NestPtr& body = loop ? loop->body : blocks->body;
  const int target = target_of(nest);
  phase.parallel = loop ? writes_own(*loop) : level_of(operand(target), index) >= 0;
  if (atomic_ >= 0) {
    phase.parallel = true;
  } else if (!phase.parallel && !tracks(target) && !appends_to(target)) {
    phase.parallel = true;
    phase.fold = loop_ir::Fold{builder_.values(operand(target).tensor), monoid_of(nest),
                               work_of(nest, tree_, builder_)};
  }
  if (loop != nullptr && loop->manner.positions > 0) {
    phase.range = builder_.entries(operand(operand_at(*loop)), loop->manner.positions - 1);
    return phase;
  }
  const LoopSpace space = loop_space(body, index, tree_);
  const bool positions = space.kind == LoopSpace::Kind::walk || space.kind == LoopSpace::Kind::table ||
                         (loop != nullptr && space.kind == LoopSpace::Kind::intersection);
  if (positions) {
    const auto& walked = space.cursors.front();
    SCHAAS_CHECK(walked.level == 0, "the outermost loop is below another level");
    phase.range = loop_ir::load(builder_.positions(operand(walked.operand).tensor, 0), loop_ir::integer(1));
  } else {
    phase.range = builder_.extent(index);
  }
  if (loop && loop->manner.collapsed) {
    phase.range = loop_ir::multiply(phase.range, builder_.extent(std::get<Loop>(body->node).index));
    return phase;
  }
  const auto cut = tree_.cuts.find(nest.get());
  if (cut != tree_.cuts.end()) {
    phase.balance_argument = tensor_of(cut->second.operand).argument;
    phase.balance_level = 1;
    return phase;
  }
  std::vector<int> weighed;
  if (positions) weighed.push_back(space.cursors.front().operand);
  if (!positions) weighed = factors_below(body, tree_);
  for (const int number : weighed) {
    const auto& levels = tensor_of(number).levels;
    if (level_of(operand(number), index) != 0) continue;
    const bool here = levels[0] == LevelFormat::dense || levels[0] == LevelFormat::bitmap || positions;
    const bool weighs =
        levels.size() > 1 && (levels[1] == LevelFormat::compressed || levels[1] == LevelFormat::banded);
    if (here && weighs) {
      phase.balance_argument = tensor_of(number).argument;
      phase.balance_level = 1;
      break;
    }
  }
  return phase;
}

void Emitter::emit(const NestPtr& nest, const Scope& scope, const Sink& sink, Statements& out) {
  if (is_chain(nest)) {
    known_.clear();
    const NestPtr* at = &nest;
    while (const auto* loop = std::get_if<Loop>(&(*at)->node)) at = &loop->body;
    const auto& leaf = std::get<Leaf>((*at)->node);
    Pending pending{is_plain_product(leaf) ? leaf.factors : std::vector<int>{}, nullptr};
    if (leaf.scale && is_plain_product(leaf)) pending.prefix = loop_ir::number(*leaf.scale);
    emit_chain(nest, scope, std::move(pending), sink, out);
    return;
  }
  std::visit(Match{
                 [&](const Loop& loop) {
                   reduce(scope, sink, out, [&](const Sink& inner) {
                     const Shape shape = loop.lanes ? Shape::lanes : Shape::scalar;
                     emit_loop(loop, scope, shape, out,
                               [&](Scope& below, Statements& body) { emit(loop.body, below, inner, body); });
                   });
                 },
                 [&](const Blocks& blocks) {
                   if (cleared_ && cleared_->blocks == &blocks)
                     return emit_blocks_of_row(blocks, scope, sink, out);
                   reduce(scope, sink, out, [&](const Sink& inner) {
                     emit_blocks(blocks, scope, out, [&](Scope& below, Statements& body) {
                       emit(blocks.body, below, inner, body);
                     });
                   });
                 },
                 [&](const Branch& branch) { emit_branch(branch, scope, sink, out); },
                 [&](const Terms& sum) {
                   reduce(scope, sink, out, [&](const Sink& inner) {
                     for (const auto& term : sum.terms) emit(term, scope, inner, out);
                   });
                 },
                 [&](const Leaf&) {},
             },
             nest->node);
}

/// Several terms, or a loop with a branch somewhere below: what it sums is summed in a register where it goes
/// to one place.
void Emitter::reduce(const Scope& scope, const Sink& sink, Statements& out, const Around& around) {
  const bool sums =
      sink.kind == Sink::Kind::define ||
      (sink.kind == Sink::Kind::array && is_complete(sink.operand, scope) && sums_in_register(sink.operand));
  if (!sums) return around(sink);
  const Sink inner{Sink::Kind::accumulate, -1, Write::fold,
                   sink.kind == Sink::Kind::define ? sink.name : builder_.names().fresh("t"), sink.monoid};
  out.push_back(accumulator(inner.name, sink.monoid));
  around(inner);
  if (sink.kind == Sink::Kind::array) write(sink, scope, loop_ir::name(inner.name), out);
}

void Emitter::emit_branch(const Branch& branch, const Scope& scope, const Sink& sink, Statements& out) {
  const int writer = target_of(branch.producer);
  const auto& indices = operand(writer).indices;
  const auto monoid = monoid_of(branch.producer);
  if (tracks(writer)) {
    const Sink produced{Sink::Kind::array, writer, Write::fold, "", monoid};
    return emit_tracked(
        branch, out, [&] { emit(branch.producer, scope, produced, out); },
        [&] { emit(branch.consumer, scope, sink, out); });
  }
  if (indices.empty()) {
    const std::string text = builder_.names().fresh("t");
    scalars_[branch.temporary] = text;
    emit(branch.producer, scope, Sink{Sink::Kind::define, -1, Write::fold, text, monoid}, out);
    emit(branch.consumer, scope, sink, out);
    return;
  }
  builder_.add_workspace(branch.temporary, indices);
  const std::string array = builder_.values(branch.temporary);
  const Reset reset = reset_of(branch, tree_);
  if (reset == Reset::before)
    out.push_back(make(loop_ir::Fill{array, loop_ir::integer(0), builder_.extents(branch.temporary, indices),
                                     loop_ir::number(tensor_of(writer).fill)}));
  const Write mode = reset == Reset::overwrite ? Write::set : Write::fold;
  emit(branch.producer, scope, Sink{Sink::Kind::array, writer, mode, "", monoid}, out);
  emit(branch.consumer, scope, sink, out);
  if (reset == Reset::after) emit_reset(branch.producer, scope, writer, out);
}

/// Walks the producer's loops again and stores 0, what the temporary starts from, wherever it wrote.
void Emitter::emit_reset(const NestPtr& nest, const Scope& scope, int target, Statements& out) {
  if (is_complete(target, scope)) {
    out.push_back(make(loop_ir::Store{builder_.values(operand(target).tensor),
                                      location(position_of(target, scope)), Write::set, loop_ir::number(0)}));
    return;
  }
  std::visit(Match{
                 [&](const Loop& loop) {
                   emit_loop(loop, scope, Shape::scalar, out, [&](Scope& inner, Statements& body) {
                     emit_reset(loop.body, inner, target, body);
                   });
                 },
                 [&](const Blocks& blocks) {
                   emit_blocks(blocks, scope, out, [&](Scope& inner, Statements& body) {
                     emit_reset(blocks.body, inner, target, body);
                   });
                 },
                 [&](const Branch& branch) {
                   const auto consume = [&] { emit_reset(branch.consumer, scope, target, out); };
                   if (!tracks(target_of(branch.producer))) return consume();
                   // The loops go over what was written, which nobody remembers by now.
                   emit_tracked(
                       branch, out, [&] { emit_inserts(branch.producer, scope, out); }, consume);
                 },
                 [&](const Terms& sum) {
                   for (const auto& term : sum.terms) emit_reset(term, scope, target, out);
                 },
                 [&](const Leaf&) { SCHAAS_CHECK(false, "a leaf's target is not fully bound"); },
             },
             nest->node);
}

bool Emitter::accumulates_here(const Sink& sink, const Scope& scope, const Pending& pending) const {
  switch (sink.kind) {
    case Sink::Kind::array:
      return is_complete(sink.operand, scope) && sums_in_register(sink.operand);
    case Sink::Kind::define:
      return true;
    case Sink::Kind::accumulate:
      return pending.prefix != nullptr;
  }
  return false;
}

/// Loops around one leaf. Factors are multiplied at the outermost loop that knows them; those known before a
/// reduction starts multiply its sum instead of its terms; so do those known before one of its inner loops.
void Emitter::emit_chain(const NestPtr& nest, const Scope& scope, Pending pending, const Sink& sink,
                         Statements& out) {
  const auto* loop = std::get_if<Loop>(&nest->node);
  if (!loop) {
    const auto& leaf = std::get<Leaf>(nest->node);
    write(sink, scope,
          leaf.value ? evaluate(leaf.value, scope, {}) : product(scope, pending.prefix, pending.factors),
          out);
    return;
  }
  hoist(scope, pending, out);
  hoist_values(nest, scope, out);
  const Shape shape = chain_shape(*loop, scope);
  const auto continued = [&](const Sink& inner_sink, const Pending& inner) {
    const Body below = [&](Scope& body_scope, Statements& body) {
      emit_chain(loop->body, body_scope, inner, inner_sink, body);
    };
    const auto* leaf = std::get_if<Leaf>(&loop->body->node);
    if (leaf != nullptr && leaf->counted == loop->index) return emit_counting(*loop, scope, inner_sink, below, out);
    emit_loop(*loop, scope, shape, out, below);
  };
  if (!accumulates_here(sink, scope, pending)) return continued(sink, pending);
  // An infinite factor must not meet the zero of an empty sum, so it waits for a loop that says whether it
  // ran.
  const bool waits = pending.prefix && !tells_whether_it_runs(*loop);
  const bool reuse_name = sink.kind == Sink::Kind::define && !pending.prefix;
  const std::string sum = reuse_name ? sink.name : builder_.names().fresh("t");
  const auto declared = static_cast<std::ptrdiff_t>(out.size());
  out.push_back(accumulator(sum, sink.monoid));
  continued(Sink{Sink::Kind::accumulate, -1, Write::fold, sum, sink.monoid},
            Pending{pending.factors, waits ? pending.prefix : nullptr});
  if (reuse_name) return;
  const auto total = loop_ir::name(sum);
  if (!pending.prefix || waits) return write(sink, scope, total, out);
  const auto& ran = std::get<loop_ir::For>(out.back()->node);
  const auto some = loop_ir::apply(operators::Function::less, {ran.begin, ran.end});
  const auto product = multiply(pending.prefix, total);
  // Into a sum of sums: asked once, where a choice of values is made in each of their registers.
  if (sink.kind != Sink::Kind::accumulate)
    return write(sink, scope, loop_ir::choose(some, product, total), out);
  // In lanes the loop stands there, too, where nothing else comes before it: its own first question is this
  // one.
  Statements guarded;
  if (lanes_ > 0 && out.size() == static_cast<std::size_t>(declared) + 2) {
    guarded.assign(out.begin() + declared, out.end());
    out.resize(static_cast<std::size_t>(declared));
  }
  write(sink, scope, product, guarded);
  out.push_back(make(loop_ir::If{some, loop_ir::block(std::move(guarded))}));
}

/// A loop over what is stored, then the one value of all else, if there is anything else (unstored.h).
void Emitter::emit_counting(const Loop& loop, const Scope& scope, const Sink& sink, const Body& body,
                            Statements& out) {
  loop_ir::ExpressionPtr count;
  const LoopSpace visits = loop_space(loop.body, loop.index, tree_);
  if (visits.kind == LoopSpace::Kind::walk && !visits.condition) {
    const auto list = cursor(visits.cursors.front(), letter_of(loop.index), scope);
    count = loop_ir::subtract(list.end, list.begin);
    emit_loop(loop, scope, chain_shape(loop, scope), out, body);
  } else {
    const std::string visited = builder_.names().fresh("n");
    count = loop_ir::name(visited);
    out.push_back(make(loop_ir::Counter{visited, loop_ir::integer(0)}));
    emit_loop(loop, scope, chain_shape(loop, scope), out, [&](Scope& inner, Statements& inside) {
      inside.push_back(make(loop_ir::SetCounter{visited, loop_ir::add(count, loop_ir::integer(1))}));
      body(inner, inside);
    });
  }
  const auto space = leaf_space(std::get<Leaf>(loop.body->node), loop.index, tree_);
  Statements rest;
  write(sink, scope, loop_ir::number(*space.otherwise), rest);
  const auto fewer = loop_ir::apply(operators::Function::less, {count, builder_.extent(loop.index)});
  out.push_back(make(loop_ir::If{fewer, loop_ir::block(std::move(rest))}));
}

/// An innermost loop over a range or one list: its bounds tell.
bool Emitter::tells_whether_it_runs(const Loop& loop) const {
  if (!std::holds_alternative<Leaf>(loop.body->node) || loop.block) return false;
  const LoopSpace space = loop_space(loop.body, loop.index, tree_);
  if (space.condition) return false;
  return space.kind == LoopSpace::Kind::range || space.kind == LoopSpace::Kind::band ||
         (space.kind == LoopSpace::Kind::walk && format::is_unique(level_format(space.cursors.front())));
}

bool Emitter::is_complete(int number, const Scope& scope) const {
  const int place = operand(number).place;
  return complete(position_of(number, scope), tensor_of(place < 0 ? number : place));
}

void Emitter::settle_all(const std::vector<int>& operands, Scope& scope, Statements& out) {
  for (const int number : operands) {
    if (operand(number).place >= 0) continue;
    settle(scope.positions[static_cast<std::size_t>(number)], operand(number), tensor_of(number), builder_,
           out);
  }
}

}  // namespace schaas::lower
