#pragma once
#include <string>
#include <vector>

#include "server/kernel_provider.h"
#include "server/scheduling.h"

namespace schaas::server {

/// Why schedules are, or are not, on the frontier of a problem (frontier::Explainer), in the user's names.
/// Searches, and stores, when the frontier is not known. Errors: those of Scheduling::explain.
support::Result<std::vector<NamedExplanation>> explain(const ExplainQuery& query, KernelProvider& provider,
                                                       const SearchMeans& means,
                                                       const support::Cancellation& cancellation);

/// Adds to each entry at which sizes it wins (frontier::wins), as far as that is found in some milliseconds.
void add_wins(NamedFrontier& named, const frontier::Frontier& found, const UserNames& names,
              const support::Cancellation& cancellation);

}  // namespace schaas::server
