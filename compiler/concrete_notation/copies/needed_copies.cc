#include "compiler/concrete_notation/copies/needed_copies.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "compiler/concrete_notation/copies/locating_copies.h"
#include "compiler/concrete_notation/copies/possible_copies.h"
#include "compiler/concrete_notation/copies/result_copies.h"
#include "compiler/concrete_notation/linear_order.h"
#include "compiler/concrete_notation/semantics.h"
#include "compiler/problem/copies.h"
#include "compiler/problem/rewrites/factors.h"
#include "compiler/problem/sparse_factors.h"
#include "compiler/problem/upper_bounds.h"
#include "compiler/support/contains.h"

// Re-layouts for the default nest. In each nest of a program, storage orders of accesses are edges between
// loops; where edges form a circle, some accesses have to be read from copies. All sets of up to ten accesses
// are tried, those with the fewest entries first: nests are small, so the search is exhaustive. Nests follow
// one another, since a copy made for one is read by others as well: earlier ones are to keep their orders.
// Everything depends on the order of the statements alone and is deterministic: traces and costs are found
// again from the problem.
namespace schaas::concrete_notation {
namespace {

using index_notation::Access;
using index_notation::Expression;
using index_notation::Reduction;
using problem::CopyRequest;
using problem::Problem;

/// The accesses of one nest, each once: those of `value` down to its reductions, and of each of these.
struct Nest {
  std::vector<Access> reads;
  bool appends = false;  ///< to a sparse result
  std::string first{};   ///< outermost loop; "": any
  std::vector<std::string> summed{};
  bool summed_last = false;         ///< the loops over `summed` are inside all others
  std::vector<std::string> walk{};  ///< the order of these loops

