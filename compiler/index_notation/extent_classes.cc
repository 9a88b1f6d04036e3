#include "compiler/index_notation/extent_classes.h"

#include <algorithm>

#include "compiler/index_notation/selections.h"

// Union of indices that stand at one mode of a tensor, by relabelling: there are at most Limits::indices
// names. The first index in order of appearance represents its class, so that the same program has the same
// representatives.
namespace schaas::index_notation {

std::map<std::string, std::string> extent_classes(const std::vector<Assignment>& statements) {
  const auto order = index_variables(statements);
  std::map<std::string, std::string> first;
  for (const auto& index : order) first[index] = index;
  const auto position = [&order](const std::string& index) {
    return std::find(order.begin(), order.end(), index) - order.begin();
  };
  const auto unite = [&](const std::string& a, const std::string& b) {
    const std::string left = first[a], right = first[b];
    const std::string& keep = position(left) <= position(right) ? left : right;
    for (auto& [index, representative] : first) {
      if (representative == left || representative == right) representative = keep;
    }
  };
  std::map<std::string, std::vector<std::string>> seen;
  const auto meet = [&](const Access& access) {
    if (selects(access)) return;  // relates indices of any extents
    const auto& before = seen.emplace(access.tensor, access.indices).first->second;
    const std::size_t modes = std::min(before.size(), access.indices.size());
    for (std::size_t mode = 0; mode < modes; ++mode) unite(before[mode], access.indices[mode]);
  };
  for (const auto& statement : statements) {
    for (const auto& access : operands(statement.value)) meet(access);
    meet(statement.result);
  }
  return first;
}

}  // namespace schaas::index_notation
