#include "compiler/index_notation/rename.h"

#include <utility>

#include "compiler/support/limits.h"

namespace schaas::index_notation {
namespace {

const std::string& name_in(const std::map<std::string, std::string>& names, const std::string& name) {
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

}  // namespace

Access renamed(const Access& access, const Renaming& names) {
  Access out{name_in(names.tensors, access.tensor), {}, {}, {}, access.ranges};
  for (const auto& index : access.indices) out.indices.push_back(name_in(names.indices, index));
  return out;
}

Expression renamed(const Expression& expression, const Renaming& names) {
  if (const auto* access = std::get_if<Access>(&expression.node)) return {renamed(*access, names), {}};
  if (const auto* coordinate = std::get_if<Coordinate>(&expression.node))
    return {Coordinate{name_in(names.indices, coordinate->index)}, {}};
  std::vector<Expression> inner;
  for (const auto& part : parts(expression)) inner.push_back(renamed(part, names));
  Expression out = with_parts(expression, std::move(inner));
  if (auto* reduction = std::get_if<Reduction>(&out.node)) {
    for (auto& index : reduction->indices) index = name_in(names.indices, index);
  }
  out.range = {};
  return out;
}

Assignment renamed(const Assignment& statement, const Renaming& names) {
  return {renamed(statement.result, names), renamed(statement.value, names), statement.update, {}};
}

Expression with_replaced(const Expression& expression, const Expression& replaced, const Expression& by) {
  if (expression == replaced) return by;
  std::vector<Expression> changed;
  for (const Expression& part : parts(expression)) changed.push_back(with_replaced(part, replaced, by));
  return with_parts(expression, std::move(changed));
}

FreshNames::FreshNames(const Program& program) {
  for (const Assignment& statement : program.statements) {
    taken_.insert(statement.result.tensor);
    for (const Access& access : operands(statement.value)) taken_.insert(access.tensor);
  }
  for (const std::string& index : index_variables(program.statements)) taken_.insert(index);
}

// Long names are cut, so that the number behind them still fits.
std::string FreshNames::fresh(const std::string& name) {
  constexpr std::size_t longest = support::Limits::name_bytes - 4;
  const std::string stem = name.substr(0, longest);
  std::string found = stem;
  for (int number = 2; is_taken(found); ++number) found = stem + "_" + std::to_string(number);
  take(found);
  return found;
}

}  // namespace schaas::index_notation
