#include "compiler/lower/emit/structure_loops.h"

namespace schaas::lower {

using loop_ir::make;
using loop_ir::Match;
using loop_ir::Shape;
using loop_ir::Write;

/// Emits the producer without its values.
void StructureLoops::emit_inserts(const NestPtr& nest, const Scope& scope, Statements& out) const {
  std::visit(Match{
                 [&](const Loop& loop) {
                   loops_.emit(loop, scope, loop_ir::Shape::scalar, out,
                               [&](Scope& below, Statements& body) { emit_inserts(loop.body, below, body); });
                 },
                 [&](const Blocks& blocks) {
                   block_loops_.emit(blocks, scope, out, [&](Scope& below, Statements& body) {
                     emit_inserts(blocks.body, below, body);
                   });
                 },
                 [&](const Branch& branch) {
                   const auto consume = [&] { emit_inserts(branch.consumer, scope, out); };
                   if (!facts_.tracks(target_of(branch.producer))) return consume();
                   accumulators_.emit(
                       branch, out, [&] { emit_inserts(branch.producer, scope, out); }, consume);
                 },
                 [&](const Terms& sum) {
                   for (const auto& term : sum.terms) emit_inserts(term, scope, out);
                 },
                 [&](const Leaf& leaf) {
                   Scope inserted = scope;
                   accumulators_.emit_insert(leaf.target, inserted, out);
                 },
             },
             nest->node);
}

void StructureLoops::emit_count(const NestPtr& nest, const Scope& scope, Statements& out) const {
  std::visit(Match{
                 [&](const Loop& loop) {
                   const int target = target_of(nest);
                   if (level_of(facts_.operand(target), loop.index) > last_sparse(facts_.tensor_of(target)))
                     return;
                   if (level_of(facts_.operand(target), loop.index) < 0) return;
                   loops_.emit(loop, scope, loop_ir::Shape::scalar, out,
                               [&](Scope& below, Statements& body) { emit_count(loop.body, below, body); });
                 },
                 [&](const Blocks&) { SCHAAS_CHECK(false, "a sparse result is appended to in blocks"); },
                 [&](const Branch& branch) {
                   const auto consume = [&] { emit_count(branch.consumer, scope, out); };
                   if (!decides_entries(branch, facts_.tree)) return consume();
                   accumulators_.emit(
                       branch, out, [&] { emit_inserts(branch.producer, scope, out); }, consume);
                 },
                 [](const Terms&) {},  // inside all loops over levels that are appended to
                 [](const Leaf&) {},
             },
             nest->node);
}

void StructureLoops::emit_reset(const NestPtr& nest, const Scope& scope, int target, Statements& out) const {
  if (levels_.is_complete(target, scope)) {
    out.push_back(
        make(loop_ir::Store{facts_.builder.arrays.values(facts_.operand(target).tensor),
                            location(levels_.position_of(target, scope)), Write::set, loop_ir::number(0)}));
    return;
  }
  std::visit(Match{
                 [&](const Loop& loop) {
                   loops_.emit(loop, scope, Shape::scalar, out, [&](Scope& inner, Statements& body) {
                     emit_reset(loop.body, inner, target, body);
                   });
                 },
                 [&](const Blocks& blocks) {
                   block_loops_.emit(blocks, scope, out, [&](Scope& inner, Statements& body) {
                     emit_reset(blocks.body, inner, target, body);
                   });
                 },
                 [&](const Branch& branch) {
                   const auto consume = [&] { emit_reset(branch.consumer, scope, target, out); };
                   if (!facts_.tracks(target_of(branch.producer))) return consume();
                   // The loops walk the written elements, whose list has been consumed by now.
                   accumulators_.emit(
                       branch, out, [&] { emit_inserts(branch.producer, scope, out); }, consume);
                 },
                 [&](const Terms& sum) {
                   for (const auto& term : sum.terms) emit_reset(term, scope, target, out);
                 },
                 [&](const Leaf&) { SCHAAS_CHECK(false, "a leaf's target is not fully bound"); },
             },
             nest->node);
}

}  // namespace schaas::lower
