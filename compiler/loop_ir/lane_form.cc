#include "compiler/loop_ir/lane_form.h"

#include "compiler/loop_ir/uses.h"

namespace schaas::loop_ir {

bool is_lane_index(const ExpressionPtr& index, const std::string& variable,
                   const std::set<std::string>& varying) {
  if (const auto* name = std::get_if<Name>(&index->node)) return name->name == variable;
  const auto* sum = std::get_if<Add>(&index->node);
  if (!sum) return false;
  return (is_lane_index(sum->left, variable, varying) && !mentions(sum->right, varying)) ||
         (is_lane_index(sum->right, variable, varying) && !mentions(sum->left, varying));
}

bool is_lane_value(const ExpressionPtr& value, const std::string& variable,
                   const std::set<std::string>& varying) {
  if (!mentions(value, varying)) return true;
  const auto both = [&](const ExpressionPtr& left, const ExpressionPtr& right) {
    return is_lane_value(left, variable, varying) && is_lane_value(right, variable, varying);
  };
  return std::visit(Match{
                        [](const Integer&) { return true; },
                        [&](const Name& x) { return x.name != variable; },
                        [&](const Load& x) { return is_lane_index(x.index, variable, varying); },
                        [&](const Add& x) { return both(x.left, x.right); },
                        [&](const Multiply& x) { return both(x.left, x.right); },
                        [](const Minimum&) { return false; },
                        [](const Search&) { return false; },
                        [](const Zero&) { return true; },
                    },
                    value->node);
}

}  // namespace schaas::loop_ir
