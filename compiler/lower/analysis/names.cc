#include "compiler/lower/analysis/names.h"

#include "compiler/loop_ir/uses.h"

// Issues each name once. All phases of a kernel share one set, so a statement may move from one to another
// without renaming.
namespace schaas::lower {

Names::Names(const loop_ir::Kernel& kernel) {
  for (const auto& extent : kernel.extents) taken_.insert(extent.name);
  for (const auto& let : kernel.lets) taken_.insert(let.name);
  for (const auto& array : kernel.arrays) taken_.insert(array.name);
  for (const auto& phase : kernel.phases) {
    take(phase.body);
    take(phase.numeric);
    if (phase.row_split) take(phase.row_split->partial), take(phase.row_split->fix_up);
  }
}

void Names::take(const loop_ir::StatementPtr& statement) {
  if (statement) loop_ir::collect_declared(statement, taken_);
}

std::string Names::numbered(const std::string& base) {
  for (int n = 1;; ++n) {
    std::string text = base + "_" + std::to_string(n);
    if (taken_.insert(text).second) return text;
  }
}

std::string Names::fresh(const std::string& preferred) {
  std::string text = preferred;
  for (int count = 2; !taken_.insert(text).second; ++count) text = preferred + "_" + std::to_string(count);
  return text;
}

std::string Names::base(const std::string& user_name, const std::string& otherwise) {
  if (user_name.size() != 1) return otherwise;
  const char c = user_name.front();
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter ? user_name : otherwise;
}

}  // namespace schaas::lower
