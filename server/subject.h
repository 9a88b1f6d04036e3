#pragma once
#include <string>

#include "server/scheduling.h"

namespace schaas::server {

/// A problem, ready to be asked about.
struct Subject {
  problem::Canonical canonical;
  UserNames names;
  frontier::Options options;
};

/// What a question asks. The solver of `means` tells contradictions here and serves in all that is asked with
/// the options.
/// Errors: those of check_text, frontier::build_consistent and check_size; invalid [search-bounds].
support::Result<Subject> subject_of(const problem::ProblemText& text, const SearchBounds& bounds,
                                    const SearchMeans& means, const support::Cancellation& cancellation);
/// Leaves out stage 2. Errors: invalid [no-stage2] when the profile has none.
support::Result<void> leave_out_stage2(Subject& subject);

/// "s1", "s2", ...
bool is_frontier_id(const std::string& text);
/// "g1", "g2", ...: of a schedule for GPUs
bool is_gpu_id(const std::string& text);
/// A trace the user wrote, checked against the problem, so that errors quote it in the user's names.
support::Result<schedule::Trace> canonical_trace(const std::string& text, const Subject& subject);
/// Errors: invalid [unknown-schedule].
support::Result<const frontier::Survivor*> survivor_named(const frontier::Frontier& found,
                                                          const std::string& id);

/// The names and arguments alone: what an answer without search says.
NamedFrontier without_entries(const Subject& subject);
support::Result<NamedFrontier> named(const frontier::Frontier& found, const Subject& subject);

}  // namespace schaas::server