  /// Storage orders are not the only ones.
  bool orders_loops() const { return appends || !first.empty() || summed_last; }
};

/// Loops that nests are to have, as far as they can.
struct Wanted {
  std::string first{};           ///< outermost loop of the nests that have it and do not sum over it; "": any
  bool counts_unstored = false;  ///< innermost the sums whose unstored elements are counted
  bool walks = false;            ///< from the first loop on, along sparse operands
};

/// Unstored elements take part in the reduction, which may fold all of them at once.
bool counts_unstored(const Reduction& reduction, const Problem& problem) {
  const auto unstored = problem::unstored_body(reduction, problem);
  return unstored && !unstored->varies && operators::identity(reduction.monoid) != unstored->number &&
         operators::folding_of_equal_values(reduction.monoid, unstored->number) !=
             operators::EqualValues::one_by_one;
}

/// Takes a value apart at its reductions, each a nest of its own, and collects the accesses of every nest.
void add_nests(const Expression& value, std::size_t nest, const Wanted& wanted, const Problem& problem,
               std::vector<Nest>& out) {
  if (const auto* access = std::get_if<Access>(&value.node)) {
    auto& here = out[nest].reads;
    if (std::find(here.begin(), here.end(), *access) == here.end()) here.push_back(*access);
  }
  if (const auto* reduction = std::get_if<Reduction>(&value.node)) {
    nest = out.size();
    Nest& inner = out.emplace_back();
    inner.summed = reduction->indices;
    inner.summed_last = wanted.counts_unstored && counts_unstored(*reduction, problem);
  }
  for (const auto& part : index_notation::parts(value)) add_nests(part, nest, wanted, problem, out);
}

bool has_sparse_result(const Problem& problem) {
  return !problem.formats.at(problem.statement.result.tensor).all_dense();
}

/// A contraction uses a workspace for a result whose order its loops contradict (schedule/ordered_appends.h),
/// or reads re-layouts (result_copies.h): its default nest needs none for that.
bool gathers(const Problem& problem) { return problem::is_one_product(problem); }

std::vector<std::string> indices_of(const Nest& nest, const Problem& problem) {
  std::vector<std::string> indices;
  if (nest.appends) indices = problem.statement.result.indices;
  for (const Access& access : nest.reads) {
    for (const auto& index : access.indices) {
      if (!support::contains(indices, index)) indices.push_back(index);
    }
  }
  return indices;
}

/// Loops from `first` on, each along an operand that the loops around have reached. Those of
/// `B(i,k) * C(k,j)` are i, k, j from i on, and j, k, i from j on.
std::vector<std::string> walk_from(const std::string& first, const Nest& nest, const Problem& problem) {
  std::vector<std::string> walk{first};
  const auto next = [&]() -> const Access* {
    for (const Access& access : nest.reads) {
      const auto format = problem.formats.find(access.tensor);
      if (format == problem.formats.end() || format->second.all_dense()) continue;
      const auto reached = std::count_if(access.indices.begin(), access.indices.end(),
                                         [&](const auto& index) { return support::contains(walk, index); });
      if (reached > 0 && reached < static_cast<std::ptrdiff_t>(access.indices.size())) return &access;
    }
    return nullptr;
  };
  while (const Access* access = next()) {
    for (const auto& index : access->indices)
      if (!support::contains(walk, index)) walk.push_back(index);
  }
  return walk;
}

std::vector<Nest> nests_of(const Problem& problem, const Wanted& wanted) {
  std::vector<Nest> out;
  std::size_t last = 0;
  for (const auto& statement : problem.statements()) {
    last = out.size();
    out.emplace_back();
    add_nests(explicit_value(statement, problem), last, wanted, problem, out);
  }
  // A reduction by the statement's own monoid is computed in its own nest.
  const Expression value = explicit_value(problem.statement, problem);
  const auto* reduction = std::get_if<Reduction>(&value.node);
  if (reduction != nullptr && reduction->monoid == target_monoid(problem.statement, problem)) ++last;
  out[last].appends = has_sparse_result(problem) && !gathers(problem);
  for (Nest& nest : out) {
    if (support::contains(indices_of(nest, problem), wanted.first) &&
        !support::contains(nest.summed, wanted.first))
      nest.first = wanted.first;
    if (wanted.walks && !nest.first.empty()) nest.walk = walk_from(nest.first, nest, problem);
  }
  return out;
}

std::vector<LoopOrder> orders_of(const Nest& nest, const Problem& problem) {
  std::vector<LoopOrder> orders;
  if (nest.appends) orders = result_level_order(problem);
  for (const Access& access : nest.reads) {
    const auto more = loop_order(access, problem);
    orders.insert(orders.end(), more.begin(), more.end());
  }
  return orders;
}

/// The order of the nest's loops: what `orders` says, its outermost loop first, and sums that are to be last.
LinearOrder order_of(const Nest& nest, std::vector<LoopOrder> orders, const Problem& problem) {
  const auto indices = indices_of(nest, problem);
  for (std::size_t n = 1; n < nest.walk.size(); ++n) orders.push_back({nest.walk[n - 1], nest.walk[n], ""});
  for (const std::string& index : indices) {
    if (!nest.first.empty() && index != nest.first) orders.push_back({nest.first, index, ""});
    if (!nest.summed_last || support::contains(nest.summed, index)) continue;
    for (const std::string& summed : nest.summed) orders.push_back({index, summed, ""});
  }
  return linear_order(indices, orders);
}

/// A contradiction takes two sparse tensors, or one with an index at two levels and another between. One and
/// loops that are to be first or last suffice.
bool may_contradict(const Nest& nest, const Problem& problem) {
  int sparse = nest.orders_loops() ? 1 : 0;
  for (const Access& access : nest.reads) {
    const auto format = problem.formats.find(access.tensor);
    if (format == problem.formats.end() || format->second.all_dense()) continue;
    const std::set<std::string> distinct(access.indices.begin(), access.indices.end());
    sparse += access.indices.size() > 2 && distinct.size() < access.indices.size() ? 2 : 1;
  }
  return sparse > 1;
}

/// Chooses re-layouts for accesses of one nest.
class Choice {
 public:
  Choice(const Nest& nest, const Problem& problem) : nest_(nest), reads_(nest.reads), problem_(problem) {
    if (!problem.constraints.empty()) bounds_ = problem::upper_bounds(problem);
    for (std::size_t n = 0; n < reads_.size(); ++n) {
      if (problem.copy_named(reads_[n].tensor) == nullptr && !loop_order(reads_[n], problem).empty())
        candidates_.push_back(n);
    }
    // The later accesses remain, and 2^10 sets at most.
    if (candidates_.size() > max_tried) candidates_.erase(candidates_.begin(), candidates_.end() - max_tried);
  }

