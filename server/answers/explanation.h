#pragma once
#include <string>
#include <vector>

#include "server/answers/prepared_problem.h"
#include "server/answers/scheduling.h"
#include "server/providers/kernel_provider.h"

namespace schaas::server {

/// Explains why schedules are, or are not, on the frontier of a problem (frontier::Explainer), in the user's
/// names. Searches, and stores, when the frontier is unknown. Errors: those of Scheduling::explain.
support::Result<std::vector<answers::Explanation>> explain(const ExplainQuery& query,
                                                           KernelProvider& provider, const SearchMeans& means,
                                                           const support::Cancellation& cancellation);

/// Adds to each entry the sizes at which it wins (frontier::wins), as far as they are found within `budget`.
void add_wins(answers::Frontier& named, const frontier::Frontier& found, const PreparedProblem& prepared,
              const support::Cancellation& budget);

}  // namespace schaas::server
