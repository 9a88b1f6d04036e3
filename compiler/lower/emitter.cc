#include "compiler/lower/emitter.h"

#include <algorithm>

#include "compiler/lower/temporaries.h"

namespace schaas::lower {

using loop_ir::ExpressionPtr;
using loop_ir::make;
using loop_ir::Match;
using loop_ir::Shape;
using loop_ir::Write;

void Emitter::emit_phases(const NestPtr& nest) {
  if (const auto* branch = std::get_if<Branch>(&nest->node)) {
    const int writer = target_of(branch->producer);
    builder_.add_shared(branch->temporary, operand(writer).indices);
    emit_phases(branch->producer);
    emit_phases(branch->consumer);
    return;
  }
  const int target = target_of(nest);
  const bool fresh =
      tensor_of(target).temporary() && writes_each_once(nest, tree_) && !operand(target).indices.empty();
  builder_.mark_written(operand(target).tensor);
  emit_phase(nest, Sink{Sink::Kind::array, target, fresh ? Write::set : Write::fold, ""});
}

void Emitter::emit_phase(const NestPtr& nest, const Sink& sink) {
  outermost_ = std::visit([](const auto& node) -> const void* { return &node; }, nest->node);
  Scope scope;
  for (const auto& each : tree_.operands) scope.positions.push_back(start_position(each));
  Statements out;
  settle_all(operands_below(nest), scope, out);
  loop_ir::Phase phase = describe(nest);
  emit(nest, scope, sink, out);
  phase.body = loop_ir::block(std::move(out));
  builder_.add_phase(std::move(phase));
}

loop_ir::Phase Emitter::describe(const NestPtr& nest) {
  loop_ir::Phase phase;
  phase.range = loop_ir::integer(1);
  const auto* loop = std::get_if<Loop>(&nest->node);
  const auto* blocks = std::get_if<Blocks>(&nest->node);
  if (!loop && !blocks) return phase;
  const int index = loop ? loop->index : blocks->index;
  phase.parallel = level_of(operand(target_of(nest)), index) >= 0;
  const auto point = merge_point(index, loop ? loop->body : blocks->body);
  if (point.iterated.empty()) {
    phase.range = builder_.extent(index);
  } else {
    const auto& walked = point.iterated.front();
    SCHAAS_CHECK(walked.level == 0, "the outermost loop is below another level");
    phase.range = loop_ir::load(builder_.positions(operand(walked.operand).tensor, 0), loop_ir::integer(1));
  }
  const auto& weighed = point.iterated.empty() ? point.located : point.iterated;
  for (const auto& access : weighed) {
    const auto& levels = tensor_of(access.operand).levels;
    if (access.level == 0 && levels.size() > 1 && levels[1] == format::LevelFormat::compressed) {
      phase.balance_argument = tensor_of(access.operand).argument;
      phase.balance_level = 1;
      break;
    }
    if (!point.iterated.empty()) break;
  }
  return phase;
}

void Emitter::emit(const NestPtr& nest, const Scope& scope, const Sink& sink, Statements& out) {
  if (is_chain(nest)) {
    const NestPtr* at = &nest;
    while (const auto* loop = std::get_if<Loop>(&(*at)->node)) at = &loop->body;
    emit_chain(nest, scope, Pending{std::get<Leaf>((*at)->node).factors, nullptr}, sink, false, out);
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
                   reduce(scope, sink, out, [&](const Sink& inner) {
                     emit_blocks(blocks, scope, out, [&](Scope& below, Statements& body) {
                       emit(blocks.body, below, inner, body);
                     });
                   });
                 },
                 [&](const Branch& branch) { emit_branch(branch, scope, sink, out); },
                 [&](const Leaf&) {},
             },
             nest->node);
}

/// A loop with a branch somewhere below: what it sums is summed in a register where it goes to one place.
void Emitter::reduce(const Scope& scope, const Sink& sink, Statements& out, const Around& around) {
  const bool sums =
      sink.kind == Sink::Kind::define || (sink.kind == Sink::Kind::array && is_complete(sink.operand, scope));
  if (!sums) return around(sink);
  const Sink inner{Sink::Kind::accumulate, -1, Write::fold,
                   sink.kind == Sink::Kind::define ? sink.name : builder_.names().fresh("t")};
  out.push_back(make(loop_ir::Accumulator{inner.name}));
  around(inner);
  if (sink.kind == Sink::Kind::array) write(sink, scope, loop_ir::name(inner.name), out);
}

void Emitter::emit_branch(const Branch& branch, const Scope& scope, const Sink& sink, Statements& out) {
  const int writer = target_of(branch.producer);
  const auto& indices = operand(writer).indices;
  if (indices.empty()) {
    const std::string text = builder_.names().fresh("t");
    scalars_[branch.temporary] = text;
    emit(branch.producer, scope, Sink{Sink::Kind::define, -1, Write::fold, text}, out);
    emit(branch.consumer, scope, sink, out);
    return;
  }
  builder_.add_workspace(branch.temporary, indices);
  const std::string array = builder_.values(branch.temporary);
  const Reset reset = reset_of(branch, tree_);
  if (reset == Reset::before)
    out.push_back(
        make(loop_ir::Fill{array, builder_.extents(branch.temporary, indices), loop_ir::number(0)}));
  const Write mode = reset == Reset::overwrite ? Write::set : Write::fold;
  emit(branch.producer, scope, Sink{Sink::Kind::array, writer, mode, ""}, out);
  emit(branch.consumer, scope, sink, out);
  if (reset == Reset::after) emit_clear(branch.producer, scope, writer, out);
}

