#include "compiler/concrete_notation/tree_checks.h"

#include <algorithm>
#include <utility>

#include "compiler/index_notation/printer.h"

// Checks that the verifiers of contractions and of programs share, and their messages.
namespace schaas::concrete_notation {

using index_notation::Access;
using support::Result;

support::Diagnostic illegal(std::string message) {
  return support::invalid("illegal-tree", std::move(message));
}
std::string quoted(const std::string& name) { return "`" + name + "`"; }
std::string quoted(const Access& access) { return quoted(index_notation::print(access)); }

const Forall* inner_of(const Forall& loop) { return std::get_if<Forall>(&loop.body->node); }

Result<void> check_bound(const Access& access, const std::vector<std::string>& loops) {
  for (const auto& index : access.indices) {
    if (std::find(loops.begin(), loops.end(), index) != loops.end()) continue;
    return illegal("index " + quoted(index) + " of " + quoted(access) + " is not bound by a loop above it");
  }
  return {};
}

Result<void> check_coordinates(const index_notation::Expression& value,
                               const std::vector<std::string>& loops) {
  for (const auto& index : index_notation::coordinates(value)) {
    if (std::find(loops.begin(), loops.end(), index) != loops.end()) continue;
    return illegal("index " + quoted(index) + " of " + quoted(index_notation::print(value)) +
                   " is not bound by a loop above it");
  }
  return {};
}

Result<void> check_order(const std::vector<LoopOrder>& orders, const std::vector<std::string>& loops) {
  const auto depth = [&](const std::string& index) { return std::find(loops.begin(), loops.end(), index); };
  for (const LoopOrder& order : orders) {
    // An order whose later loop is not on this path is kept.
    if (depth(order.after) == loops.end() || depth(order.before) < depth(order.after)) continue;
    return illegal(order.reason + ": loop " + quoted(order.before) + " must be outside loop " +
                   quoted(order.after));
  }
  return {};
}

int sparse_level(const index_notation::Access& access, const std::string& index,
                 const problem::Problem& problem) {
  const auto format = problem.formats.find(access.tensor);
  if (format == problem.formats.end()) return -1;
  const auto& levels = format->second.levels;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const auto mode = static_cast<std::size_t>(format->second.mode_order[level]);
    if (format::is_sparse(levels[level]) && access.indices[mode] == index) return static_cast<int>(level);
  }
  return -1;
}

}  // namespace schaas::concrete_notation
