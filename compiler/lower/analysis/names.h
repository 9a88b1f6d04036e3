#pragma once
#include <set>
#include <string>

#include "compiler/loop_ir/kernel.h"
#include "compiler/loop_ir/phase_range.h"

namespace schaas::lower {

/// Issues identifiers unique in their kernel. They consist of our own letters and counters; a user's name is
/// used only when it is one ASCII letter, so no foreign text reaches generated source.
class Names {
 public:
  Names() = default;
  /// Takes the names that the kernel declares.
  explicit Names(const loop_ir::Kernel& kernel);
  void take(const loop_ir::StatementPtr& statement);
  /// Returns `preferred` when free, else preferred_2, preferred_3, ...
  std::string fresh(const std::string& preferred);
  /// Returns base_1, or the first of base_2, base_3, ... that is free.
  std::string numbered(const std::string& base);
  /// Returns a user's name when it is a single letter, else `otherwise`.
  static std::string base(const std::string& user_name, const std::string& otherwise);

 private:
  std::set<std::string> taken_{loop_ir::range_names[0],
                               loop_ir::range_names[1],
                               loop_ir::column_names[0],
                               loop_ir::column_names[1],
                               "lane",
                               "lane_group",
                               "aligned",
                               "staged",
                               "capacity"};
};

}  // namespace schaas::lower
