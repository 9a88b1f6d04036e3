#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "compiler/problem/problem.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/cancellation.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Returns the schedules whose loop tree has this short form (concrete_notation::print_loop_tree):
/// "i<j<k,l>,lm>", loops before their producer and consumer. The form does not name the factors of a part.
/// There may be several schedules, in no order, at most `limit`, at most one for each assignment of the
/// factors. Each has been replayed and prints as `text`. Errors: invalid [tree-syntax] pointing into the
/// text, [unknown-index] (with suggestion), [no-such-tree] when no schedule of this problem has it; exhausted
/// (cancelled).
support::Result<std::vector<Trace>> traces_of_tree(std::string_view text, const problem::Problem& problem,
                                                   std::size_t limit,
                                                   const support::Cancellation& cancellation);

}  // namespace schaas::schedule