  /// Returns the first set of which `suits` holds; without one the first of all; none when nothing helps.
  std::vector<CopyRequest> best(const std::function<bool(const std::vector<CopyRequest>&)>& suits) const {
    std::vector<std::tuple<double, int, unsigned>> sets;  // entries, copies, bit set of the others
    const unsigned all = (1U << candidates_.size()) - 1;
    for (unsigned set = 1; set <= all; ++set) {
      double entries = 0;
      int count = 0;
      for (std::size_t n = 0; n < candidates_.size(); ++n) {
        if (((set >> n) & 1U) == 0) continue;
        entries += entries_of(reads_[candidates_[n]].tensor);
        ++count;
      }
      sets.emplace_back(entries, count, all & ~set);
    }
    std::sort(sets.begin(), sets.end());
    std::vector<CopyRequest> first;
    for (const auto& [entries, count, left] : sets) {
      const auto order = order_without(all & ~left);
      if (!order.legal) continue;
      std::vector<CopyRequest> found = requests(all & ~left, order.loops);
      if (suits(found)) return found;
      if (first.empty()) first = std::move(found);
    }
    return first;
  }

 private:
  static constexpr std::ptrdiff_t max_tried = 10;  ///< accesses that are tried together

  bool is_in(unsigned set, std::size_t access) const {
    const auto found = std::find(candidates_.begin(), candidates_.end(), access);
    return found != candidates_.end() && ((set >> (found - candidates_.begin())) & 1U) != 0;
  }

  /// Returns the bound of a tensor's entries; an unbounded one has more than any other.
  double entries_of(const std::string& tensor) const {
    const int order = problem_.formats.at(tensor).order();
    const auto known = bounds_.find({problem::Symbol::Kind::nonzeros, tensor, order});
    return known == bounds_.end() ? 0x1p63 : static_cast<double>(known->second);
  }

  LinearOrder order_without(unsigned copied) const {
    Nest left{{}, nest_.appends};
    for (std::size_t n = 0; n < reads_.size(); ++n) {
      if (!is_in(copied, n)) left.reads.push_back(reads_[n]);
    }
    return order_of(nest_, orders_of(left, problem_), problem_);
  }

  std::vector<CopyRequest> requests(unsigned copied, const std::vector<std::string>& loops) const {
    std::vector<CopyRequest> out;
    for (std::size_t n = 0; n < reads_.size(); ++n) {
      if (is_in(copied, n)) out.push_back(copy_along(loops, reads_[n], problem_));
    }
    return out;
  }

