#pragma once
#include <set>
#include <string>

#include "compiler/index_notation/nodes.h"

namespace schaas::index_notation {

/// Names that no tensor and no index of a program has.
class FreshNames {
 public:
  explicit FreshNames(const Program& program);

  bool is_taken(const std::string& name) const { return taken_.count(name) != 0; }
  void take(const std::string& name) { taken_.insert(name); }
  /// `name`, or where it is taken the first of name_2, name_3, ... that is free; taken from then on.
  std::string fresh(const std::string& name);

 private:
  std::set<std::string> taken_;
};

}  // namespace schaas::index_notation
