#pragma once
#include <vector>

#include "compiler/problem/problem.h"
#include "compiler/support/result.h"

/// Precomputed calls: functions of dense elements become intermediates (workspaces for subexpressions:
/// Kjolstad et al., CGO 2019, section 4).
namespace schaas::problem {

/// Calls of a problem by their numbers, counted from 0 in the order of the text.
struct PrecomputeRequest {
  std::vector<int> calls;
  bool operator==(const PrecomputeRequest&) const = default;
};

/// Returns the request for all calls that may be precomputed; no calls when there are none. Each is the
/// outermost costly call (index_notation/costly_calls.h) of dense elements, one of which has all of its
/// indices. The nest around has other indices, so loops may compute the call again. Equal calls count once.
PrecomputeRequest possible_precomputes(const Problem& problem);

/// Returns the problem with an intermediate for each of these calls, before the first statement that reads
/// it:
///     S(i,c) = B(i,j) * log(P(c,j))   ->   log_values(c,j) = log(P(c,j)); S(i,c) = B(i,j) * log_values(c,j)
/// Errors: invalid [illegal-directive]: no such call, a call named twice, more statements than a program has.
support::Result<Problem> with_precomputed(const Problem& problem, const PrecomputeRequest& request);

}  // namespace schaas::problem
