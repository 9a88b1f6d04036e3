#pragma once
#include <optional>
#include <string>

#include "compiler/frontier/frontier.h"
#include "compiler/problem/canonical.h"

namespace schaas::server {

/// What the problems that differ only in their constraints (and in the width of positions) have in common:
/// the key of the problem without constraints. Two that differ in a symmetry of the product as well may be
/// told apart by how it is written; then they merely do not help each other.
std::string family_key(const problem::Problem& canonical);

/// The frontier of `query` from a stored one of its family. None when the stored problem is not proven to
/// allow every size that `query` allows (frontier::stands_for_space), or when the two do not fit together.
/// `looser` and `stored` are both canonical. Errors: exhausted (cancelled, deadline).
support::Result<std::optional<frontier::Frontier>> from_looser(const problem::Canonical& query,
                                                               const problem::Problem& looser,
                                                               const frontier::Frontier& stored,
                                                               const frontier::Options& options,
                                                               const frontier::Progress& progress,
                                                               const support::Cancellation& cancellation);

}  // namespace schaas::server
