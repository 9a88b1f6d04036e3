#pragma once
#include <vector>

#include "compiler/problem/problem.h"
#include "compiler/schedule/trace.h"

namespace schaas::schedule {

/// Translates a trace of `from` to `to`, the same contraction with factor n at `positions[n]`. Factors and
/// loops of the root section are put in the order in which `trace` takes them, where the default nest
/// differs. A trace that is empty or only stores re-layouts stands for the default nest of either. Illegal
/// traces of `from` are illegal for `to`.
Trace with_factors_at(const Trace& trace, const problem::Problem& from, const problem::Problem& to,
                      const std::vector<int>& positions);

}  // namespace schaas::schedule
