#include "compiler/concrete_notation/copies/result_copies.h"

#include <algorithm>
#include <string>
#include <utility>

#include "compiler/concrete_notation/copies/needed_copies.h"
#include "compiler/concrete_notation/linear_order.h"
#include "compiler/concrete_notation/loop_order.h"
#include "compiler/problem/copies.h"
#include "compiler/problem/rewrites/factors.h"
#include "compiler/support/contains.h"

// Copies for the sparse result of a contraction. Orders of up to six loops are enumerated. One that comes to
// the result's first level before any sum determines its copies: accesses that contradict it are read along
// it. Copies are sought where loops without them append out of order, begin with a sum, or append entries at
// which a sum finds nothing. Entries of a result do not depend on the schedule, so sets that append more of
// them are no alternatives.
namespace schaas::concrete_notation {
namespace {

using index_notation::Access;
using problem::CopyRequest;
using problem::Problem;
using Names = std::vector<std::string>;
using Set = std::vector<CopyRequest>;

constexpr std::size_t max_indices = 6;  ///< above this number orders are not tried
constexpr std::size_t max_sets = 12;

/// The loops stand in these orders.
bool agrees(const Names& loops, const std::vector<LoopOrder>& orders) {
  return std::all_of(orders.begin(), orders.end(), [&](const LoopOrder& order) {
    return std::find(loops.begin(), loops.end(), order.before) <=
           std::find(loops.begin(), loops.end(), order.after);
  });
}

std::vector<Access> distinct_reads(const Problem& problem) {
  std::vector<Access> out;
  for (Access& read : problem.reads()) {
    if (std::find(out.begin(), out.end(), read) == out.end()) out.push_back(std::move(read));
  }
  return out;
}

/// The loops reach the result's first level, and its levels in order, before anything is summed.
bool appends_by(const Names& loops, const std::vector<LoopOrder>& levels, const Names& kept) {
  const auto first_summed = std::find_if(loops.begin(), loops.end(), [&](const std::string& index) {
    return std::find(kept.begin(), kept.end(), index) == kept.end();
  });
  return first_summed != loops.begin() && agrees(loops, levels);
}

/// The access reads a sparse operand that has the index.
bool is_sparse_in(const std::string& index, const Access& read, const Problem& problem) {
  const auto known = problem.formats.find(read.tensor);
  return known != problem.formats.end() && !known->second.all_dense() &&
         std::find(read.indices.begin(), read.indices.end(), index) != read.indices.end();
}

/// Rows of the result would hold every coordinate of an index. An operand that has it is sparse, but none is
/// walked along it: the rows of C in `A(i,k) = B(i,j) * C(k,j)`.
bool fills_rows(const Problem& problem) {
  const auto reads = problem.reads();
  const Access& result = problem.statement.result;
  const auto& format = problem.formats.at(result.tensor);
  for (std::size_t level = 1; level < format.levels.size(); ++level) {
    const auto& index = result.indices[static_cast<std::size_t>(format.mode_order[level])];
    if (format::is_sparse(format.levels[level]) &&
        std::none_of(reads.begin(), reads.end(),
                     [&](const Access& read) { return is_walked(read, index, problem); }) &&
        std::any_of(reads.begin(), reads.end(),
                    [&](const Access& read) { return is_sparse_in(index, read, problem); }))
      return true;
  }
  return false;
}

/// Each sparse operand is walked along some loop down to the result's last level: no entry is appended where
/// a sum finds nothing. In `A(i,j) = D(i,j) * B(i,k) * C(j,k)` by rows the loops i, j, k know of D alone.
bool meets_all(const Names& loops, const Problem& problem) {
  const Names& kept = problem.statement.result.indices;
  const auto last = std::find_if(loops.rbegin(), loops.rend(), [&](const std::string& index) {
    return std::find(kept.begin(), kept.end(), index) != kept.end();
  });
  const auto reads = problem.reads();
  return std::all_of(reads.begin(), reads.end(), [&](const Access& read) {
    const auto walks = [&](const std::string& index) { return is_walked(read, index, problem); };
    // A loop of a sum that walks it, and another one.
    const auto meets_below = [&](const std::string& index) {
      return walks(index) && std::any_of(reads.begin(), reads.end(), [&](const Access& other) {
               return !(other == read) && is_walked(other, index, problem);
             });
    };
    return std::none_of(loops.begin(), loops.end(), walks) ||
           (std::any_of(last, loops.rend(), walks) && std::none_of(loops.rbegin(), last, meets_below));
  });
}

/// Each loop but the first goes along a sparse operand that the loops around have reached. Loops i, j, k, l
/// of `B(i,j) * C(j,k) * D(k,l)` do; i, k, j, l take every k for every i.
bool walks_along(const Names& loops, const Problem& problem) {
  const auto reads = problem.reads();
  for (auto loop = loops.begin() + 1; loop != loops.end(); ++loop) {
    const bool is_reached = std::any_of(reads.begin(), reads.end(), [&](const Access& read) {
      return is_sparse_in(*loop, read, problem) &&
             std::any_of(loops.begin(), loop,
                         [&](const std::string& around) { return is_sparse_in(around, read, problem); });
    });
    if (!is_reached) return false;
  }
  return true;
}

Problem with_copies(const Set& set, Problem problem) {
  for (const CopyRequest& request : set) problem = problem::with_copy(problem, request);
  return problem;
}

/// Loop orders that come to a sparse result's first level before anything is summed, and the copies that each
/// of them needs.
class Orders {
 public:
  explicit Orders(const Problem& problem)
      : problem_(problem),
        levels_(result_level_order(problem)),
        reads_(distinct_reads(problem)),
        loops_(problem.indices()) {
    std::vector<LoopOrder> all = levels_;
    for (const Access& read : reads_) {
      orders_.push_back(loop_order(read, problem));
      all.insert(all.end(), orders_.back().begin(), orders_.back().end());
    }
    legal_ = linear_order(loops_, all).legal;
    std::sort(loops_.begin(), loops_.end());
  }

