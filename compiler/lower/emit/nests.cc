#include "compiler/lower/emit/nests.h"

#include <utility>

#include "compiler/lower/emit/facts/temporaries.h"

// Emits a numbered tree by recursion, as taco does (Kjolstad et al., OOPSLA 2017; branches are the workspaces
// of CGO 2019). A sink says where a value goes: to an element, into an accumulator, or under a name. A scope
// holds the positions that the loops entered so far determine and is copied at each loop.
namespace schaas::lower {

using loop_ir::make;
using loop_ir::Match;
using loop_ir::Shape;
using loop_ir::Write;

void Nests::emit(const NestPtr& nest, const Scope& scope, const Sink& sink, Statements& out) const {
  if (is_chain(nest)) {
    if (const auto needed = absent_factors(nest, scope, sink); !needed.empty())
      return emit_where_present(nest, needed, scope, sink, out);
    return chains_.emit(nest, scope, sink, out);
  }
  std::visit(Match{
                 [&](const Loop& loop) {
                   reduce(scope, sink, out, [&](const Sink& inner) {
                     const Shape shape = loop.vector ? Shape::vector : Shape::scalar;
                     loops_.emit(loop, scope, shape, out, [&](Scope& below, Statements& body) {
                       emit(loop.body, below, inner, body);
                     });
                   });
                 },
                 [&](const Blocks& blocks) {
                   if (clearing_.has_blocks(blocks)) return clear_and_emit(blocks, scope, sink, out);
                   reduce(scope, sink, out, [&](const Sink& inner) {
                     block_loops_.emit(blocks, scope, out, [&](Scope& below, Statements& body) {
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
std::set<int> Nests::absent_factors(const NestPtr& nest, const Scope& scope, const Sink& sink) const {
  const bool sums = sink.monoid == facts_.tree.semiring->sum &&
                    (sink.kind != Sink::Kind::array || sinks_.is_one_element(sink, scope));
  if (!sums || scope.in_vector_loop || facts_.for_gpu || !std::holds_alternative<Loop>(nest->node)) return {};
  const Leaf& leaf = *leaf_of_chain(nest);
  std::set<int> absent;
  if (leaf.value != nullptr) {
    values_.annihilators(leaf.value, scope, absent);
    return absent;
  }
  for (const int factor : leaf.factors)
    if (levels_.position_of(factor, scope).present) absent.insert(factor);
  return absent;
}

/// Emits a summed chain under the condition that these operands are present.
void Nests::emit_where_present(const NestPtr& nest, const std::set<int>& operands, const Scope& scope,
                               const Sink& sink, Statements& out) const {
  reduce(scope, sink, out, [&](const Sink& inner) {
    Scope held = scope;
    for (const int number : operands) held.positions[static_cast<std::size_t>(number)].present = nullptr;
    Statements inside;
    emit(nest, held, inner, inside);
    out.push_back(make(loop_ir::If{values_.presence(operands, scope), loop_ir::block(std::move(inside))}));
  });
}

/// Emits several terms, or a loop with a branch below, around a register accumulator when the sum goes to one
/// element.
void Nests::reduce(const Scope& scope, const Sink& sink, Statements& out, const Around& around) const {
  const bool sums = sink.kind == Sink::Kind::define ||
                    (sink.kind == Sink::Kind::array && sinks_.is_one_element(sink, scope));
  if (!sums) return around(sink);
  const Sink inner{Sink::Kind::accumulate, -1, Write::fold,
                   sink.kind == Sink::Kind::define ? sink.name : facts_.fresh("t"), sink.monoid};
  out.push_back(sinks_.accumulator(inner.name, sink.monoid));
  around(inner);
  if (sink.kind == Sink::Kind::array) sinks_.write(sink, scope, loop_ir::name(inner.name), out);
}

/// Emits blocks that each add to a row which is cleared first, unless there is only one.
void Nests::clear_and_emit(const Blocks& blocks, const Scope& scope, const Sink& sink,
                           Statements& out) const {
  const auto into = [&](const Sink& to) -> Body {
    return [this, &blocks, to](Scope& inner, Statements& body) { emit(blocks.body, inner, to, body); };
  };
  clearing_.emit_blocks({blocks, sink, into}, scope, out);
}

/// Emits producer and consumer of a temporary: a sparse accumulator, a local name, or an array in scratch.
void Nests::emit_branch(const Branch& branch, const Scope& scope, const Sink& sink, Statements& out) const {
  const int writer = target_of(branch.producer);
  const auto& indices = facts_.operand(writer).indices;
  const auto monoid = monoid_of(branch.producer);
  if (facts_.tracks(writer)) {
    const Sink produced{Sink::Kind::array, writer, Write::fold, "", monoid};
    return accumulators_.emit(
        branch, out, [&] { emit(branch.producer, scope, produced, out); },
        [&] { emit(branch.consumer, scope, sink, out); });
  }
  if (indices.empty()) {
    const std::string text = facts_.fresh("t");
    emit(branch.producer, scope, Sink{Sink::Kind::define, -1, Write::fold, text, monoid}, out);
    Scope inner = scope;
    inner.scalars[branch.temporary] = text;
    return emit(branch.consumer, inner, sink, out);
  }
  facts_.builder.scratch.add_values(branch.temporary, indices);
  const std::string array = facts_.builder.arrays.values(branch.temporary);
  const Reset reset = reset_of(branch, facts_.tree);
  if (reset == Reset::before)
    out.push_back(make(loop_ir::Fill{array, loop_ir::integer(0),
                                     facts_.builder.extents.product(branch.temporary, indices),
                                     loop_ir::number(facts_.tensor_of(writer).fill)}));
  const Write mode = reset == Reset::overwrite ? Write::set : Write::fold;
  emit(branch.producer, scope, Sink{Sink::Kind::array, writer, mode, "", monoid}, out);
  emit(branch.consumer, scope, sink, out);
  if (reset == Reset::after) structure_.emit_reset(branch.producer, scope, writer, out);
}

}  // namespace schaas::lower
