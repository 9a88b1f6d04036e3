#include "compiler/lower/emit/emitter.h"

#include <algorithm>
#include <utility>

#include "compiler/lower/analysis/referenced_rows.h"
#include "compiler/lower/emit/temporaries.h"
#include "compiler/lower/emit/work.h"

// Lowers a numbered tree by recursion, phase by phase, as taco does (Kjolstad et al., OOPSLA 2017; branches
// are the workspaces of CGO 2019). A sink says where a value goes: to an element, into an accumulator, or
// under a name. A scope holds the positions that the loops entered so far determine and is copied at each
// loop. A sum is formed in a register at the outermost loop that knows its element, then written once.
// Factors are multiplied at the outermost loop that knows them; those known before a sum multiply its
// result. Rewriting that needs no knowledge of formats is left to passes on kernels (passes.cc).
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

/// Emits the phases of producers before those of the consumers that read them.
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
  // Neither a branch nor a sum: the nest is one phase.
  const int target = target_of(nest);
  builder_.set_written(operand(target).tensor);
  const auto* loop = std::get_if<Loop>(&nest->node);
  const bool atomic = loop != nullptr && loop->annotation.parallel == Races::atomics;
  atomic_ = atomic ? operand(target).tensor : -1;
  mapped_ = for_gpu_ ? mapped_loops(nest, tree_) : MappedLoops{};
  const Write mode = for_gpu_                       ? thread_write_mode(nest)
                     : atomic                       ? Write::atomic
                     : reduces_across_threads(nest) ? Write::fold
                                                    : write_mode(nest);
  const Sink sink{Sink::Kind::array, target, mode, "", monoid_of(nest)};
  if (appends_to(target)) return emit_appending_phases(nest, sink);
  cleared_ = cleared_rows(nest, sink);
  if (cleared_) builder_.set_all_written();
  emit_phase(nest, sink, loop_ir::Step::compute);
  cleared_.reset();
  // An element that is stored exactly once needs no start value. Partial results of split rows are folded.
  const bool stored = mode == Write::set && tensor_of(target).temporary() && !for_gpu_ &&
                      tree_.row_splits.count(nest.get()) == 0 && writes_each_once(nest, tree_);
  if (!stored) return;
  builder_.set_stored(operand(target).tensor);
  if (reader_ == nullptr || reader_->temporary != operand(target).tensor ||
      !iterates_rows(nest, target, tree_))
    return;
  const auto referenced = referenced_rows(reader_->consumer, reader_->temporary, tree_);
  if (!referenced) return;
  const std::string variable = builder_.names().fresh("q");
  builder_.note_loop(std::get<Loop>(nest->node), variable);
  builder_.last_phase() = over_referenced_rows(
      std::move(builder_.last_phase()),
      builder_.add_referenced(operand(referenced->operand), referenced->level), variable);
}

/// Decides whether a phase stores or folds into its target, and whether it writes every value of a result.
Write Emitter::write_mode(const NestPtr& nest) {
  const int target = target_of(nest);
  const Tensor& tensor = tensor_of(target);
  // Scalars, terms of a sum and elements of sparse accumulators are folded into.
  if (operand(target).indices.empty() || adds_terms_ || tracks(target) || !sums_in_register(target))
    return Write::fold;
  if (tensor.temporary()) return may_overwrite(nest, tree_) ? Write::set : Write::fold;
  const bool all = writes_each_once(nest, tree_);
  // Only a sum starting at 0 leaves a fresh element equal to the first term.
  const bool plain = monoid_of(nest) == operators::Monoid::sum && tensor.fill == 0 && !tree_.update;
  if (!plain || !writes_none_twice(nest, tree_)) return Write::fold;
  if (all || writes_entries_once(nest, tree_)) builder_.set_all_written();
  return Write::set;
}

/// Allocates a temporary that one phase leaves to later ones; it starts at zero.
void Emitter::emit_shared(const Branch& branch) {
  const int writer = target_of(branch.producer);
  const auto& indices = operand(writer).indices;
  builder_.add_shared(branch.temporary, indices);
  if (tracks(writer)) {
    const auto occupancy_levels = static_cast<std::ptrdiff_t>(tensor_of(writer).occupancy_levels);
    accumulators_[branch.temporary].flags =
        builder_.add_shared_flags(branch.temporary, {indices.begin(), indices.begin() + occupancy_levels});
    return;
  }
  const double start = tensor_of(writer).fill;
  mapped_ = for_gpu_ ? mapped_loops(branch.producer, tree_) : MappedLoops{};
  const bool stored = !indices.empty() && may_overwrite(branch.producer, tree_) &&
                      (for_gpu_ ? writes_exclusively() : !reduces_across_threads(branch.producer));
  // Shared arrays start at zero; a phase of its own fills in another start value.
  if (start == 0 || stored) return;
  loop_ir::Phase phase;
  phase.range = loop_ir::integer(1);
  phase.body = make(loop_ir::Fill{builder_.values(branch.temporary), loop_ir::integer(0),
                                  builder_.elements(branch.temporary, indices), loop_ir::number(start)});
  builder_.add_phase(std::move(phase));
}

