#pragma once
#include <string>

#include "server/answers/scheduling.h"

namespace schaas::server {

/// A parsed, checked and canonicalised problem with the options of its search.
struct PreparedProblem {
  problem::Canonical canonical;
  UserNames names;
  frontier::Options options;
};

/// Parses, checks and canonicalises a problem. The solver of `means` detects contradictions here and is used
/// by later searches with the options. Errors: those of check_text, frontier::build_consistent and
/// check_size; invalid [search-bounds].
support::Result<PreparedProblem> prepare(const problem::ProblemText& text, const SearchBounds& bounds,
                                         const SearchMeans& means, const support::Cancellation& cancellation);
/// Disables stage 2. Errors: invalid [no-stage2] when the profile has none.
support::Result<void> leave_out_stage2(PreparedProblem& prepared);

/// Asks for the frontier. Errors: those of the provider, in the user's names.
support::Result<FrontierAnswer> frontier_of(const PreparedProblem& prepared, KernelProvider& provider,
                                            const FrontierQuery& query, const frontier::Progress& progress,
                                            const support::Cancellation& cancellation);
/// Asks for a kernel. Errors: those of the provider, in the user's names.
support::Result<KernelAnswer> kernel_of(const PreparedProblem& prepared, KernelProvider& provider,
                                        const KernelQuery& query, const support::Cancellation& cancellation);
/// Parses a trace of the user's and checks it against the problem, so that errors quote the user's names.
support::Result<schedule::Trace> canonical_trace(const std::string& text, const PreparedProblem& prepared);
/// Finds a survivor by id. Errors: invalid [unknown-schedule].
support::Result<const frontier::Survivor*> survivor_named(const frontier::Frontier& found,
                                                          const std::string& id);

/// Returns the id of the class of this cost, "s3" or "r17"; "" when the frontier has none.
std::string class_id(const cost::Cost& cost, const frontier::Frontier& found);

/// Returns names and arguments alone: the answer to a request without search.
answers::Frontier without_entries(const PreparedProblem& prepared);
support::Result<answers::Frontier> named(const frontier::Frontier& found, const PreparedProblem& prepared);

}  // namespace schaas::server
