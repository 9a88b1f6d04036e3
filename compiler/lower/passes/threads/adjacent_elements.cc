#include "compiler/lower/passes/threads/adjacent_elements.h"

#include <algorithm>

#include "compiler/loop_ir/map_expressions.h"
#include "compiler/loop_ir/phase_range.h"
#include "compiler/loop_ir/printer.h"

namespace schaas::lower {

using loop_ir::ExpressionPtr;
using loop_ir::StatementPtr;
using operators::Function;

namespace {

/// Calls `each` for the loads that the expression makes in any case.
void collect_loads_of_expression(const ExpressionPtr& expression,
                                 const std::function<void(const loop_ir::Load&)>& each) {
  if (const auto* load = std::get_if<loop_ir::Load>(&expression->node)) each(*load);
  if (const auto* apply = std::get_if<loop_ir::Apply>(&expression->node)) {
    for (const auto& argument : apply->arguments) collect_loads_of_expression(argument, each);
  }
}

}  // namespace

void collect_loads(const StatementPtr& statement, const std::function<void(const loop_ir::Load&)>& each) {
  (void)loop_ir::map_expressions(statement, [&](const ExpressionPtr& expression) {
    collect_loads_of_expression(expression, each);
    return expression;
  });
}

void IndexSum::add(const ExpressionPtr& expression) {
  if (const auto* both = loop_ir::arguments_of(expression, Function::add)) {
    for (const auto& each : *both) add(each);
    return;
  }
  const auto* number = std::get_if<loop_ir::Integer>(&expression->node);
  std::int64_t sum = 0;
  if (number == nullptr || __builtin_add_overflow(constant, number->value, &sum)) {
    terms.push_back(expression);
  } else {
    constant = sum;
  }
}

std::string IndexSum::text() const {
  std::vector<std::string> texts;
  for (const auto& term : terms) texts.push_back(loop_ir::print(term));
  std::sort(texts.begin(), texts.end());
  std::string all;
  for (const auto& each : texts) all += each + " + ";
  return all;
}

IndexSum index_sum_of(const ExpressionPtr& index) {
  IndexSum sum;
  sum.add(index);
  return sum;
}

Divisibility::Divisibility(const loop_ir::Kernel& kernel, int columns_grain) : columns_grain_(columns_grain) {
  for (const auto& let : kernel.lets) known_[let.name] = let.value;
  for (const auto& extent : kernel.extents) extents_.insert(extent.name);
}

bool Divisibility::is_multiple(const ExpressionPtr& expression, int number,
                               std::set<std::string>& extents) const {
  if (const auto* integer = std::get_if<loop_ir::Integer>(&expression->node))
    return integer->value % number == 0;
  if (const auto* name = std::get_if<loop_ir::Name>(&expression->node))
    return is_multiple(name->name, number, extents);
  if (const auto* sum = loop_ir::arguments_of(expression, Function::add))
    return std::all_of(sum->begin(), sum->end(),
                       [&](const auto& each) { return is_multiple(each, number, extents); });
  if (const auto* product = loop_ir::arguments_of(expression, Function::multiply))
    return std::any_of(product->rbegin(), product->rend(),
                       [&](const auto& each) { return is_multiple(each, number, extents); });
  return false;
}

bool Divisibility::is_multiple(const std::string& name, int number, std::set<std::string>& extents) const {
  if (name == loop_ir::column_names[0]) return columns_grain_ % number == 0;
  if (extents_.count(name) > 0) return extents.insert(name), true;
  if (const auto loop = steps_.find(name); loop != steps_.end())
    return loop->second.step % number == 0 && is_multiple(loop->second.begin, number, extents);
  const auto value = known_.find(name);
  return value != known_.end() && is_multiple(value->second, number, extents);
}

bool Divisibility::is_multiple(const IndexSum& sum, int number, std::set<std::string>& extents) const {
  return std::all_of(sum.terms.begin(), sum.terms.end(),
                     [&](const auto& term) { return is_multiple(term, number, extents); });
}

}  // namespace schaas::lower
