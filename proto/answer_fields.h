#pragma once
#include <utility>

#include "proto/answers.h"
#include "proto/fields.h"

/// Fields of answers: of each struct in the order of its message in schaas.proto.
namespace schaas::answers {

template <>
struct WireNames<Variable::Kind> {
  static constexpr int first = 1;
  static constexpr std::array names = {"EXTENT", "FIBER", "MATCHES", "STEPS"};
};
template <>
struct WireNames<Scope> {
  static constexpr int first = 0;
  static constexpr auto otherwise = Scope::unknown;
  static constexpr std::array names = {"SCOPE_UNSPECIFIED", "THREAD", "SHARED", "OPERAND"};
};
template <>
struct WireNames<Constraint::Factor::Kind> {
  static constexpr int first = 1;
  static constexpr std::array names = {"EXTENT", "NONZEROS"};
};
template <>
struct WireNames<Verdict> {
  static constexpr int first = 0;
  static constexpr auto otherwise = Verdict::open;
  static constexpr std::array names = {"survivor", "removed", "left-out", "open"};
};

template <class V, Of<std::pair<std::string, std::string>> X>
void fields(V& v, X& x) {  // Counts::spaces
  SCHAAS_FIELD(name, first);
  SCHAAS_FIELD(members, second);
}
template <class V, Of<support::Digest> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(sha256, sha256);
  SCHAAS_FIELD(bytes, bytes);
}

}  // namespace schaas::answers

