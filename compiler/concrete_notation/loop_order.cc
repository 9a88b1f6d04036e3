#include "compiler/concrete_notation/loop_order.h"

#include <algorithm>

#include "compiler/index_notation/printer.h"

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

std::vector<LoopOrder> result_loop_order(const problem::Problem& problem) {
  const index_notation::Access& result = problem.statement.result;
  std::vector<LoopOrder> out = loop_order(result, problem);
  const format::TensorFormat& format = problem.formats.at(result.tensor);
  const auto last = std::find_if(format.levels.rbegin(), format.levels.rend(), format::is_sparse);
  if (last == format.levels.rend()) return out;
  const auto index_at = [&](std::ptrdiff_t level) -> const std::string& {
    return result.indices[format.mode_order[level]];
  };
  const std::ptrdiff_t last_level = format.levels.rend() - last - 1;
  for (std::ptrdiff_t level = 0; level < last_level; ++level) {
    out.push_back({index_at(level), index_at(level + 1),
                   "`" + index_notation::print(result) + "` is stored " + format::print(format)});
  }
  const std::string& before = index_at(last_level);
  for (const auto& index : index_notation::index_variables(problem.statement)) {
    if (std::find(result.indices.begin(), result.indices.end(), index) != result.indices.end()) continue;
    out.push_back({before, index,
                   "`" + index_notation::print(result) + "` is stored " + format::print(format) + " and `" +
                       index + "` is summed"});
  }
  return out;
}

}  // namespace schaas::concrete_notation