  const Nest& nest_;
  const std::vector<Access>& reads_;
  const Problem& problem_;
  std::map<problem::Symbol, std::int64_t> bounds_;
  std::vector<std::size_t> candidates_;  ///< accesses of the nest that may read a re-layout
};

bool is_legal(const Nest& nest, const Problem& problem) {
  return order_of(nest, orders_of(nest, problem), problem).legal;
}

/// The first `count` nests that have a loop order have one with these copies, too. A copy is read by all
/// equal accesses, in whatever nest.
bool keeps_orders(const std::vector<Nest>& nests, std::size_t count, const std::vector<CopyRequest>& requests,
                  const Problem& problem, const Wanted& wanted) {
  Problem copied = problem;
  for (const CopyRequest& request : requests) copied = problem::with_copy(copied, request);
  const std::vector<Nest> after = nests_of(copied, wanted);
  for (std::size_t n = 0; n < count; ++n)
    if (is_legal(nests[n], problem) && !is_legal(after[n], copied)) return false;
  return true;
}

/// Copies that give each nest a loop order, as it is wanted.
std::vector<CopyRequest> copies_for(const Problem& problem, const Wanted& wanted) {
  std::vector<CopyRequest> out;
  const Nest all{problem.reads(), has_sparse_result(problem), wanted.first, {}, wanted.counts_unstored};
  if (!may_contradict(all, problem)) return out;
  std::vector<Nest> nests = nests_of(problem, wanted);
  Problem now;
  bool changed = false;
  for (std::size_t n = 0; n < nests.size(); ++n) {
    const Problem& present = changed ? now : problem;
    if (!may_contradict(nests[n], present)) continue;
    if (is_legal(nests[n], present)) continue;
    const auto suits = [&](const std::vector<CopyRequest>& requests) {
      return n == 0 || keeps_orders(nests, n, requests, present, wanted);
    };
    std::vector<CopyRequest> requests = Choice(nests[n], present).best(suits);
    // Without a set that helps, the order of the result counts no longer.
    if (requests.empty() && std::exchange(nests[n].appends, false) && !is_legal(nests[n], present))
      requests = Choice(nests[n], present).best(suits);
    for (CopyRequest& request : requests) {
      now = problem::with_copy(changed ? now : problem, request);
      changed = true;
      out.push_back(std::move(request));
    }
    if (changed) nests = nests_of(now, wanted);
  }
  return out;
}

}  // namespace

CopyRequest copy_along(const std::vector<std::string>& loops, const Access& access, const Problem& problem) {
  CopyRequest request{access.tensor, std::nullopt, problem.formats.at(access.tensor).mode_order};
  // Modes whose index is none of the loops come last, in their present order.
  const auto depth = [&](int mode) {
    return std::find(loops.begin(), loops.end(), access.indices[static_cast<std::size_t>(mode)]);
  };
  std::stable_sort(request.order.begin(), request.order.end(),
                   [&](int a, int b) { return depth(a) < depth(b); });
  const auto reads = problem.reads();
  const bool alone = std::none_of(reads.begin(), reads.end(), [&](const Access& other) {
    return other.tensor == access.tensor && other.indices != access.indices;
  });
  if (!alone) request.at = access.indices;
  return request;
}

std::vector<CopyRequest> needed_copies(const Problem& problem) { return copies_for(problem, {}); }

namespace {

/// The index at the first level of the result; of a scalar, that of the first sparse operand.
std::string outer_index(const Problem& problem) {
  const auto first_of = [&](const Access& access) {
    const auto mode = problem.formats.at(access.tensor).mode_order.front();
    return access.indices[static_cast<std::size_t>(mode)];
  };
  const Access& result = problem.statement.result;
  if (!result.indices.empty()) return first_of(result);
  for (const Access& read : problem.reads()) {
    const auto format = problem.formats.find(read.tensor);
    if (format != problem.formats.end() && !format->second.all_dense()) return first_of(read);
  }
  return "";
}

/// Copies for nests that begin with the loop over this index.
std::vector<CopyRequest> copies_by_rows(const Problem& problem, bool walks) {
  const std::string first = outer_index(problem);
  if (first.empty() || gathers(problem)) return {};
  return copies_for(problem, {first, false, walks});
}

}  // namespace

std::vector<CopyRequest> row_copies(const Problem& problem) {
  if (problem.statement.result.indices.size() < 2 || !has_sparse_result(problem)) return {};
  return copies_by_rows(problem, false);
}

std::vector<CopyRequest> walking_copies(const Problem& problem) { return copies_by_rows(problem, true); }

std::vector<CopyRequest> counting_copies(const Problem& problem) {
  if (problem::is_contraction(problem)) return {};
  return copies_for(problem, {"", true});
}

Problem with_known_copies(const Problem& problem) {
  Problem out = problem::without_copies(problem);
  const Problem original = out;
  std::vector<std::vector<CopyRequest>> known{{},
                                              needed_copies(original),
                                              row_copies(original),
                                              walking_copies(original),
                                              counting_copies(original),
                                              common_index_copies(original)};
  for (auto& sets : {result_copy_sets(original), meeting_copy_sets(original), walking_copy_sets(original)})
    known.insert(known.end(), sets.begin(), sets.end());
  for (const auto& set : also_locating(known, original))
    for (const CopyRequest& request : set) out = problem::with_copy_beside(out, request);
  if (problem.space.has_copies()) {
    for (const CopyRequest& request : possible_copies(original))
      out = problem::with_copy_beside(out, request);
  }
  for (const problem::Copy& copy : problem.copies) {
    const auto& order = problem.formats.at(copy.name).mode_order;
    for (const auto& indices : copy.reads)
      out = problem::with_copy_beside(out, {copy.tensor, indices, order, copy.locates});
  }
  return out;
}

}  // namespace schaas::concrete_notation