namespace schaas::client {

using answers::Of;

template <class V, Of<Variable> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(kind, kind);
  SCHAAS_FIELD(index, index);
  SCHAAS_FIELD(tensor, tensor);
  SCHAAS_FIELD(level, level);
  SCHAAS_FIELD(copy_of, copy_of);
  SCHAAS_FIELD(outer, outer);
  SCHAAS_FIELD(outer_dense, outer_dense);
  SCHAAS_FIELD(lists, lists);
}
template <class V, Of<Term> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(weight, weight);
  SCHAAS_FIELD(variables, variables);
  SCHAAS_FIELD(serial, serial);
  SCHAAS_FIELD(scope, scope);
}
template <class V, Of<Nest::Loop> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(trips, trips);
  SCHAAS_FIELD(block, block);
  SCHAAS_FIELD(inside, inside);
  SCHAAS_FIELD(under, under);
  SCHAAS_FIELD(index, index);
}
template <class V, Of<Nest::Access> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(tensor, tensor);
  SCHAAS_FIELD(sparse, sparse);
  SCHAAS_FIELD(loops, loops);
  SCHAAS_FIELD(unit, unit);
  SCHAAS_FIELD(sums, sums);
  SCHAAS_FIELD(table, table);
}
/// Lowering describes leaves in a struct of its own with the same members.
template <class V, class X>
void code_fields(V& v, X& x) {
  SCHAAS_FIELD(tile_loop, tile_loop);
  SCHAAS_FIELD(tile, tile);
  SCHAAS_FIELD(kept, kept);
  SCHAAS_FIELD(lengths, lengths);
  SCHAAS_FIELD(streams, streams);
  SCHAAS_FIELD(numeric, numeric);
  SCHAAS_FIELD(row_in_registers, row_in_registers);
}
template <class V, Of<Nest::Code> X>
void fields(V& v, X& x) {
  code_fields(v, x);
}
template <class V, Of<Nest> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(loops, loops);
  SCHAAS_FIELD(accesses, accesses);
  SCHAAS_FIELD(shared, shared);
  SCHAAS_FIELD(serial, serial);
  SCHAAS_FIELD(weight, weight);
  SCHAAS_FIELD(code, code);
}
template <class V, Of<Variant> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(trace, trace);
  SCHAAS_FIELD(nests, nests);
  SCHAAS_FIELD(tree, tree);
  SCHAAS_FIELD(memory_terms, memory_terms);
}
template <class V, Of<FrontierEntry> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(id, id);
  SCHAAS_FIELD(trace, trace);
  SCHAAS_FIELD(tree, tree);
  SCHAAS_FIELD(time, time);
  SCHAAS_FIELD(memory, memory);
  SCHAAS_FIELD(time_terms, time_terms);
  SCHAAS_FIELD(memory_terms, memory_terms);
  SCHAAS_FIELD(members, members);
  SCHAAS_FIELD(loop_trees, loop_trees);
  SCHAAS_FIELD(other_traces, other_traces);
  SCHAAS_FIELD(wins, wins);
  SCHAAS_FIELD(code, code);
  SCHAAS_FIELD(variants, variants);
}
template <class V, Of<GpuPhase> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(columns, columns);
  SCHAAS_FIELD(columns_take, columns_take);
  SCHAAS_FIELD(rows, rows);
  SCHAAS_FIELD(take, take);
  SCHAAS_FIELD(share, share);
  SCHAAS_FIELD(width, width);
  SCHAAS_FIELD(segments, segments);
  SCHAAS_FIELD(side_by_side, side_by_side);
  SCHAAS_FIELD(block, block);
  SCHAAS_FIELD(one_writer, exclusive_writes);
  SCHAAS_FIELD(stage, stage);
  SCHAAS_FIELD(merge_path, merge_path);
}
template <class V, Of<GpuSchedule> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(id, id);
  SCHAAS_FIELD(entry, entry);
  SCHAAS_FIELD(trace, trace);
  SCHAAS_FIELD(tree, tree);
  SCHAAS_FIELD(point, point);
  SCHAAS_FIELD(order_is_chance, nondeterministic);
  SCHAAS_FIELD(phases, phases);
  SCHAAS_FIELD(nests, nests);
  SCHAAS_FIELD(memory_terms, memory_terms);
}
/// The search counts in a struct of its own with the same members, likewise its seconds.
template <class V, class X>
void count_fields(V& v, X& x) {
  SCHAAS_FIELD(space, space);
  SCHAAS_FIELD(stage1, stage1);
  SCHAAS_FIELD(stage2, stage2);
  SCHAAS_FIELD(stage3, stage3);
  SCHAAS_FIELD(states, states);
  SCHAAS_FIELD(classes_stage1, classes_stage1);
  SCHAAS_FIELD(classes_stage2, classes_stage2);
  SCHAAS_FIELD(classes_stage3, classes_stage3);
  SCHAAS_FIELD(solver_queries, solver_queries);
  SCHAAS_FIELD(solver_unknown, solver_unknown);
  SCHAAS_FIELD(log_proofs, log_proofs);
  SCHAAS_FIELD(witnesses, witnesses);
  SCHAAS_FIELD(solver_pairs, solver_pairs);
  SCHAAS_FIELD(solver_milliseconds, solver_milliseconds);
  SCHAAS_FIELD(solver_worst_milliseconds, solver_worst_milliseconds);
  SCHAAS_FIELD(spaces, spaces);
}
template <class V, Of<Counts> X>
void fields(V& v, X& x) {
  count_fields(v, x);
}
template <class V, class X>
void second_fields(V& v, X& x) {
  SCHAAS_FIELD(space, space);
  SCHAAS_FIELD(stage1, stage1);
  SCHAAS_FIELD(stage2, stage2);
  SCHAAS_FIELD(stage3, stage3);
  SCHAAS_FIELD(total, total);
}
template <class V, Of<StageSeconds> X>
void fields(V& v, X& x) {
  second_fields(v, x);
}
template <class V, Of<Measurement> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(trace, trace);
  SCHAAS_FIELD(sizes, sizes);
  SCHAAS_FIELD(threads, threads);
  SCHAAS_FIELD(isa, isa);
  SCHAAS_FIELD(seconds, seconds);
  SCHAAS_FIELD(exclusive, exclusive);
}
template <class V, Of<Removal> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(time, time);
  SCHAAS_FIELD(memory, memory);
  SCHAAS_FIELD(by, by);
  SCHAAS_FIELD(kind, kind);
  SCHAAS_FIELD(argument, argument);
  SCHAAS_FIELD(id, id);
  SCHAAS_FIELD(time_terms, time_terms);
  SCHAAS_FIELD(memory_terms, memory_terms);
  SCHAAS_FIELD(winner, winner);
}
template <class V, Of<Constraint::Factor> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(kind, kind);
  SCHAAS_FIELD(name, name);
  SCHAAS_FIELD(levels, levels);
  SCHAAS_FIELD(exponent, exponent);
}
template <class V, Of<Constraint::Monomial> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(coefficient, coefficient);
  SCHAAS_FIELD(factors, factors);
}
template <class V, Of<Constraint> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(left, left);
  SCHAAS_FIELD(right, right);
}
template <class V, Of<Frontier> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(key, key);
  SCHAAS_FIELD(canonical, canonical);
  SCHAAS_FIELD(constraints, constraints);
  SCHAAS_FIELD(entries, entries);
  SCHAAS_FIELD(counts, counts);
  SCHAAS_FIELD(seconds, seconds);
  SCHAAS_FIELD(complete, complete);
  SCHAAS_FIELD(arguments, arguments);
  SCHAAS_FIELD(user_tensors, user_tensors);
  SCHAAS_FIELD(user_indices, user_indices);
  SCHAAS_FIELD(removals, removals);
  SCHAAS_FIELD(statement, statement);
  SCHAAS_FIELD(removed, removed);
  SCHAAS_FIELD(hit, hit);
  SCHAAS_FIELD(partial, partial);
  SCHAAS_FIELD(looser, relaxed_from);
  SCHAAS_FIELD(limited, limited);
  SCHAAS_FIELD(measurements, measurements);
  SCHAAS_FIELD(gpu, gpu);
  SCHAAS_FIELD(signature, signature);
}
template <class V, Of<KernelInfo> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(id, id);
  SCHAAS_FIELD(kernel_key, kernel_key);
  SCHAAS_FIELD(trace, trace);
  SCHAAS_FIELD(isa, isa);
  SCHAAS_FIELD(digest, digest);
  SCHAAS_FIELD(compile_seconds, compile_seconds);
  SCHAAS_FIELD(hit, hit);
  SCHAAS_FIELD(tree, tree);
  SCHAAS_FIELD(time, time);
  SCHAAS_FIELD(memory, memory);
  SCHAAS_FIELD(time_terms, time_terms);
  SCHAAS_FIELD(memory_terms, memory_terms);
  SCHAAS_FIELD(draft, baseline);
  SCHAAS_FIELD(signature, signature);
  SCHAAS_FIELD(nondeterministic, nondeterministic);
}
template <class V, Of<Competitor> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(id, id);
  SCHAAS_FIELD(sizes, sizes);
  SCHAAS_FIELD(time, time);
  SCHAAS_FIELD(memory, memory);
  SCHAAS_FIELD(other_time, other_time);
  SCHAAS_FIELD(other_memory, other_memory);
}
template <class V, Of<Explanation> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(verdict, verdict);
  SCHAAS_FIELD(id, id);
  SCHAAS_FIELD(trace, trace);
  SCHAAS_FIELD(tree, tree);
  SCHAAS_FIELD(code, code);
  SCHAAS_FIELD(time, time);
  SCHAAS_FIELD(memory, memory);
  SCHAAS_FIELD(by, by);
  SCHAAS_FIELD(kind, kind);
  SCHAAS_FIELD(argument, argument);
  SCHAAS_FIELD(rivals, competitors);
}

}  // namespace schaas::client
