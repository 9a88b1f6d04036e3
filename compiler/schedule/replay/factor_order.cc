#include "compiler/schedule/replay/factor_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/schedule/replay/apply.h"
#include "compiler/schedule/section.h"

// Translates traces between two orders of one product's factors: the server searches the canonical order,
// while users read and write traces of their own.
namespace schaas::schedule {
namespace {

/// Returns the loops of the default nest that `trace` begins with; empty when there is none.
std::vector<std::string> default_loops(const Trace& trace, const problem::Problem& problem) {
  const auto known = problem_of(trace, problem);
  if (!known.ok()) return {};
  const auto section = find_section(default_nest(*known), {});
  return section.ok() ? section->loops : std::vector<std::string>();
}

/// Returns the directive if it concerns the root section.
template <class Kind>
const Kind* at_root(const std::vector<Directive>& directives, std::size_t n) {
  const Kind* directive = n < directives.size() ? std::get_if<Kind>(&directives[n]) : nullptr;
  return directive != nullptr && directive->path.empty() ? directive : nullptr;
}

}  // namespace

/// Both problems have the same factors; only a leading `permute` and `reorder` of the root depend on their
/// order.
Trace with_factors_at(const Trace& trace, const problem::Problem& from, const problem::Problem& to,
                      const std::vector<int>& positions) {
  if (std::is_sorted(positions.begin(), positions.end())) return trace;
  std::size_t next = 0;
  Trace out;
  while (next < trace.directives.size() && std::holds_alternative<Store>(trace.directives[next]))
    out.directives.push_back(trace.directives[next++]);
  // Nothing but re-layouts: the trace means the default nest of either problem.
  if (next == trace.directives.size()) return trace;
  std::vector<int> factors(positions.size());
  std::iota(factors.begin(), factors.end(), 0);
  // Composes the trace's own permutation with that of the positions; an invalid one is left for `apply` to
  // refuse.
  if (const auto* permute = at_root<Permute>(trace.directives, next);
      permute != nullptr &&
      std::is_permutation(factors.begin(), factors.end(), permute->factors.begin(), permute->factors.end())) {
    factors = permute->factors;
    ++next;
  }
  for (int& factor : factors) factor = positions[static_cast<std::size_t>(factor)];
  if (!std::is_sorted(factors.begin(), factors.end())) out.directives.emplace_back(Permute{{}, factors});
  const auto* reorder = at_root<Reorder>(trace.directives, next);
  const std::vector<std::string> loops = reorder != nullptr ? reorder->order : default_loops(trace, from);
  // The default nests may differ in loop order; the trace's own loops are named where they do.
  if (loops != default_loops(trace, to)) out.directives.emplace_back(Reorder{{}, loops});
  next += reorder != nullptr ? 1 : 0;
  out.directives.insert(out.directives.end(), trace.directives.begin() + static_cast<std::ptrdiff_t>(next),
                        trace.directives.end());
  return out;
}

}  // namespace schaas::schedule
