#include "compiler/loop_ir/vector_form.h"

#include <algorithm>

#include "compiler/loop_ir/uses.h"

// Legality of vector loops. Adjacent lanes must load adjacent elements: the index is the loop's variable
// plus terms that all lanes share. Any other varying index would be a gather, a varying condition would need
// a mask, and a search would end at different times. The loop's variable itself is an index; as
// a value it is converted.
namespace schaas::loop_ir {

bool is_vector_index(const ExpressionPtr& index, const std::string& variable,
                     const std::set<std::string>& varying) {
  if (const auto* name = std::get_if<Name>(&index->node)) return name->name == variable;
  const auto* sum = arguments_of(index, operators::Function::add);
  if (!sum) return false;
  const auto& left = sum->front();
  const auto& right = sum->back();
  // Exactly one of the terms is the variable; a second one would double the distance of lanes.
  return (is_vector_index(left, variable, varying) && !mentions(right, varying)) ||
         (is_vector_index(right, variable, varying) && !mentions(left, varying));
}

bool is_vector_value(const ExpressionPtr& value, const std::string& variable,
                     const std::set<std::string>& varying) {
  if (!mentions(value, varying)) return true;
  return std::visit(Match{
                        [](const Integer&) { return true; },
                        [](const Number&) { return true; },
                        [&](const Name& x) { return x.name != variable; },
                        [&](const Load& x) { return is_vector_index(x.index, variable, varying); },
                        [&](const Apply& x) {
                          return std::all_of(x.arguments.begin(), x.arguments.end(), [&](const auto& each) {
                            return is_vector_value(each, variable, varying);
                          });
                        },
                        [&](const Choose& x) {
                          return !mentions(x.condition, varying) &&
                                 is_vector_value(x.then, variable, varying) &&
                                 is_vector_value(x.otherwise, variable, varying);
                        },
                        [](const Search&) { return false; },
                        [&](const Convert& x) { return is_vector_index(x.index, variable, varying); },
                    },
                    value->node);
}

}  // namespace schaas::loop_ir
