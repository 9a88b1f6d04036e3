#pragma once
#include "compiler/problem/problem.h"
#include "compiler/schedule/trace.h"

namespace schaas::frontier {

/// Returns a schedule of a contraction in steps of two operands that needs no search. It moves the operands
/// into the order of a greedy chain. It splits two at a time from the left, without common loops. Steps are
/// compared at the sizes of `program` (sparse_point.h), the problem itself or one with the product in a nest.
/// Thread-safe; takes microseconds. No errors; the trace may be illegal by storage orders.
schedule::Trace greedy_chain(const problem::Problem& product, const problem::Problem& program);

}  // namespace schaas::frontier
