#include "compiler/lower/emit/chains.h"

#include <utility>

#include "compiler/lower/analysis/unstored_value.h"

// A sum is formed in a register at the outermost loop that knows its element, then written once. Factors are
// multiplied at the outermost loop that knows them; those known before a sum multiply its result instead of
// its terms, also across inner sums.
namespace schaas::lower {

using loop_ir::make;
using loop_ir::Shape;
using loop_ir::Write;

void Chains::emit(const NestPtr& chain, const Scope& scope, const Sink& sink, Statements& out) const {
  const Leaf& leaf = *leaf_of_chain(chain);
  PartialProduct partial{is_plain_product(leaf) ? leaf.factors : std::vector<int>{}, nullptr};
  if (leaf.scale && is_plain_product(leaf)) partial.prefix = loop_ir::number(*leaf.scale);
  Scope start = scope;
  start.known.clear();
  start.row_sum.reset();
  if (std::holds_alternative<Loop>(chain->node)) {
    values_.hoist(start, partial, out);
    partial.known.reset();  // the loop around it may do more than this chain
  }
  emit_chain(chain, start, std::move(partial), sink, out);
}

/// A sum begins at this loop: its element is known, or factors are waiting to multiply it.
bool Chains::accumulates_here(const Loop& loop, const Sink& sink, const Scope& scope,
                              const PartialProduct& partial) const {
  // A sum around it has its one term.
  if (loop.value && sink.kind == Sink::Kind::accumulate) return false;
  switch (sink.kind) {
    case Sink::Kind::array:
      return levels_.is_complete(sink.operand, scope) && facts_.sums_in_register(sink.operand);
    case Sink::Kind::define:
      return true;
    case Sink::Kind::accumulate:
      return partial.prefix != nullptr;
  }
  return false;
}

/// Bounds tell whether an innermost loop over a range or one list runs at all.
bool Chains::reports_execution(const Loop& loop) const {
  if (!std::holds_alternative<Leaf>(loop.body->node) || loop.block || loop.value) return false;
  const LoopSpace space = facts_.space_of(loop);
  if (space.condition) return false;
  return space.kind == LoopSpace::Kind::range || space.kind == LoopSpace::Kind::band ||
         (space.kind == LoopSpace::Kind::walk &&
          format::is_unique(facts_.level_format(space.cursors.front())));
}

/// Returns the sum of an innermost loop that adds multiples of one operand to a row of a sparse accumulator.
std::optional<RowSum> Chains::row_sum(const Loop& loop, const PartialProduct& partial,
                                      const Sink& sink) const {
  const auto& leaf = std::get<Leaf>(loop.body->node);
  const bool folds =
      sink.kind == Sink::Kind::array && sink.mode == Write::fold && facts_.tracks(sink.operand);
  if (!folds || facts_.operand(sink.operand).indices != std::vector<int>{loop.index}) return std::nullopt;
  if (leaf.value) {
    const auto* negated = std::get_if<Called>(&leaf.value->node);
    if (negated == nullptr || negated->function != operators::Function::negate ||
        sink.monoid != operators::Monoid::sum)
      return std::nullopt;
    const auto* read = std::get_if<Read>(&negated->arguments.front()->node);
    if (read == nullptr) return std::nullopt;
    return RowSum{read->operand, sink.operand, loop_ir::number(-1)};
  }
  const auto product = operators::product_of(*facts_.tree.semiring, facts_.builder.kernel.value_type);
  if (partial.factors.size() != 1 || facts_.operand(partial.factors.front()).pattern) return std::nullopt;
  // Without a factor an entry is added as it is, which a product with 1 tells of numbers alone.
  const bool multiplies = product == operators::Function::multiply;
  if (!partial.prefix && !multiplies) return std::nullopt;
  return RowSum{partial.factors.front(),
                sink.operand,
                partial.prefix ? partial.prefix : loop_ir::number(1),
                multiplies ? partial.known : std::nullopt,
                {product, sink.monoid}};
}

/// Emits loops around one leaf. Multiplies each factor at the outermost loop that knows it; factors known
/// before a reduction multiply its result instead of its terms, also across inner reductions.
void Chains::emit_chain(const NestPtr& nest, Scope& scope, PartialProduct partial, const Sink& sink,
                        Statements& out) const {
  const auto* loop = std::get_if<Loop>(&nest->node);
  if (!loop) {
    const auto& leaf = std::get<Leaf>(nest->node);
    sinks_.write(sink, scope,
                 leaf.value ? values_.evaluate(leaf.value, scope, {})
                            : values_.product(scope, partial.prefix, partial.factors),
                 out);
    return;
  }
  values_.hoist(scope, partial, out);
  values_.hoist_values(nest, scope, out);
  if (std::holds_alternative<Leaf>(loop->body->node)) scope.row_sum = row_sum(*loop, partial, sink);
  const Shape shape = loops_.shape_in_chain(*loop, scope);
  const auto continued = [&](const Sink& inner_sink, const PartialProduct& inner) {
    const Body below = [&](Scope& body_scope, Statements& body) {
      emit_chain(loop->body, body_scope, inner, inner_sink, body);
    };
    if (counts_unstored(*loop)) return emit_counting(*loop, scope, inner_sink, inner, below, out);
    loops_.emit(*loop, scope, shape, out, below);
  };
  if (!accumulates_here(*loop, sink, scope, partial)) return continued(sink, partial);
  // An infinite factor times the zero of an empty sum is NaN: it waits for a loop that reports whether it
  // ran.
  const bool waits = partial.prefix && !reports_execution(*loop);
  // Threads share the producer's loop and, after it, the consumer's: each of them needs the whole sum.
  const bool folds = facts_.mapped.consumer != nullptr && loop == facts_.mapped.inside;
  const bool reuse_name = sink.kind == Sink::Kind::define && !partial.prefix && !folds;
  const std::string sum = reuse_name ? sink.name : facts_.fresh("t");
  const auto declared = static_cast<std::ptrdiff_t>(out.size());
  out.push_back(sinks_.accumulator(sum, sink.monoid));
  continued(Sink{Sink::Kind::accumulate, -1, Write::fold, sum, sink.monoid},
            PartialProduct{partial.factors, waits ? partial.prefix : nullptr});
  if (reuse_name) return;
  // The loop whose bounds tell whether the sum is empty.
  const auto ran = std::get_if<loop_ir::For>(&out.back()->node) ? out.back() : nullptr;
  const auto total = folds ? writes_.folded_in_group(sum, sink.monoid, out) : loop_ir::name(sum);
  if (!partial.prefix || waits) return sinks_.write(sink, scope, total, out);
  const auto& range = std::get<loop_ir::For>(ran->node);
  // A folded sum is empty when no thread of the group ran, whichever lane this one has.
  const auto some =
      loop_ir::apply(operators::Function::less, {folds ? loop_ir::integer(0) : range.begin, range.end});
  write_where_summed({values_.multiply(partial.prefix, total), total, some, declared}, scope, sink, out);
}

/// Writes the product where the sum has terms, and the empty sum elsewhere.
void Chains::write_where_summed(const ScaledSum& sum, const Scope& scope, const Sink& sink,
                                Statements& out) const {
  // A sum inside another sum: tested once outside, where a choice of values would be made in each register.
  if (sink.kind != Sink::Kind::accumulate)
    return sinks_.write(sink, scope, loop_ir::choose(sum.some, sum.product, sum.total), out);
  // Inside a vector loop the test stays when nothing precedes it: it replaces the loop's own first test.
  Statements guarded;
  if (scope.in_vector_loop && out.size() == static_cast<std::size_t>(sum.declared) + 2) {
    guarded.assign(out.begin() + sum.declared, out.end());
    out.resize(static_cast<std::size_t>(sum.declared));
  }
  sinks_.write(sink, scope, sum.product, guarded);
  out.push_back(make(loop_ir::If{sum.some, loop_ir::block(std::move(guarded))}));
}

/// Emits a loop over stored coordinates, then folds the one value of all others, if there are any
/// (unstored.h).
void Chains::emit_counting(const Loop& loop, const Scope& scope, const Sink& sink,
                           const PartialProduct& partial, const Body& body, Statements& out) const {
  const Leaf& leaf = *leaf_of_chain(loop.body);
  const auto elsewhere = unstored_value(leaf, loop.index, facts_.tree);
  loop_ir::ExpressionPtr count = loop_ir::integer(0);
  const LoopSpace visits = facts_.space_of(loop);
  if (elsewhere->visited == merge_lattice::none()) {
    // Nothing is walked: all values are equal.
  } else if (visits.kind == LoopSpace::Kind::walk && !visits.condition) {
    // A list that is walked whole tells its number of coordinates; else visits are counted.
    const auto list = levels_.cursor(visits.cursors.front(), facts_.letter_of(loop.index), scope);
    count = loop_ir::subtract(list.end, list.begin);
    loops_.emit(loop, scope, loops_.shape_in_chain(loop, scope), out, body);
  } else {
    const std::string visited = facts_.fresh("n");
    count = loop_ir::name(visited);
    out.push_back(make(loop_ir::Counter{visited, loop_ir::integer(0)}));
    loops_.emit(loop, scope, loops_.shape_in_chain(loop, scope), out, [&](Scope& inner, Statements& inside) {
      inside.push_back(make(loop_ir::SetCounter{visited, loop_ir::add(count, loop_ir::integer(1))}));
      body(inner, inside);
    });
  }
  const auto extent = facts_.builder.extents.of(loop.index);
  auto unstored = leaf.value ? values_.evaluate(elsewhere->value, scope, {})
                             : values_.product(scope, partial.prefix, partial.factors);
  const bool multiple = operators::folding_of_equal_values(leaf.monoid, number_of(elsewhere->value)) ==
                            operators::EqualValues::as_multiple &&
                        facts_.builder.kernel.value_type != operators::ValueType::boolean;
  auto others = loop_ir::subtract(extent, count);
  auto some = loop_ir::apply(operators::Function::less, {count, extent});
  // A coordinate that is not stored stands for all coordinates of the counted loops inside.
  for (const NestPtr* at = &loop.body; const auto* inner = std::get_if<Loop>(&(*at)->node);
       at = &inner->body) {
    const auto inside = facts_.builder.extents.of(inner->index);
    others = loop_ir::multiply(others, inside);
    some = loop_ir::apply(operators::Function::logical_and,
                          {some, loop_ir::apply(operators::Function::less, {loop_ir::integer(0), inside})});
  }
  if (multiple)
    unstored = loop_ir::apply(operators::Function::multiply, {loop_ir::convert(others), unstored});
  Statements rest;
  sinks_.write(sink, scope, unstored, rest);
  out.push_back(make(loop_ir::If{some, loop_ir::block(std::move(rest))}));
}

}  // namespace schaas::lower
