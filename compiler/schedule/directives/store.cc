#include "compiler/schedule/directives/store.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "compiler/index_notation/printer.h"
#include "compiler/problem/copies.h"
#include "compiler/schedule/illegal.h"
#include "compiler/schedule/section.h"
#include "compiler/support/nearest_name.h"

// Checks of the directive's arguments against the problem, one message for each mistake; problem/copies.h
// makes the copy. Several `store` of one tensor follow each other: a later one sees only the accesses that
// still read the original.
namespace schaas::schedule {
namespace {

using index_notation::Access;
using support::Result;

/// Returns the accesses that read the original, not another re-layout.
std::vector<Access> reads_of(const problem::Problem& problem, const std::string& tensor) {
  std::vector<Access> reads = problem.reads();
  std::erase_if(reads, [&](const Access& access) { return access.tensor != tensor; });
  return reads;
}

Result<void> check_tensor(const problem::Problem& problem, const Store& store) {
  std::vector<std::string> operands;
  for (const std::string& tensor : problem.tensors()) {
    if (tensor != problem.statement.result.tensor && problem.copy_named(tensor) == nullptr)
      operands.push_back(tensor);
  }
  if (std::find(operands.begin(), operands.end(), store.tensor) == operands.end()) {
    return illegal("`" + store.tensor + "` is no operand; only operands can be copied" +
                   support::did_you_mean(store.tensor, operands));
  }
  if (!reads_of(problem, store.tensor).empty()) return {};
  return illegal("all accesses of `" + store.tensor + "` read copies already");
}

Result<void> check_order(const problem::Problem& problem, const Store& store) {
  const auto& format = problem.formats.at(store.tensor);
  std::vector<int> all(format.mode_order.size());
  std::iota(all.begin(), all.end(), 0);
  std::vector<int> sorted = store.order;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != all) {
    return illegal("order " + print(store.order) + " is no permutation of the modes " + print(all) + " of `" +
                   store.tensor + "`");
  }
  if (store.locates && !format::lists_first(format)) {
    return illegal("the first level of `" + store.tensor + "` (" + format::print(format) +
                   ") is no list of coordinates: a copy with `first=dense` would be as it is");
  }
  if (store.order != format.mode_order || store.locates) return {};
  return illegal("`" + store.tensor + "` is stored in the order " + print(store.order) + " already");
}

Result<void> check_access(const problem::Problem& problem, const Store& store) {
  if (!store.at) return {};
  std::string known;
  for (const Access& access : reads_of(problem, store.tensor)) {
    if (access.indices == *store.at) return {};
    const std::string text = "`" + index_notation::print(access) + "`";
    if (known.find(text) == std::string::npos) known += (known.empty() ? "" : ", ") + text;
  }
  return illegal("there is no access `" + index_notation::print(Access{store.tensor, *store.at, {}, {}}) +
                 "`; `" + store.tensor + "` is read as " + known);
}

}  // namespace

Result<problem::Problem> apply_store(const problem::Problem& problem, const Store& directive) {
  SCHAAS_RETURN_IF_ERROR(check_tensor(problem, directive));
  SCHAAS_RETURN_IF_ERROR(check_order(problem, directive));
  SCHAAS_RETURN_IF_ERROR(check_access(problem, directive));
  return problem::with_copy(problem, directive);
}

}  // namespace schaas::schedule
