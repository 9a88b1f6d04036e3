#pragma once
#include <random>

#include "compiler/problem/problem.h"
#include "compiler/schedule/trace.h"

namespace schaas::test_support {

/// The trace with directives for the threads of a GPU: of up to forty random ones for each phase, the
/// first five that apply.
schedule::Trace with_random_units(const schedule::Trace& trace, const problem::Problem& problem,
                                  std::mt19937_64& random);

}  // namespace schaas::test_support
