#include "compiler/concrete_notation/result_copies.h"

#include <algorithm>
#include <string>
#include <utility>

#include "compiler/concrete_notation/linear_order.h"
#include "compiler/concrete_notation/loop_order.h"
#include "compiler/concrete_notation/needed_copies.h"
#include "compiler/problem/copies.h"
#include "compiler/problem/factors.h"

namespace schaas::concrete_notation {
namespace {

using index_notation::Access;
using problem::CopyRequest;
using problem::Problem;
using Names = std::vector<std::string>;
using Set = std::vector<CopyRequest>;

constexpr std::size_t max_indices = 6;  ///< above this number orders are not tried
constexpr std::size_t max_sets = 12;

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
bool appends_by(const Names& loops, const Problem& problem) {
  const Names& kept = problem.statement.result.indices;
  const auto first_summed = std::find_if(loops.begin(), loops.end(), [&](const std::string& index) {
    return std::find(kept.begin(), kept.end(), index) == kept.end();
  });
  return first_summed != loops.begin() && agrees(loops, result_level_order(problem));
}

/// Rows of the result would hold every coordinate of an index. An operand that has it is sparse, but none is
/// walked along it: the rows of C in `A(i,k) = B(i,j) * C(k,j)`.
bool fills_rows(const Problem& problem) {
  const auto reads = problem.reads();
  const auto is_sparse_in = [&](const std::string& index, const Access& read) {
    const auto known = problem.formats.find(read.tensor);
    return known != problem.formats.end() && !known->second.all_dense() &&
           std::find(read.indices.begin(), read.indices.end(), index) != read.indices.end();
  };
  const Access& result = problem.statement.result;
  const auto& format = problem.formats.at(result.tensor);
  for (std::size_t level = 1; level < format.levels.size(); ++level) {
    const auto& index = result.indices[static_cast<std::size_t>(format.mode_order[level])];
    if (format::is_sparse(format.levels[level]) &&
        std::none_of(reads.begin(), reads.end(),
                     [&](const Access& read) { return is_walked(read, index, problem); }) &&
        std::any_of(reads.begin(), reads.end(),
                    [&](const Access& read) { return is_sparse_in(index, read); }))
      return true;
  }
  return false;
}

bool fills_rows_with(const Set& set, const Problem& problem) {
  Problem copied = problem;
  for (const CopyRequest& request : set) copied = problem::with_copy(copied, request);
  return fills_rows(copied);
}

}  // namespace

std::vector<Set> result_copy_sets(const Problem& problem) {
  std::vector<Set> sets;
  const auto levels = result_level_order(problem);
  Names loops = problem.indices();
  if (levels.empty() || loops.size() > max_indices || !problem.copies.empty()) return sets;
  if (problem.profile != problem::Profile::standard || problem.space.has_copies()) return sets;
  if (!problem::is_contraction(problem) && !problem::factors_of(problem)) return sets;
  const auto reads = distinct_reads(problem);
  std::vector<LoopOrder> all = levels;
  for (const Access& read : reads) {
    const auto more = loop_order(read, problem);
    all.insert(all.end(), more.begin(), more.end());
  }
  const bool fills = fills_rows(problem);
  if (linear_order(loops, all).legal && !fills) return sets;
  std::sort(loops.begin(), loops.end());
  do {
    if (!appends_by(loops, problem)) continue;
    Set set;
    for (const Access& read : reads) {
      if (!agrees(loops, loop_order(read, problem))) set.push_back(copy_along(loops, read, problem));
    }
    if (fills && fills_rows_with(set, problem)) continue;
    if (std::find(sets.begin(), sets.end(), set) == sets.end()) sets.push_back(std::move(set));
  } while (std::next_permutation(loops.begin(), loops.end()));
  std::stable_sort(sets.begin(), sets.end(), [](const Set& a, const Set& b) { return a.size() < b.size(); });
  if (sets.size() > max_sets) sets.resize(max_sets);
  if (!sets.empty() && !fills && !sets.front().empty()) sets.insert(sets.begin(), Set{});
  return sets;
}

}  // namespace schaas::concrete_notation
