#include "compiler/index_notation/coordinates.h"

#include <set>
#include <utility>

#include "compiler/support/contains.h"

// A name without parentheses is read as a scalar: only the whole program tells whether it is an index. A name
// that is an index and a tensor as well stays a scalar, which the verifier refuses.
namespace schaas::index_notation {
namespace {

void add_reduced(const Expression& expression, std::vector<std::string>& out) {
  if (const auto* reduction = std::get_if<Reduction>(&expression.node))
    out.insert(out.end(), reduction->indices.begin(), reduction->indices.end());
  for (const auto& part : parts(expression)) add_reduced(part, out);
}

}  // namespace

Expression with_coordinates(const Expression& expression, const std::vector<std::string>& indices) {
  if (const auto* access = std::get_if<Access>(&expression.node)) {
    const bool stands_alone = access->indices.empty() && support::contains(indices, access->tensor);
    return stands_alone ? Expression{Coordinate{access->tensor}, expression.range} : expression;
  }
  std::vector<Expression> inner;
  for (const auto& part : parts(expression)) inner.push_back(with_coordinates(part, indices));
  return with_parts(expression, std::move(inner));
}

Program with_coordinates(const Program& program) {
  std::vector<std::string> indices = index_variables(program.statements);
  std::set<std::string> tensors;
  for (const auto& statement : program.statements) {
    add_reduced(statement.value, indices);
    tensors.insert(statement.result.tensor);
    for (const auto& access : operands(statement.value))
      if (!access.indices.empty()) tensors.insert(access.tensor);
  }
  std::erase_if(indices, [&](const std::string& index) { return tensors.count(index) != 0; });
  Program out = program;
  for (auto& statement : out.statements) statement.value = with_coordinates(statement.value, indices);
  return out;
}

}  // namespace schaas::index_notation
