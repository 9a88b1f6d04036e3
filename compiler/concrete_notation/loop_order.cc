#include "compiler/concrete_notation/loop_order.h"

#include <algorithm>

#include "compiler/index_notation/printer.h"

// Loop orders that storage demands: a level is reached after the levels that its positions depend on
// (SparseAuto, section 2.3). A result that is appended to demands more. Its levels come in order, so that
// entries are appended in order. Summed loops stand below its last compressed level, so that each entry is
// appended once.
namespace schaas::concrete_notation {

std::vector<LoopOrder> loop_order(const index_notation::Access& access, const problem::Problem& problem) {
  const auto found = problem.formats.find(access.tensor);
  if (found == problem.formats.end()) return {};
  const format::TensorFormat& format = found->second;
  std::vector<LoopOrder> out;
  for (const auto& [earlier, later] : format::access_order(format)) {
    // A diagonal binds both levels in one loop.
    if (access.indices[format.mode_order[earlier]] == access.indices[format.mode_order[later]]) continue;
    out.push_back({access.indices[format.mode_order[earlier]], access.indices[format.mode_order[later]],
                   "`" + index_notation::print(access) + "` is stored " + format::print(format)});
  }
  return out;
}

namespace {

/// Returns the last compressed level of the result, or -1.
std::ptrdiff_t last_level_of(const format::TensorFormat& format) {
  const auto last = std::find_if(format.levels.rbegin(), format.levels.rend(), format::is_sparse);
  return format.levels.rend() - last - 1;
}

const std::string& index_at(std::ptrdiff_t level, const problem::Problem& problem) {
  const index_notation::Access& result = problem.statement.result;
  const auto& order = problem.formats.at(result.tensor).mode_order;
  return result.indices[static_cast<std::size_t>(order[static_cast<std::size_t>(level)])];
}

std::string stored(const problem::Problem& problem) {
  const index_notation::Access& result = problem.statement.result;
  return "`" + index_notation::print(result) + "` is stored " +
         format::print(problem.formats.at(result.tensor));
}

}  // namespace

std::vector<LoopOrder> result_level_order(const problem::Problem& problem) {
  const std::ptrdiff_t last = last_level_of(problem.formats.at(problem.statement.result.tensor));
  if (last < 0) return {};
  std::vector<LoopOrder> out = loop_order(problem.statement.result, problem);
  for (std::ptrdiff_t level = 0; level < last; ++level)
    out.push_back({index_at(level, problem), index_at(level + 1, problem), stored(problem)});
  return out;
}

std::vector<LoopOrder> result_loop_order(const problem::Problem& problem) {
  const index_notation::Access& result = problem.statement.result;
  const std::ptrdiff_t last = last_level_of(problem.formats.at(result.tensor));
  if (last < 0) return loop_order(result, problem);
  std::vector<LoopOrder> out = result_level_order(problem);
  for (const auto& index : index_notation::index_variables(problem.statement)) {
    if (std::find(result.indices.begin(), result.indices.end(), index) != result.indices.end()) continue;
    out.push_back({index_at(last, problem), index, stored(problem) + " and `" + index + "` is summed"});
  }
  return out;
}

bool is_walked(const index_notation::Access& access, const std::string& index,
               const problem::Problem& problem) {
  const auto known = problem.formats.find(access.tensor);
  if (known == problem.formats.end()) return false;
  const format::TensorFormat& format = known->second;
  for (std::size_t level = 0; level < format.levels.size(); ++level) {
    if (format::is_sparse(format.levels[level]) &&
        access.indices[static_cast<std::size_t>(format.mode_order[level])] == index)
      return true;
  }
  return false;
}

}  // namespace schaas::concrete_notation