void Emitter::emit_phase(const NestPtr& nest, const Sink& sink, loop_ir::Step step) {
  step_ = step;
  entry_ranges_ = {};
  outermost_ = std::visit([](const auto& node) -> const void* { return &node; }, nest->node);
  // With columns around them, the rows are counted by the range.
  if (mapped_.columns != nullptr) outermost_ = mapped_.rows;
  Statements out;
  const Scope scope = start(nest, out);
  loop_ir::Phase phase = describe(mapped_.columns != nullptr ? mapped_.columns->body : nest);
  phase.step = step;
  if (step == loop_ir::Step::symbolic) {
    emit_count(nest, scope, out);
  } else {
    emit(nest, scope, sink, out);
  }
  if (for_gpu_) close_mapping(out, phase);
  phase.body = loop_ir::block(std::move(out));
  const auto row_split = tree_.row_splits.find(nest.get());
  if (row_split != tree_.row_splits.end() && step == loop_ir::Step::compute)
    phase.row_split = emit_row_split(nest, sink, row_split->second);
  builder_.add_phase(std::move(phase));
}

/// Returns the scope in which no index is bound.
Scope Emitter::start(const NestPtr& nest, Statements& out) {
  Scope scope;
  for (const auto& each : tree_.operands) scope.positions.push_back(start_position(each));
  resolve_all(operands_below(nest, tree_), scope, out);
  return scope;
}

/// Iterations of the phase's outermost loop, or of its collapsed loops, write disjoint elements.
bool Emitter::writes_own(const Loop& loop) const {
  const Operand& target = operand(target_of(loop.body));
  const Operand* walked = loop.annotation.positions > 0 ? &operand(operand_at(loop)) : nullptr;
  for (int level = 0; level < loop.annotation.positions; ++level) {
    if (level_of(target, walked->indices[static_cast<std::size_t>(level)]) < 0) return false;
  }
  if (loop.annotation.collapsed && level_of(target, std::get<Loop>(loop.body->node).index) < 0) return false;
  return level_of(target, loop.index) >= 0;
}

/// Collapsed or position loops of the phase reduce: each thread holds partial sums of the same elements.
bool Emitter::reduces_across_threads(const NestPtr& nest) const {
  if (const auto* branch = std::get_if<Branch>(&nest->node)) return reduces_across_threads(branch->consumer);
  const auto* loop = std::get_if<Loop>(&nest->node);
  return loop != nullptr && (loop->annotation.collapsed || loop->annotation.positions > 0) &&
         !writes_own(*loop);
}

