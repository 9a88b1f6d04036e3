#include "compiler/index_notation/nodes.h"

#include <algorithm>
#include <utility>

#include "compiler/support/result.h"

namespace schaas::index_notation {
namespace {

void collect(const Expression& expression, std::vector<Access>& out) {
  if (const auto* access = std::get_if<Access>(&expression.node)) {
    out.push_back(*access);
    return;
  }
  for (const auto& factor : std::get<Product>(expression.node).factors) collect(factor, out);
}

}  // namespace

bool operator==(const Access& a, const Access& b) { return a.tensor == b.tensor && a.indices == b.indices; }
bool operator==(const Product& a, const Product& b) { return a.factors == b.factors; }
bool operator==(const Expression& a, const Expression& b) { return a.node == b.node; }
bool operator==(const Assignment& a, const Assignment& b) {
  return a.result == b.result && a.value == b.value;
}

std::vector<Access> operands(const Expression& expression) {
  std::vector<Access> out;
  collect(expression, out);
  return out;
}

Expression product_of(std::vector<Access> factors) {
  SCHAAS_CHECK(!factors.empty(), "a product needs a factor");
  if (factors.size() == 1) return Expression{std::move(factors.front()), {}};
  Product product;
  for (auto& factor : factors) product.factors.push_back(Expression{std::move(factor), {}});
  return Expression{std::move(product), {}};
}

std::vector<std::string> index_variables(const Assignment& assignment) {
  std::vector<std::string> out;
  const auto add = [&out](const Access& access) {
    for (const auto& index : access.indices) {
      if (std::find(out.begin(), out.end(), index) == out.end()) out.push_back(index);
    }
  };
  add(assignment.result);
  for (const auto& access : operands(assignment.value)) add(access);
  return out;
}

}  // namespace schaas::index_notation
