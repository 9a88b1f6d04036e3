#include "server/looser_answer.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "compiler/concrete_notation/printer.h"
#include "compiler/concrete_notation/result_copies.h"
#include "compiler/frontier/tighten.h"
#include "compiler/problem/constraint_set.h"
#include "compiler/schedule/apply.h"

namespace schaas::server {
namespace {

using index_notation::Access;
using Names = std::map<std::string, std::string>;

problem::Canonical family_of(problem::Problem problem) {
  problem.constraints.clear();
  problem.position_bits = 64;
  return problem::canonicalize(problem);
}

/// Names of one problem -> names of another of the same family.
struct Renaming {
  Names tensors, indices;
};

Names through(const Names& family_to_ours, const Names& family_to_theirs) {
  Names out;
  for (const auto& [family, theirs] : family_to_theirs) out.emplace(theirs, family_to_ours.at(family));
  return out;
}

std::optional<Renaming> renaming(const problem::Problem& from, const problem::Problem& to) {
  const problem::Canonical theirs = family_of(from), ours = family_of(to);
  if (theirs.key != ours.key) return std::nullopt;
  return Renaming{through(ours.user_tensor, theirs.user_tensor), through(ours.user_index, theirs.user_index)};
}

std::string renamed(const Names& names, const std::string& name) {
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

Access renamed(const Access& access, const Renaming& names) {
  Access out{renamed(names.tensors, access.tensor), {}, {}, {}};
  for (const auto& index : access.indices) out.indices.push_back(renamed(names.indices, index));
  return out;
}

/// `to` with the constraints of `from`.
std::optional<problem::Problem> with_constraints_of(const problem::Problem& from, const problem::Problem& to,
                                                    const Renaming& names) {
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

/// Costs and traces of one problem as those of another.
class Transfer {
 public:
  Transfer(const problem::Problem& from, const problem::Problem& to, const Renaming& names)
      : to_(to), names_(names) {
    // Copies have no names in a renaming; the few problems that may read some are searched anew.
    const auto may_read_copies = [](const problem::Problem& problem) {
      return !schedule::default_trace(problem).directives.empty() ||
             !concrete_notation::result_copy_sets(problem).empty();
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
      // Mostly the head changes nothing, or the trace begins with an order of its own.
      const auto without = schedule::apply(theirs, to_);
      if (without.ok() && concrete_notation::print(*without) == concrete_notation::print(*tree))
        trace = theirs;
    }
    return out;
  }

 private:
  static std::size_t at(int bit) { return static_cast<std::size_t>(bit); }

  void match_variables(const cost::Variables& theirs, const cost::Variables& ours) {
    const auto match = [&](const std::vector<cost::Variable>& group, const std::vector<cost::Variable>& among,
                           int first) {
      for (std::size_t n = 0; n < group.size(); ++n) {
        const auto same = std::find_if(among.begin(), among.end(), [&](const cost::Variable& v) {
          return v.kind == group[n].kind && v.level == group[n].level &&
                 v.tensor == renamed(names_.tensors, group[n].tensor) &&
                 v.index == renamed(names_.indices, group[n].index);
        });
        if (same == among.end()) fits_ = false;
        bit_[at(first) + n] = first + static_cast<int>(same - among.begin());
      }
    };
    match(theirs.extents, ours.extents, 0);
    match(theirs.fibers, ours.fibers, cost::Variables::first_fiber);
  }

  // factors_[n]: where their n-th factor stands in our product.
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

  // What makes our default nest theirs: their order of factors, then of loops.
  void find_head(const problem::Problem& from) {
    if (!std::is_sorted(factors_.begin(), factors_.end())) head_.push_back(schedule::Permute{{}, factors_});
    schedule::Reorder order;
    for (auto tree = schedule::default_nest(from);;) {
      const auto* loop = std::get_if<concrete_notation::Forall>(&tree->node);
      if (loop == nullptr) break;
      order.order.push_back(renamed(names_.indices, loop->index));
      tree = loop->body;
    }
    head_.push_back(std::move(order));
  }

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
  const Renaming& names_;
  bool fits_ = true;
  std::map<std::size_t, int> bit_;
  std::vector<int> factors_;
  std::vector<std::pair<std::string, std::string>> indices_;
  std::vector<schedule::Directive> head_;
};

}  // namespace

std::string family_key(const problem::Problem& canonical) { return family_of(canonical).key; }

support::Result<std::optional<frontier::Frontier>> from_looser(const problem::Canonical& query,
                                                               const problem::Problem& looser,
                                                               const frontier::Frontier& stored,
                                                               const frontier::Options& options,
                                                               const frontier::Progress& progress,
                                                               const support::Cancellation& cancellation) {
  const std::optional<frontier::Frontier> none;
  const problem::Problem& problem = query.problem;
  // Whose factors are matched below; all schedules of a program are listed as fast as an answer is
  // transferred.
  if (!problem::is_contraction(problem)) return none;
  const auto names = renaming(looser, problem);
  if (!names) return none;
  const auto looser_here = with_constraints_of(looser, problem, *names);
  if (!looser_here || !frontier::stands_for_space(*looser_here, problem, options, cancellation)) return none;
  const Transfer transfer(looser, problem, *names);
  frontier::Frontier start = stored;
  for (auto& survivor : start.survivors) {
    auto ours = transfer(survivor);
    if (!ours) return none;
    survivor = std::move(*ours);
  }
  SCHAAS_ASSIGN_OR_RETURN(frontier::Frontier found,
                          frontier::tighten(problem, start, options, progress, cancellation));
  return std::optional(std::move(found));
}

}  // namespace schaas::server
