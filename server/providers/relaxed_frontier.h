#pragma once
#include <optional>
#include <string>

#include "compiler/frontier/frontier.h"
#include "compiler/problem/canonical.h"

namespace schaas::server {

/// Returns the key of the problem without constraints and position width. Problems that differ in nothing
/// else share it, unless a symmetry of the product is written differently; those are searched separately.
std::string unconstrained_key(const problem::Problem& canonical);

/// Derives the frontier of `query` from the stored one of a relaxed problem. Returns none when `relaxed` is
/// not proven to allow every size that `query` allows (frontier::stands_for_space), or when the two differ in
/// more than constraints. The answer is that of a search. `relaxed` and `stored` are canonical. Errors:
/// exhausted (cancelled, deadline).
support::Result<std::optional<frontier::Frontier>> from_relaxed(const problem::Canonical& query,
                                                                const problem::Problem& relaxed,
                                                                const frontier::Frontier& stored,
                                                                const frontier::Options& options,
                                                                const frontier::Progress& progress,
                                                                const support::Cancellation& cancellation);

}  // namespace schaas::server