  /// Some order of the loops needs no copies, be it one that begins with a sum.
  bool legal() const { return legal_; }

  /// Calls visit(loops) for every such order; stops when it returns false.
  template <class Visit>
  void each(const Visit& visit) const {
    Names loops = loops_;
    do {
      if (appends_by(loops, levels_, problem_.statement.result.indices) && !visit(loops)) return;
    } while (std::next_permutation(loops.begin(), loops.end()));
  }

  bool need_none(const Names& loops) const {
    return std::all_of(orders_.begin(), orders_.end(),
                       [&](const auto& order) { return agrees(loops, order); });
  }

  /// Returns the copies for accesses that contradict the loops.
  Set copies(const Names& loops) const {
    Set set;
    for (std::size_t n = 0; n < reads_.size(); ++n)
      if (!agrees(loops, orders_[n])) set.push_back(copy_along(loops, reads_[n], problem_));
    return set;
  }

 private:
  const Problem& problem_;
  std::vector<LoopOrder> levels_;
  std::vector<Access> reads_;
  std::vector<std::vector<LoopOrder>> orders_;  ///< by read
  Names loops_;
  bool legal_ = false;
};

/// Copies may be sought for this problem, which has none yet.
bool may_have_copies(const Problem& problem) {
  if (!problem.copies.empty() || problem.space.has_copies()) return false;
  return problem.profile == problem::Profile::standard && problem::is_one_product(problem);
}

/// Copies may be sought for this problem's result.
bool may_need_copies(const Problem& problem) {
  return !result_level_order(problem).empty() && problem.indices().size() <= max_indices &&
         may_have_copies(problem);
}

void add(Set set, std::vector<Set>& sets) {
  if (std::find(sets.begin(), sets.end(), set) == sets.end()) sets.push_back(std::move(set));
}

/// Smaller sets first, the `max_sets` smallest.
void sort_sets(std::vector<Set>& sets) {
  std::stable_sort(sets.begin(), sets.end(), [](const Set& a, const Set& b) { return a.size() < b.size(); });
  if (sets.size() > max_sets) sets.resize(max_sets);
}

}  // namespace

std::vector<Set> result_copy_sets(const Problem& problem) {
  std::vector<Set> sets;
  if (!may_need_copies(problem)) return sets;
  const bool fills = fills_rows(problem);
  const Orders orders(problem);
  bool needed = true;
  orders.each([&](const Names& loops) {
    needed = fills || !orders.legal() || !orders.need_none(loops);
    // One order that appends without copies ends the search.
    if (!needed) return false;
    Set set = orders.copies(loops);
    if (!fills || !fills_rows(with_copies(set, problem))) add(std::move(set), sets);
    return true;
  });
  if (!needed) return {};
  sort_sets(sets);
  if (!sets.empty() && !fills && !sets.front().empty()) sets.insert(sets.begin(), Set{});
  return sets;
}

std::vector<Set> meeting_copy_sets(const Problem& problem) {
  std::vector<Set> sets;
  if (!may_need_copies(problem) || fills_rows(problem)) return sets;
  const Orders orders(problem);
  bool needed = true;
  orders.each([&](const Names& loops) {
    needed = !orders.need_none(loops) || !meets_all(loops, problem);
    return needed;
  });
  if (!needed) return sets;
  orders.each([&](const Names& loops) {
    Set set = orders.copies(loops);
    if (!set.empty() && meets_all(loops, with_copies(set, problem))) add(std::move(set), sets);
    return true;
  });
  sort_sets(sets);
  if (!sets.empty()) sets.insert(sets.begin(), Set{});
  return sets;
}

std::vector<Set> walking_copy_sets(const Problem& problem) {
  std::vector<Set> sets;
  if (!may_need_copies(problem)) return sets;
  const Orders orders(problem);
  orders.each([&](const Names& loops) {
    if (!walks_along(loops, problem)) return true;
    Set set = orders.copies(loops);
    if (meets_all(loops, with_copies(set, problem))) add(std::move(set), sets);
    return true;
  });
  sort_sets(sets);
  if (sets.size() == 1 && sets.front().empty()) return {};
  if (!sets.empty() && !sets.front().empty()) sets.insert(sets.begin(), Set{});
  return sets;
}

std::vector<CopyRequest> common_index_copies(const Problem& problem) {
  if (!may_have_copies(problem) || !problem.formats.at(problem.statement.result.tensor).all_dense())
    return {};
  std::vector<Access> tensors = distinct_reads(problem);
  std::erase_if(tensors, [&](const Access& read) {
    return read.indices.size() < 3 || problem.formats.at(read.tensor).all_dense();
  });
  if (tensors.size() != 2) return {};
  const auto& format = problem.formats.at(tensors[0].tensor);
  Names loops;
  for (const int mode : format.mode_order) {
    const std::string& index = tensors[0].indices[static_cast<std::size_t>(mode)];
    if (support::contains(tensors[1].indices, index)) loops.push_back(index);
  }
  const bool is_alone = std::all_of(tensors.begin(), tensors.end(),
                                    [&](const Access& read) { return loops.size() < read.indices.size(); });
  if (loops.size() < 2 || !is_alone) return {};
  std::vector<CopyRequest> out;
  for (const Access& read : tensors) {
    CopyRequest request = copy_along(loops, read, problem);
    if (request.order != problem.formats.at(read.tensor).mode_order) out.push_back(std::move(request));
  }
  return out;
}

}  // namespace schaas::concrete_notation
