#include "compiler/concrete_notation/needed_copies.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "compiler/concrete_notation/linear_order.h"
#include "compiler/concrete_notation/possible_copies.h"
#include "compiler/concrete_notation/semantics.h"
#include "compiler/problem/copies.h"
#include "compiler/problem/upper_bounds.h"

namespace schaas::concrete_notation {
namespace {

using index_notation::Access;
using index_notation::Expression;
using index_notation::Reduction;
using problem::CopyRequest;
using problem::Problem;

/// Accesses that stand in one nest, each once: `value` down to its reductions, and each of these.
using Nest = std::vector<Access>;

void add_nests(const Expression& value, std::size_t nest, std::vector<Nest>& out) {
  if (const auto* access = std::get_if<Access>(&value.node)) {
    Nest& here = out[nest];
    if (std::find(here.begin(), here.end(), *access) == here.end()) here.push_back(*access);
  }
  if (std::holds_alternative<Reduction>(value.node)) {
    nest = out.size();
    out.emplace_back();
  }
  for (const auto& part : index_notation::parts(value)) add_nests(part, nest, out);
}

std::vector<Nest> nests_of(const Problem& problem) {
  std::vector<Nest> out;
  for (const auto& statement : problem.statements()) {
    out.emplace_back();
    add_nests(explicit_value(statement, problem), out.size() - 1, out);
  }
  return out;
}

std::vector<LoopOrder> orders_of(const Nest& nest, const Problem& problem) {
  std::vector<LoopOrder> orders;
  for (const Access& access : nest) {
    const auto more = loop_order(access, problem);
    orders.insert(orders.end(), more.begin(), more.end());
  }
  return orders;
}

std::vector<std::string> indices_of(const Nest& nest) {
  std::vector<std::string> indices;
  for (const Access& access : nest) {
    for (const auto& index : access.indices) {
      if (std::find(indices.begin(), indices.end(), index) == indices.end()) indices.push_back(index);
    }
  }
  return indices;
}

/// It takes two sparse operands to contradict each other, or one with an index at two levels and another
/// between.
bool may_contradict(const Nest& nest, const Problem& problem) {
  int sparse = 0;
  for (const Access& access : nest) {
    const auto format = problem.formats.find(access.tensor);
    if (format == problem.formats.end() || format->second.all_dense()) continue;
    const std::set<std::string> distinct(access.indices.begin(), access.indices.end());
    sparse += access.indices.size() > 2 && distinct.size() < access.indices.size() ? 2 : 1;
  }
  return sparse > 1;
}

/// Copies of some accesses of one nest.
class Choice {
 public:
  Choice(const Nest& nest, const Problem& problem) : nest_(nest), problem_(problem) {
    if (!problem.constraints.empty()) bounds_ = problem::upper_bounds(problem);
    for (std::size_t n = 0; n < nest.size(); ++n) {
      if (problem.copy_named(nest[n].tensor) == nullptr && !loop_order(nest[n], problem).empty())
        candidates_.push_back(n);
    }
    if (candidates_.size() > most) candidates_.erase(candidates_.begin(), candidates_.end() - most);
  }

  /// None when nothing helps.
  std::vector<CopyRequest> best() const {
    std::vector<std::tuple<double, int, unsigned>> sets;  // entries, copies, those left as they are
    const unsigned all = (1U << candidates_.size()) - 1;
    for (unsigned set = 1; set <= all; ++set) {
      double entries = 0;
      int count = 0;
      for (std::size_t n = 0; n < candidates_.size(); ++n) {
        if (((set >> n) & 1U) == 0) continue;
        entries += entries_of(nest_[candidates_[n]].tensor);
        ++count;
      }
      sets.emplace_back(entries, count, all & ~set);
    }
    std::sort(sets.begin(), sets.end());
    for (const auto& [entries, count, left] : sets) {
      const auto order = order_without(all & ~left);
      if (order.legal) return requests(all & ~left, order.loops);
    }
    return {};
  }

 private:
  static constexpr std::ptrdiff_t most = 10;  ///< accesses that are tried together

  bool is_in(unsigned set, std::size_t access) const {
    const auto found = std::find(candidates_.begin(), candidates_.end(), access);
    return found != candidates_.end() && ((set >> (found - candidates_.begin())) & 1U) != 0;
  }

  double entries_of(const std::string& tensor) const {
    const int order = problem_.formats.at(tensor).order();
    const auto known = bounds_.find({problem::Symbol::Kind::nonzeros, tensor, order});
    return known == bounds_.end() ? 0x1p63 : static_cast<double>(known->second);
  }

  LinearOrder order_without(unsigned copied) const {
    Nest left;
    for (std::size_t n = 0; n < nest_.size(); ++n) {
      if (!is_in(copied, n)) left.push_back(nest_[n]);
    }
    return linear_order(indices_of(nest_), orders_of(left, problem_));
  }

  std::vector<CopyRequest> requests(unsigned copied, const std::vector<std::string>& loops) const {
    std::vector<CopyRequest> out;
    for (std::size_t n = 0; n < nest_.size(); ++n) {
      if (!is_in(copied, n)) continue;
      const Access& access = nest_[n];
      CopyRequest request{access.tensor, std::nullopt, problem_.formats.at(access.tensor).mode_order};
      const auto depth = [&](int mode) {
        return std::find(loops.begin(), loops.end(), access.indices[static_cast<std::size_t>(mode)]);
      };
      std::stable_sort(request.order.begin(), request.order.end(),
                       [&](int a, int b) { return depth(a) < depth(b); });
      const auto reads = problem_.reads();
      const bool alone = std::none_of(reads.begin(), reads.end(), [&](const Access& other) {
        return other.tensor == access.tensor && other.indices != access.indices;
      });
      if (!alone) request.at = access.indices;
      out.push_back(std::move(request));
    }
    return out;
  }

  const Nest& nest_;
  const Problem& problem_;
  std::map<problem::Symbol, std::int64_t> bounds_;
  std::vector<std::size_t> candidates_;  ///< accesses of the nest that may be copied
};

}  // namespace

std::vector<CopyRequest> needed_copies(const Problem& problem) {
  std::vector<CopyRequest> out;
  if (!may_contradict(problem.reads(), problem)) return out;
  std::vector<Nest> nests = nests_of(problem);
  Problem now;
  bool changed = false;
  for (std::size_t n = 0; n < nests.size(); ++n) {
    const Problem& present = changed ? now : problem;
    if (!may_contradict(nests[n], present)) continue;
    if (linear_order(indices_of(nests[n]), orders_of(nests[n], present)).legal) continue;
    for (CopyRequest& request : Choice(nests[n], present).best()) {
      now = problem::with_copy(changed ? now : problem, request);
      changed = true;
      out.push_back(std::move(request));
    }
    if (changed) nests = nests_of(now);
  }
  return out;
}

Problem with_known_copies(const Problem& problem) {
  Problem out = problem::without_copies(problem);
  const Problem asked = out;
  for (const CopyRequest& request : needed_copies(asked)) out = problem::with_copy_beside(out, request);
  if (problem.space.has_copies()) {
    for (const CopyRequest& request : possible_copies(asked)) out = problem::with_copy_beside(out, request);
  }
  for (const problem::Copy& copy : problem.copies) {
    const auto& order = problem.formats.at(copy.name).mode_order;
    for (const auto& indices : copy.reads)
      out = problem::with_copy_beside(out, {copy.tensor, indices, order});
  }
  return out;
}

}  // namespace schaas::concrete_notation
