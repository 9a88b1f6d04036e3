#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/schedule/temporary_names.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Returns the start of every trace. For a contraction it is the linear nest: all loops around one
/// assignment, factors as in the statement, in the first legal loop order. That order has at each depth the
/// earliest index of index_variables(statement) that no access order forbids. For other programs it is one
/// nest per statement and per reduction inside one (statement_nest.h), each intermediate before its readers.
/// Incomplete for a sparse result that is not appended to in order (ordered_appends.h).
concrete_notation::StatementPtr default_nest(const problem::Problem& problem);
concrete_notation::StatementPtr default_nest(const problem::Problem& problem, TemporaryNames& names);

/// Returns the trace used without a requested schedule: empty, or the re-layouts that the default nest needs
/// for a loop order (concrete_notation::needed_copies).
Trace default_trace(const problem::Problem& problem);

/// Returns the problem with the re-layouts that the trace stores: the one its tree, costs and kernels are
/// for. The empty trace stands for default_trace. Errors: as apply.
support::Result<problem::Problem> problem_of(const Trace& trace, const problem::Problem& problem);

/// Replays `trace` on the default nest of problem_of(trace, problem); every intermediate tree is verified, or
/// only the last one when storage orders that contradict each other leave no legal nest to begin with.
/// Temporaries are named t1, t2, ... in order of creation. Errors: unsupported [no-loop-order] (no legal
/// nest, no copies that would help, and nothing splits it); invalid [illegal-directive] quoting the directive
/// with caret in print(trace), with the reason (path leads nowhere, section is branched, order is no
/// permutation of the section's loops, order breaks the access order of `B`, loc out of range, ...).
support::Result<concrete_notation::StatementPtr> apply(const Trace& trace, const problem::Problem& problem);

/// Replays a trace that the search wrote: only the last tree is verified, which takes a third of the time.
support::Result<concrete_notation::StatementPtr> apply_own(const Trace& trace,
                                                           const problem::Problem& problem);

}  // namespace schaas::schedule
