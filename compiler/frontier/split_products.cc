#include "compiler/frontier/split_products.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "compiler/frontier/class_order.h"
#include "compiler/frontier/greedy_chain.h"
#include "compiler/frontier/sparse_point.h"
#include "compiler/schedule/nests.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/schedule/section.h"
#include "compiler/support/contains.h"

// Products of a program, split as on the frontier of the product alone (docs/schedule_space.md, "Programs").
// The fastest schedules whose nest for the product shares no loops are bases. On each of them the fastest
// entries of that frontier are replayed, their paths moved to the nest. Both numbers are small constants, so
// a program's space is not multiplied by a product's. The part of the space is found at middling sizes and is
// no proof: other splits may win elsewhere.
namespace schaas::frontier {
namespace {

using index_notation::Access;
using schedule::Path;
using support::Result;
using Names = std::vector<std::string>;

constexpr int min_factors = 3;
constexpr const char* ended_while_split = "the time for the search ended while products were split";

/// The constraint is about indices and tensors of the product alone.
bool speaks_of(const problem::Constraint& constraint, const std::set<std::string>& indices,
               const problem::Problem& problem) {
  for (const auto* side : {&constraint.lhs, &constraint.rhs}) {
    for (const auto& monomial : *side) {
      for (const auto& [symbol, exponent] : monomial.powers) {
        const bool known = symbol.kind == problem::Symbol::Kind::extent
                               ? indices.count(symbol.name) > 0
                               : problem.formats.count(symbol.name) > 0;
        if (!known) return false;
      }
    }
  }
  return true;
}

/// The nest's product as a problem of its own, temporaries and what it computes dense; nothing when there is
/// nothing to split.
std::optional<problem::Problem> product_of(const schedule::Nest& nest, const problem::Problem& problem) {
  const auto& leaf = nest.leaf();
  if (leaf.monoid != problem.semiring->sum || !index_notation::is_product(leaf.value)) return std::nullopt;
  const auto factors = index_notation::operands(leaf.value);
  if (static_cast<int>(factors.size()) < min_factors) return std::nullopt;
  problem::Problem out;
  out.statement = {leaf.target, leaf.value};
  out.semiring = problem.semiring;
  out.value_type = problem.value_type;
  out.position_bits = problem.position_bits;
  std::vector<Access> all = factors;
  all.push_back(leaf.target);
  for (const Access& access : all) {
    const auto known = problem.formats.find(access.tensor);
    const bool kept = known != problem.formats.end();
    if (kept && access.tensor == leaf.target.tensor && !known->second.all_dense()) return std::nullopt;
    out.formats[access.tensor] =
        kept ? known->second : format::dense(static_cast<int>(access.indices.size()));
  }
  const auto indices = index_notation::index_variables(out.statement);
  const std::set<std::string> own(indices.begin(), indices.end());
  for (const auto& constraint : problem.constraints) {
    if (speaks_of(constraint, own, out)) out.constraints.push_back(constraint);
  }
  if (!problem::is_contraction(out) || indices.size() < 3) return std::nullopt;
  return out;
}

/// The directive in the section at `at` instead of the root.
schedule::Directive moved(schedule::Directive directive, const Path& at) {
  const auto prefix = [&](auto& one) { one.path.insert(one.path.begin(), at.begin(), at.end()); };
  if (auto* reorder = std::get_if<schedule::Reorder>(&directive)) prefix(*reorder);
  if (auto* permute = std::get_if<schedule::Permute>(&directive)) prefix(*permute);
  if (auto* fuse = std::get_if<schedule::LoopFuse>(&directive)) prefix(*fuse);
  return directive;
}

/// Returns the survivors by turns from those that are fastest at the program's sparse point and from those at
/// middling sizes, each once.
std::vector<const Survivor*> fastest_first(const problem::Problem& product, const Frontier& found,
                                           const problem::Problem& program) {
  const cost::Point sparse = SparsePoint(program).values(cost::variables_of(product));
  std::vector<const Survivor*> by_sparse, by_middling, out;
  for (const Survivor& survivor : found.survivors) by_sparse.push_back(&survivor);
  by_middling = by_sparse;
  std::stable_sort(by_sparse.begin(), by_sparse.end(), [&](const Survivor* a, const Survivor* b) {
    return cost::evaluate_time(a->cost, sparse) < cost::evaluate_time(b->cost, sparse);
  });
  std::stable_sort(by_middling.begin(), by_middling.end(), [](const Survivor* a, const Survivor* b) {
    return middling_time(a->cost) < middling_time(b->cost);
  });
  for (std::size_t n = 0; n < by_sparse.size(); ++n)
    for (const Survivor* one : {by_sparse[n], by_middling[n]})
      if (!support::contains(out, one)) out.push_back(one);
  return out;
}

/// Returns the trace with a directive that makes the product's default nest of any order of its loops.
schedule::Trace from_default_nest(const problem::Problem& product, const schedule::Trace& trace) {
  schedule::Trace out;
  const auto nest = schedule::find_section(schedule::default_nest(product), {});
  out.directives.emplace_back(schedule::Reorder{{}, nest.value().loops});
  out.directives.insert(out.directives.end(), trace.directives.begin(), trace.directives.end());
  return out;
}

/// The splits of a product: traces of its own default nest that branch.
std::vector<schedule::Trace> splits_of(const problem::Problem& product, const Frontier& found,
                                       const problem::Problem& program, std::size_t max_splits) {
  const std::vector<const Survivor*> fastest = fastest_first(product, found, program);
  std::vector<schedule::Trace> out;
  for (const Survivor* survivor : fastest) {
    const auto& directives = survivor->traces.front().directives;
    const bool plain = std::all_of(directives.begin(), directives.end(), [](const auto& directive) {
      return std::holds_alternative<schedule::Reorder>(directive) ||
             std::holds_alternative<schedule::Permute>(directive) ||
             std::holds_alternative<schedule::LoopFuse>(directive);
    });
    const bool splits = std::any_of(directives.begin(), directives.end(), [](const auto& directive) {
      return std::holds_alternative<schedule::LoopFuse>(directive);
    });
    if (!plain || !splits || out.size() == max_splits) continue;
    out.push_back(from_default_nest(product, survivor->traces.front()));
  }
  return out;
}

class Splitting {
 public:
  Splitting(space::ListedMembers& members, const problem::Problem& asked, const problem::Problem& problem,
            const support::Cancellation& budget)
      : members_(members),
        asked_(asked),
        costs_(problem),
        point_(SparsePoint(problem).values(cost::variables_of(problem))),
        budget_(budget) {}