/// Describes the phase of a nest: its range, parallelism, and the level whose positions weigh iterations.
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
  // Ranges need not write disjoint elements when they write atomically, or fold into private copies.
  if (atomic_ >= 0) {
    phase.parallel = true;
  } else if (!phase.parallel && !tracks(target) && !appends_to(target)) {
    phase.parallel = true;
    phase.fold = loop_ir::Fold{builder_.values(operand(target).tensor), monoid_of(nest),
                               work_of(nest, tree_, builder_)};
  }
  if (loop != nullptr && loop->annotation.positions > 0) {
    phase.range = builder_.entries(operand(operand_at(*loop)), loop->annotation.positions - 1);
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
  if (loop && loop->annotation.collapsed) {
    phase.range = loop_ir::multiply(phase.range, builder_.extent(std::get<Loop>(body->node).index));
    return phase;
  }
  const auto row_split = tree_.row_splits.find(nest.get());
  if (row_split != tree_.row_splits.end()) {
    phase.balance_argument = tensor_of(row_split->second.operand).argument;
    phase.balance_level = 1;
    return phase;
  }
  // An iteration weighs as much as it has entries in the level right below the outermost one.
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

/// Returns the leaf of a chain.
const Leaf& leaf_of_chain(const NestPtr& nest) {
  const NestPtr* at = &nest;
  while (const auto* loop = std::get_if<Loop>(&(*at)->node)) at = &loop->body;
  return std::get<Leaf>((*at)->node);
}

/// Emits a nest whose value goes to the sink. Loops around a single leaf are a chain (emit_chain).
void Emitter::emit(const NestPtr& nest, const Scope& scope, const Sink& sink, Statements& out) {
  if (is_chain(nest)) {
    if (const auto needed = absent_factors(nest, scope, sink); !needed.empty())
      return emit_where_present(nest, needed, scope, sink, out);
    known_.clear();
    const Leaf& leaf = leaf_of_chain(nest);
    PartialProduct partial{is_plain_product(leaf) ? leaf.factors : std::vector<int>{}, nullptr};
    if (leaf.scale && is_plain_product(leaf)) partial.prefix = loop_ir::number(*leaf.scale);
    emit_chain(nest, scope, std::move(partial), sink, out);
    return;
  }
  std::visit(Match{
                 [&](const Loop& loop) {
                   reduce(scope, sink, out, [&](const Sink& inner) {
                     const Shape shape = loop.vector ? Shape::vector : Shape::scalar;
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

/// Returns the operands of a summed chain of loops that may be absent in loops around. Each of them makes the
/// sum the semiring's zero where it is. In vector loops their flags are values and decide no loop.
std::set<int> Emitter::absent_factors(const NestPtr& nest, const Scope& scope, const Sink& sink) const {
  const bool sums =
      sink.monoid == tree_.semiring->sum && (sink.kind != Sink::Kind::array || is_one_element(sink, scope));
  if (!sums || vector_depth_ > 0 || for_gpu_ || !std::holds_alternative<Loop>(nest->node)) return {};
  const Leaf& leaf = leaf_of_chain(nest);
  std::set<int> absent;
  if (leaf.value != nullptr) {
    annihilators(leaf.value, scope, absent);
    return absent;
  }
  for (const int factor : leaf.factors)
    if (position_of(factor, scope).present) absent.insert(factor);
  return absent;
}

/// Emits a summed chain under the condition that these operands are present.
void Emitter::emit_where_present(const NestPtr& nest, const std::set<int>& operands, const Scope& scope,
                                 const Sink& sink, Statements& out) {
  reduce(scope, sink, out, [&](const Sink& inner) {
    Scope held = scope;
    for (const int number : operands) held.positions[static_cast<std::size_t>(number)].present = nullptr;
    Statements inside;
    emit(nest, held, inner, inside);
    out.push_back(make(loop_ir::If{presence(operands, scope), loop_ir::block(std::move(inside))}));
  });
}

/// The array sink is one element here, which may be summed in a register.
bool Emitter::is_one_element(const Sink& sink, const Scope& scope) const {
  return is_complete(sink.operand, scope) && sums_in_register(sink.operand);
}

/// Emits several terms, or a loop with a branch below, around a register accumulator when the sum goes to one
/// element.
void Emitter::reduce(const Scope& scope, const Sink& sink, Statements& out, const Around& around) {
  const bool sums =
      sink.kind == Sink::Kind::define || (sink.kind == Sink::Kind::array && is_one_element(sink, scope));
  if (!sums) return around(sink);
  const Sink inner{Sink::Kind::accumulate, -1, Write::fold,
                   sink.kind == Sink::Kind::define ? sink.name : builder_.names().fresh("t"), sink.monoid};
  out.push_back(accumulator(inner.name, sink.monoid));
  around(inner);
  if (sink.kind == Sink::Kind::array) write(sink, scope, loop_ir::name(inner.name), out);
}

/// Emits producer and consumer of a temporary: a sparse accumulator, a local name, or an array in scratch.
void Emitter::emit_branch(const Branch& branch, const Scope& scope, const Sink& sink, Statements& out) {
  const int writer = target_of(branch.producer);
  const auto& indices = operand(writer).indices;
  const auto monoid = monoid_of(branch.producer);
  if (tracks(writer)) {
    const Sink produced{Sink::Kind::array, writer, Write::fold, "", monoid};
    return emit_accumulator(
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
  builder_.add_scratch(branch.temporary, indices);
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

/// Walks the producer's loops again and stores 0, the start value of the temporary, wherever it wrote.
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
                   // The loops walk the written elements, whose list has been consumed by now.
                   emit_accumulator(
                       branch, out, [&] { emit_inserts(branch.producer, scope, out); }, consume);
                 },
                 [&](const Terms& sum) {
                   for (const auto& term : sum.terms) emit_reset(term, scope, target, out);
                 },
                 [&](const Leaf&) { SCHAAS_CHECK(false, "a leaf's target is not fully bound"); },
             },
             nest->node);
}

/// A sum begins at this loop: its element is known, or factors are waiting to multiply it.
bool Emitter::accumulates_here(const Sink& sink, const Scope& scope, const PartialProduct& partial) const {
  switch (sink.kind) {
    case Sink::Kind::array:
      return is_complete(sink.operand, scope) && sums_in_register(sink.operand);
    case Sink::Kind::define:
      return true;
    case Sink::Kind::accumulate:
      return partial.prefix != nullptr;
  }
  return false;
}

/// Emits loops around one leaf. Multiplies each factor at the outermost loop that knows it; factors known
/// before a reduction multiply its result instead of its terms, also across inner reductions.
void Emitter::emit_chain(const NestPtr& nest, const Scope& scope, PartialProduct partial, const Sink& sink,
                         Statements& out) {
  const auto* loop = std::get_if<Loop>(&nest->node);
  if (!loop) {
    const auto& leaf = std::get<Leaf>(nest->node);
    write(sink, scope,
          leaf.value ? evaluate(leaf.value, scope, {}) : product(scope, partial.prefix, partial.factors),
          out);
    return;
  }
  hoist(scope, partial, out);
  hoist_values(nest, scope, out);
  const Shape shape = chain_shape(*loop, scope);
  const auto continued = [&](const Sink& inner_sink, const PartialProduct& inner) {
    const Body below = [&](Scope& body_scope, Statements& body) {
      emit_chain(loop->body, body_scope, inner, inner_sink, body);
    };
    const auto* leaf = std::get_if<Leaf>(&loop->body->node);
    if (leaf != nullptr && leaf->counted == loop->index)
      return emit_counting(*loop, scope, inner_sink, below, out);
    emit_loop(*loop, scope, shape, out, below);
  };
  if (!accumulates_here(sink, scope, partial)) return continued(sink, partial);
  // An infinite factor times the zero of an empty sum is NaN: it waits for a loop that reports whether it
  // ran.
  const bool waits = partial.prefix && !reports_execution(*loop);
  // Threads share the producer's loop and, after it, the consumer's: each of them needs the whole sum.
  const bool folds = mapped_.consumer != nullptr && loop == mapped_.inside;
  const bool reuse_name = sink.kind == Sink::Kind::define && !partial.prefix && !folds;
  const std::string sum = reuse_name ? sink.name : builder_.names().fresh("t");
  const auto declared = static_cast<std::ptrdiff_t>(out.size());
  out.push_back(accumulator(sum, sink.monoid));
  continued(Sink{Sink::Kind::accumulate, -1, Write::fold, sum, sink.monoid},
            PartialProduct{partial.factors, waits ? partial.prefix : nullptr});
  if (reuse_name) return;
  // The loop whose bounds tell whether the sum is empty.
  const auto ran = std::get_if<loop_ir::For>(&out.back()->node) ? out.back() : nullptr;
  const auto total = folds ? folded_in_group(sum, sink.monoid, out) : loop_ir::name(sum);
  if (!partial.prefix || waits) return write(sink, scope, total, out);
  const auto& range = std::get<loop_ir::For>(ran->node);
  // A folded sum is empty when no thread of the group ran, whichever lane this one has.
  const auto some =
      loop_ir::apply(operators::Function::less, {folds ? loop_ir::integer(0) : range.begin, range.end});
  const auto product = multiply(partial.prefix, total);
  // A sum inside another sum: tested once outside, where a choice of values would be made in each register.
  if (sink.kind != Sink::Kind::accumulate)
    return write(sink, scope, loop_ir::choose(some, product, total), out);
  // Inside a vector loop the test stays when nothing precedes it: it replaces the loop's own first test.
  Statements guarded;
  if (vector_depth_ > 0 && out.size() == static_cast<std::size_t>(declared) + 2) {
    guarded.assign(out.begin() + declared, out.end());
    out.resize(static_cast<std::size_t>(declared));
  }
  write(sink, scope, product, guarded);
  out.push_back(make(loop_ir::If{some, loop_ir::block(std::move(guarded))}));
}

/// Emits a loop over stored coordinates, then folds the one value of all others, if there are any
/// (unstored.h).
void Emitter::emit_counting(const Loop& loop, const Scope& scope, const Sink& sink, const Body& body,
                            Statements& out) {
  loop_ir::ExpressionPtr count;
  const LoopSpace visits = loop_space(loop.body, loop.index, tree_);
  // A list that is walked whole tells its number of coordinates; else visits are counted.
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

/// Bounds tell whether an innermost loop over a range or one list runs at all.
bool Emitter::reports_execution(const Loop& loop) const {
  if (!std::holds_alternative<Leaf>(loop.body->node) || loop.block) return false;
  const LoopSpace space = loop_space(loop.body, loop.index, tree_);
  if (space.condition) return false;
  return space.kind == LoopSpace::Kind::range || space.kind == LoopSpace::Kind::band ||
         (space.kind == LoopSpace::Kind::walk && format::is_unique(level_format(space.cursors.front())));
}

bool Emitter::is_complete(int number, const Scope& scope) const {
  const int located_by = operand(number).located_by;
  return complete(position_of(number, scope), tensor_of(located_by < 0 ? number : located_by));
}

void Emitter::resolve_all(const std::vector<int>& operands, Scope& scope, Statements& out) {
  for (const int number : operands) {
    if (operand(number).located_by >= 0) continue;
    resolve(scope.positions[static_cast<std::size_t>(number)], operand(number), tensor_of(number), builder_,
            out);
  }
}

}  // namespace schaas::lower
