#include "compiler/index_notation/nodes.h"

#include <algorithm>
#include <utility>

#include "compiler/support/result.h"

namespace schaas::index_notation {
namespace {

/// What an expression is made of, left to right.
const std::vector<Expression>& parts(const Expression& expression) {
  static const std::vector<Expression> none;
  if (const auto* product = std::get_if<Product>(&expression.node)) return product->factors;
  if (const auto* call = std::get_if<Call>(&expression.node)) return call->arguments;
  if (const auto* reduction = std::get_if<Reduction>(&expression.node)) return reduction->body;
  return none;
}

void collect(const Expression& expression, std::vector<Access>& out) {
  if (const auto* access = std::get_if<Access>(&expression.node)) out.push_back(*access);
  for (const auto& part : parts(expression)) collect(part, out);
}

}  // namespace

bool operator==(const Access& a, const Access& b) { return a.tensor == b.tensor && a.indices == b.indices; }
bool operator==(const Product& a, const Product& b) { return a.factors == b.factors; }
bool operator==(const Literal& a, const Literal& b) { return a.value == b.value; }
bool operator==(const Call& a, const Call& b) {
  return a.function == b.function && a.arguments == b.arguments;
}
bool operator==(const Reduction& a, const Reduction& b) {
  return a.monoid == b.monoid && a.indices == b.indices && a.body == b.body;
}
bool operator==(const Expression& a, const Expression& b) { return a.node == b.node; }
bool operator==(const Assignment& a, const Assignment& b) {
  return a.result == b.result && a.value == b.value && a.update == b.update;
}

std::vector<Access> operands(const Expression& expression) {
  std::vector<Access> out;
  collect(expression, out);
  return out;
}

bool is_product(const Expression& expression) {
  if (std::holds_alternative<Access>(expression.node)) return true;
  const auto* product = std::get_if<Product>(&expression.node);
  if (!product) return false;
  return std::all_of(product->factors.begin(), product->factors.end(),
                     [](const Expression& factor) { return std::holds_alternative<Access>(factor.node); });
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