  /// Completes schedules in which the nest of `target` shares nothing, those with least time first, until the
  /// budget ends. Returns whether it did. The first split of the first schedule is made in any case.
  bool add(const std::string& target, const std::vector<schedule::Trace>& splits, std::size_t max_bases) {
    std::vector<std::size_t> order(members_.members.size());
    for (std::size_t n = 0; n < order.size(); ++n) order[n] = n;
    const auto sort = [&](const auto& time) {
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return time(members_.members[a].cost) < time(members_.members[b].cost);
      });
    };
    sort(middling_time);
    sort([&](const cost::Cost& cost) { return cost::evaluate_time(cost, point_); });
    std::size_t bases = 0;
    bool ended = false;
    std::vector<space::ListedMember> more;
    for (const std::size_t n : order) {
      if (bases == max_bases || ended) break;
      const auto& apart = members_.members[n].apart;
      const auto path =
          std::find_if(apart.begin(), apart.end(), [&](const auto& one) { return one.first == target; });
      if (path == apart.end()) continue;
      ++bases;
      for (const schedule::Trace& split : splits) {
        ended = !more.empty() && !budget_.check("splitting products").ok();
        if (ended) break;
        complete(members_.members[n], path->second, split, more);
      }
    }
    members_.members.insert(members_.members.end(), more.begin(), more.end());
    return ended;
  }

 private:
  /// Adds a base whose nest is split, unless the directives do not apply.
  void complete(const space::ListedMember& base, const Path& path, const schedule::Trace& split,
                std::vector<space::ListedMember>& out) {
    space::ListedMember member = base;
    std::erase_if(member.apart, [&](const auto& one) { return one.second == path; });
    auto& directives = member.trace.directives;
    for (const auto& directive : split.directives) {
      const auto next = moved(directive, path);
      const auto* order = std::get_if<schedule::Reorder>(&next);
      const auto* last = directives.empty() ? nullptr : std::get_if<schedule::Reorder>(&directives.back());
      // The later of two reorders of one section counts.
      if (order != nullptr && last != nullptr && last->path == order->path) directives.pop_back();
      directives.push_back(next);
    }
    const auto tree = schedule::apply(member.trace, asked_);
    if (!tree.ok()) return;
    member.cost = costs_.of(*tree);
    members_.schedules += member.schedules;
    ++members_.steps;
    out.push_back(std::move(member));
  }

  space::ListedMembers& members_;
  const problem::Problem& asked_;
  const cost::TreeCosts costs_;
  const cost::Point point_;
  const support::Cancellation& budget_;
};

}  // namespace

Result<void> add_split_products(space::ListedMembers& members, const problem::Problem& asked,
                                const problem::Problem& problem, const ComputeContraction& contraction,
                                const Splits& limits, const support::Cancellation& budget,
                                const support::Cancellation& cancellation) {
  SCHAAS_ASSIGN_OR_RETURN(const auto nests, schedule::nests_of(schedule::default_nest(problem)));
  bool ended = false;
  for (const schedule::Nest& nest : nests) {
    SCHAAS_RETURN_IF_ERROR(cancellation.check("splitting the products of a program"));
    const auto product = product_of(nest, problem);
    if (!product || problem.mask_of(nest.leaf().target.tensor) != nullptr) continue;
    std::optional<Frontier> found;
    if (budget.check("splitting products").ok()) {
      auto searched = contraction(*product);
      SCHAAS_RETURN_IF_ERROR(cancellation.check("splitting the products of a program"));
      if (searched.ok())
        found = *std::move(searched);
      else
        ended = ended || searched.error().family == support::Family::exhausted;
    } else {
      ended = true;
    }
    Splitting splitting(members, asked, problem, budget);
    const std::string& target = nest.leaf().target.tensor;
    // A chain needs no search: the time for the search may be short, and the processor busy.
    if (limits.chains || !found)
      splitting.add(target, {from_default_nest(*product, greedy_chain(*product, problem))}, 1);
    if (found && splitting.add(target, splits_of(*product, *found, problem, limits.entries), limits.bases))
      ended = true;
  }
  if (ended && members.limited.empty()) members.limited = ended_while_split;
  return {};
}

}  // namespace schaas::frontier
