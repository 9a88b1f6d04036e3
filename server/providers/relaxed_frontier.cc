#include "server/providers/relaxed_frontier.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "compiler/concrete_notation/copies/needed_copies.h"
#include "compiler/concrete_notation/printer.h"
#include "compiler/frontier/tighten.h"
#include "compiler/pipeline/variants.h"
#include "compiler/problem/constraint_set.h"
#include "compiler/schedule/replay/apply.h"

// Subsumption: the frontier under relaxed constraints holds every schedule that can win under tighter ones.
// Its survivors need only be compared again (frontier/tighten.h). The two problems are canonical each for
// itself, and constraints take part in canonical form. They may therefore differ in names, order of factors
// and numbers of cost variables. Both are brought to the form without constraints, the family; the way there
// and back is the renaming.
// Each translated survivor is proven right by applying its trace here and comparing its cost with the
// translated one. Anything that does not match means no answer, and a search. Rejected: problems that may
// read copies, whose names no renaming has.
namespace schaas::server {
namespace {

using index_notation::Access;
using Names = std::map<std::string, std::string>;

problem::Canonical without_constraints(problem::Problem problem) {
  problem.constraints.clear();
  problem.position_bits = 64;
  return problem::canonicalize(problem);
}

/// Names of one problem -> names of another with the same key without constraints.
struct Correspondence {
  Names tensors, indices;
};

/// Composes theirs -> family -> ours.
Names through(const Names& family_to_ours, const Names& family_to_theirs) {
  Names out;
  for (const auto& [family, theirs] : family_to_theirs) out.emplace(theirs, family_to_ours.at(family));
  return out;
}

/// Returns the renaming between two problems of one family; none for others.
std::optional<Correspondence> renaming(const problem::Problem& from, const problem::Problem& to) {
  const problem::Canonical theirs = without_constraints(from), ours = without_constraints(to);
  if (theirs.key != ours.key) return std::nullopt;
  return Correspondence{through(ours.user_tensor, theirs.user_tensor),
                        through(ours.user_index, theirs.user_index)};
}

std::string renamed_or_same(const Names& names, const std::string& name) {
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

Access renamed(const Access& access, const Correspondence& names) {
  Access out{renamed_or_same(names.tensors, access.tensor), {}, {}, {}};
  for (const auto& index : access.indices) out.indices.push_back(renamed_or_same(names.indices, index));
  return out;
}

/// Returns `to` with the constraints of `from`.
std::optional<problem::Problem> with_constraints_of(const problem::Problem& from, const problem::Problem& to,
                                                    const Correspondence& names) {
  std::vector<problem::Constraint> constraints;
  for (const auto& constraint : from.constraints) {
    const auto ours = problem::rename(constraint, names.indices, names.tensors);
    if (!ours.ok()) return std::nullopt;
    constraints.insert(constraints.end(), ours->begin(), ours->end());
  }
  auto simple = problem::simplify(to.statements(), constraints);
  if (!simple.ok()) return std::nullopt;
  problem::Problem out = to;
  out.constraints = std::move(simple).value();
  return out;
}

/// Translates costs and traces of one problem to those of another.
class Translation {
 public:
  Translation(const problem::Problem& from, const problem::Problem& to, const Correspondence& names)
      : to_(to), names_(names) {
    // Copies have no names in a renaming; the few problems that may read copies are searched anew.
    const auto may_read_copies = [](problem::Problem problem) {
      problem.space = {};
      return !schedule::default_trace(problem).directives.empty() ||
             !concrete_notation::with_known_copies(problem).copies.empty();
    };
    fits_ = !may_read_copies(from) && !may_read_copies(to);
    if (!fits_) return;
    match_variables(cost::variables_of(from), cost::variables_of(to));
    match_factors(from.operands(), to.operands());
    for (const auto& [theirs, ours] : names.indices) indices_.emplace_back(theirs, ours);
    if (fits_) find_head(from);
  }

  std::optional<frontier::Survivor> operator()(const frontier::Survivor& survivor) const {
    if (!fits_) return std::nullopt;
    frontier::Survivor out = survivor;
    out.cost = {terms(survivor.cost.time), terms(survivor.cost.memory)};
    for (schedule::Trace& trace : out.traces) {
      const schedule::Trace theirs = schedule::rename(trace, indices_, {});
      trace = theirs;
      trace.directives.insert(trace.directives.begin(), head_.begin(), head_.end());
      const auto tree = schedule::apply(trace, to_);
      if (!tree.ok() || cost::of(*tree, to_) != out.cost) return std::nullopt;
      // Usually the head changes nothing, or the trace begins with an order of its own.
      const auto without = schedule::apply(theirs, to_);
      if (without.ok() && concrete_notation::print(*without) == concrete_notation::print(*tree))
        trace = theirs;
    }
    return out;
  }

  frontier::Removal operator()(frontier::Removal summary) const {
    auto& argument = summary.certificate.argument;
    argument = with_terms(argument, [&](const std::vector<cost::Term>& sum) { return terms(sum); });
    return summary;
  }

 private:
  static std::size_t at(int bit) { return static_cast<std::size_t>(bit); }

  /// Compares two cost variables under the renaming; lists of a merge are compared as sets.
  bool same_variable(const cost::Variable& ours, const cost::Variable& theirs) const {
    const auto same_index = [&](const std::string& a, const std::string& b) {
      return a == renamed_or_same(names_.indices, b);
    };
    return ours.kind == theirs.kind && ours.level == theirs.level &&
           ours.tensor == renamed_or_same(names_.tensors, theirs.tensor) &&
           same_index(ours.index, theirs.index) &&
           std::equal(ours.outer.begin(), ours.outer.end(), theirs.outer.begin(), theirs.outer.end(),
                      same_index) &&
           std::is_permutation(ours.lists.begin(), ours.lists.end(), theirs.lists.begin(), theirs.lists.end(),
                               [&](const auto& a, const auto& b) { return same_variable(a, b); });
  }

  /// Finds the bit of each of their cost variables among ours.
  void match_variables(const cost::Variables& theirs, const cost::Variables& ours) {
    const auto match = [&](const std::vector<cost::Variable>& group, const std::vector<cost::Variable>& among,
                           int first) {
      for (std::size_t n = 0; n < group.size(); ++n) {
        const auto same = std::find_if(among.begin(), among.end(),
                                       [&](const cost::Variable& v) { return same_variable(v, group[n]); });
        if (same == among.end()) fits_ = false;
        bit_[at(first) + n] = first + static_cast<int>(same - among.begin());
      }
    };
    match(theirs.extents, ours.extents, 0);
    match(theirs.fibers, ours.fibers, cost::Variables::first_fiber);
  }

  // Fills factors_: the position of each of their factors in our product.
  void match_factors(const std::vector<Access>& theirs, const std::vector<Access>& ours) {
    for (const Access& access : theirs) {
      const Access wanted = renamed(access, names_);
      int found = -1;
      for (int n = 0; at(n) < ours.size() && found < 0; ++n) {
        const bool free = std::find(factors_.begin(), factors_.end(), n) == factors_.end();
        if (free && ours[at(n)].tensor == wanted.tensor && ours[at(n)].indices == wanted.indices) found = n;
      }
      if (found < 0) fits_ = false;
      factors_.push_back(found);
    }
    fits_ = fits_ && theirs.size() == ours.size();
  }

  // Finds the directives that turn our default nest into theirs: their order of factors, then of loops.
  void find_head(const problem::Problem& from) {
    if (!std::is_sorted(factors_.begin(), factors_.end())) head_.push_back(schedule::Permute{{}, factors_});
    schedule::Reorder order;
    for (auto tree = schedule::default_nest(from);;) {
      const auto* loop = std::get_if<concrete_notation::Forall>(&tree->node);
      if (loop == nullptr) break;
      order.order.push_back(renamed_or_same(names_.indices, loop->index));
      tree = loop->body;
    }
    head_.push_back(std::move(order));
  }

  /// Moves the bits of the variables; weights and flags of a term stay.
  std::vector<cost::Term> terms(const std::vector<cost::Term>& theirs) const {
    std::vector<cost::Term> out;
    for (const cost::Term term : theirs) {
      cost::Term ours = term & ~cost::variables_mask;
      for (int bit = 0; bit < cost::access_shift; ++bit) {
        if ((term >> bit & 1) != 0) ours |= cost::Term{1} << bit_.at(at(bit));
      }
      out.push_back(ours);
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  const problem::Problem& to_;
  const Correspondence& names_;
  bool fits_ = true;
  std::map<std::size_t, int> bit_;
  std::vector<int> factors_;
  std::vector<std::pair<std::string, std::string>> indices_;
  std::vector<schedule::Directive> head_;
};

}  // namespace

std::string unconstrained_key(const problem::Problem& canonical) {
  return without_constraints(canonical).key;
}

support::Result<std::optional<frontier::Frontier>> from_relaxed(const problem::Canonical& query,
                                                                const problem::Problem& relaxed,
                                                                const frontier::Frontier& stored,
                                                                const frontier::Options& options,
                                                                const frontier::Progress& progress,
                                                                const support::Cancellation& cancellation) {
  const std::optional<frontier::Frontier> none;
  const problem::Problem& problem = query.problem;
  // Factors are matched below. Programs are excluded: listing their schedules is as fast as translating an
  // answer.
  if (!problem::is_contraction(problem)) return none;
  const auto names = renaming(relaxed, problem);
  if (!names) return none;
  const auto relaxed_here = with_constraints_of(relaxed, problem, *names);
  if (!relaxed_here || !frontier::stands_for_space(*relaxed_here, problem, options, cancellation))
    return none;
  const Translation translate(relaxed, problem, *names);
  frontier::Frontier start = stored;
  for (auto& survivor : start.survivors) {
    auto ours = translate(survivor);
    if (!ours) return none;
    survivor = std::move(*ours);
  }
  // Only summaries are carried over: classes dropped without being listed.
  std::erase_if(start.removals, [](const frontier::Removal& removal) { return !removal.summary(); });
  for (auto& removal : start.removals) removal = translate(removal);
  SCHAAS_ASSIGN_OR_RETURN(frontier::Frontier found,
                          frontier::tighten(problem, start, options, progress, cancellation));
  pipeline::add_variants(found, problem);
  return std::optional(std::move(found));
}

}  // namespace schaas::server