/// Walks the producer's loops again and stores 0 wherever it wrote.
void Emitter::emit_clear(const NestPtr& nest, const Scope& scope, int target, Statements& out) {
  if (is_complete(target, scope)) {
    out.push_back(make(loop_ir::Store{builder_.values(operand(target).tensor),
                                      location(scope.positions[static_cast<std::size_t>(target)]), Write::set,
                                      loop_ir::number(0)}));
    return;
  }
  std::visit(Match{
                 [&](const Loop& loop) {
                   emit_loop(loop, scope, Shape::scalar, out, [&](Scope& inner, Statements& body) {
                     emit_clear(loop.body, inner, target, body);
                   });
                 },
                 [&](const Blocks& blocks) {
                   emit_blocks(blocks, scope, out, [&](Scope& inner, Statements& body) {
                     emit_clear(blocks.body, inner, target, body);
                   });
                 },
                 [&](const Branch& branch) { emit_clear(branch.consumer, scope, target, out); },
                 [&](const Leaf&) { SCHAAS_CHECK(false, "a leaf's target is not fully bound"); },
             },
             nest->node);
}

bool Emitter::accumulates_here(const Sink& sink, const Scope& scope, const Pending& pending,
                               bool reducing) const {
  switch (sink.kind) {
    case Sink::Kind::array:
      return is_complete(sink.operand, scope);
    case Sink::Kind::define:
      return true;
    case Sink::Kind::accumulate:
      return !reducing && pending.prefix;
  }
  return false;
}

/// Loops around one leaf. Factors are multiplied at the outermost loop that knows them; those known before a
/// reduction starts multiply its sum instead of its terms.
void Emitter::emit_chain(const NestPtr& nest, const Scope& scope, Pending pending, const Sink& sink,
                         bool reducing, Statements& out) {
  const auto* loop = std::get_if<Loop>(&nest->node);
  if (!loop) {
    write(sink, scope, product(scope, pending.prefix, pending.factors), out);
    return;
  }
  hoist(scope, pending, out);
  const Shape shape = chain_shape(*loop, scope);
  const auto continued = [&](const Sink& inner_sink, const Pending& inner, bool inner_reducing) {
    emit_loop(*loop, scope, shape, out, [&](Scope& body_scope, Statements& body) {
      emit_chain(loop->body, body_scope, inner, inner_sink, inner_reducing, body);
    });
  };
  if (!accumulates_here(sink, scope, pending, reducing)) {
    continued(sink, pending, sink.kind == Sink::Kind::accumulate);
    return;
  }
  const bool reuse_name = sink.kind == Sink::Kind::define && !pending.prefix;
  const std::string sum = reuse_name ? sink.name : builder_.names().fresh("t");
  out.push_back(make(loop_ir::Accumulator{sum}));
  continued(Sink{Sink::Kind::accumulate, -1, Write::fold, sum}, Pending{pending.factors, nullptr}, true);
  if (reuse_name) return;
  const auto total = loop_ir::name(sum);
  write(sink, scope, pending.prefix ? loop_ir::multiply(pending.prefix, total) : total, out);
}

void Emitter::hoist(const Scope& scope, Pending& pending, Statements& out) {
  std::vector<int> ready;
  std::vector<int> later;
  for (const int factor : pending.factors) (is_complete(factor, scope) ? ready : later).push_back(factor);
  if (ready.empty()) return;
  auto value = product(scope, pending.prefix, ready);
  if (!std::holds_alternative<loop_ir::Name>(value->node)) {
    const std::string text = builder_.names().fresh("v");
    out.push_back(make(loop_ir::Let{text, loop_ir::Type::value, value}));
    value = loop_ir::name(text);
  }
  pending = Pending{later, value};
}

ExpressionPtr Emitter::product(const Scope& scope, ExpressionPtr prefix, const std::vector<int>& factors) {
  for (const int factor : factors) {
    auto value = value_of(factor, scope);
    prefix = prefix ? loop_ir::multiply(std::move(prefix), std::move(value)) : std::move(value);
  }
  SCHAAS_CHECK(prefix, "a product without factors");
  return prefix;
}

ExpressionPtr Emitter::value_of(int number, const Scope& scope) {
  const auto scalar = scalars_.find(operand(number).tensor);
  if (scalar != scalars_.end()) return loop_ir::name(scalar->second);
  SCHAAS_CHECK(is_complete(number, scope),
               "`" + tensor_of(number).name + "` is read before its indices are bound");
  return loop_ir::load(builder_.values(operand(number).tensor),
                       location(scope.positions[static_cast<std::size_t>(number)]));
}

void Emitter::write(const Sink& sink, const Scope& scope, const ExpressionPtr& value, Statements& out) {
  switch (sink.kind) {
    case Sink::Kind::array:
      SCHAAS_CHECK(is_complete(sink.operand, scope), "a result is written before its indices are bound");
      out.push_back(make(loop_ir::Store{builder_.values(operand(sink.operand).tensor),
                                        location(scope.positions[static_cast<std::size_t>(sink.operand)]),
                                        sink.mode, value}));
      return;
    case Sink::Kind::accumulate:
      out.push_back(make(loop_ir::Accumulate{sink.name, value}));
      return;
    case Sink::Kind::define:
      out.push_back(make(loop_ir::Let{sink.name, loop_ir::Type::value, value}));
      return;
  }
}

bool Emitter::is_complete(int number, const Scope& scope) const {
  return complete(scope.positions[static_cast<std::size_t>(number)], tensor_of(number));
}

void Emitter::settle_all(const std::vector<int>& operands, Scope& scope, Statements& out) {
  for (const int number : operands) {
    settle(scope.positions[static_cast<std::size_t>(number)], operand(number), tensor_of(number), builder_,
           out);
  }
}

}  // namespace schaas::lower
