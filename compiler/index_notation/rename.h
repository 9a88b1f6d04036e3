#pragma once
#include <map>
#include <set>
#include <string>

#include "compiler/index_notation/nodes.h"

namespace schaas::index_notation {

/// New names of tensors and of indices; what has no entry keeps its name.
struct Renaming {
  std::map<std::string, std::string> tensors, indices;
};

/// The same under other names, without source ranges.
Access renamed(const Access& access, const Renaming& names);
Expression renamed(const Expression& expression, const Renaming& names);
Assignment renamed(const Assignment& statement, const Renaming& names);

/// The expression with `by` wherever it has `replaced`.
Expression with_replaced(const Expression& expression, const Expression& replaced, const Expression& by);

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
