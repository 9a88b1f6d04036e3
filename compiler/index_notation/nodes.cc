#include "compiler/index_notation/nodes.h"

#include <algorithm>
#include <utility>

#include "compiler/support/result.h"

// Expressions are walked and rebuilt through `parts` and `with_parts`, so most passes need no case for each
// kind of node. Equality is that of structure and ignores ranges: the same statement read from two texts is
// one. Recursion is bounded by Limits::nesting and Limits::terms, which the parser keeps.
namespace schaas::index_notation {
namespace {

void collect(const Expression& expression, std::vector<Access>& out) {
  if (const auto* access = std::get_if<Access>(&expression.node)) out.push_back(*access);
  for (const auto& part : parts(expression)) collect(part, out);
}

// A fixed mode has no index.
void add_new(std::vector<std::string>& names, const std::vector<std::string>& more) {
  for (const auto& name : more) {
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
}

void collect_coordinates(const Expression& expression, std::vector<std::string>& out) {
  if (const auto* coordinate = std::get_if<Coordinate>(&expression.node)) add_new(out, {coordinate->index});
  for (const auto& part : parts(expression)) collect_coordinates(part, out);
}

// `bound`: indices of the reductions around the expression.
void collect_free(const Expression& expression, std::vector<std::string>& bound,
                  std::vector<std::string>& out) {
  const std::size_t outside = bound.size();
  const auto add = [&](const std::string& index) {
    if (std::find(bound.begin(), bound.end(), index) == bound.end()) add_new(out, {index});
  };
  if (const auto* access = std::get_if<Access>(&expression.node)) {
    for (const auto& index : access->indices) add(index);
  }
  if (const auto* coordinate = std::get_if<Coordinate>(&expression.node)) add(coordinate->index);
  if (const auto* reduction = std::get_if<Reduction>(&expression.node)) {
    bound.insert(bound.end(), reduction->indices.begin(), reduction->indices.end());
  }
  for (const auto& part : parts(expression)) collect_free(part, bound, out);
  bound.resize(outside);
}

}  // namespace

// An access, a number and a coordinate have no parts.
const std::vector<Expression>& parts(const Expression& expression) {
  static const std::vector<Expression> none;
  if (const auto* product = std::get_if<Product>(&expression.node)) return product->factors;
  if (const auto* call = std::get_if<Call>(&expression.node)) return call->arguments;
  if (const auto* reduction = std::get_if<Reduction>(&expression.node)) return reduction->body;
  return none;
}

Expression with_parts(Expression expression, std::vector<Expression> others) {
  SCHAAS_CHECK(parts(expression).size() == others.size(), "an operation has the parts it had");
  if (auto* product = std::get_if<Product>(&expression.node)) product->factors = std::move(others);
  if (auto* call = std::get_if<Call>(&expression.node)) call->arguments = std::move(others);
  if (auto* reduction = std::get_if<Reduction>(&expression.node)) reduction->body = std::move(others);
  return expression;
}

const Range* mode_range(const Access& access, std::size_t mode) {
  return mode < access.ranges.size() && access.ranges[mode] ? &*access.ranges[mode] : nullptr;
}

bool operator==(const Range& a, const Range& b) {
  return a.begin == b.begin && a.end == b.end && a.step == b.step && a.is_fixed == b.is_fixed;
}
bool operator==(const Access& a, const Access& b) {
  return a.tensor == b.tensor && a.indices == b.indices && a.ranges == b.ranges;
}
bool operator==(const Product& a, const Product& b) { return a.factors == b.factors; }
bool operator==(const Literal& a, const Literal& b) { return a.value == b.value; }
bool operator==(const Coordinate& a, const Coordinate& b) { return a.index == b.index; }
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
bool operator==(const Program& a, const Program& b) {
  return a.semiring == b.semiring && a.statements == b.statements;
}

std::vector<Access> operands(const Expression& expression) {
  std::vector<Access> out;
  collect(expression, out);
  return out;
}

std::vector<std::string> coordinates(const Expression& expression) {
  std::vector<std::string> out;
  collect_coordinates(expression, out);
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

Expression with_accesses(const Expression& expression, const std::function<Access(Access)>& changed) {
  if (const auto* access = std::get_if<Access>(&expression.node))
    return Expression{changed(*access), expression.range};
  std::vector<Expression> inner = parts(expression);
  for (auto& part : inner) part = with_accesses(part, changed);
  return with_parts(expression, std::move(inner));
}

// The order of appearance is part of what is stored: default nests and classes of extents begin with it.
std::vector<std::string> index_variables(const Assignment& assignment) {
  std::vector<std::string> out;
  add_new(out, assignment.result.indices);
  for (const auto& access : operands(assignment.value)) add_new(out, access.indices);
  collect_coordinates(assignment.value, out);
  return out;
}

std::vector<std::string> index_variables(const std::vector<Assignment>& statements) {
  std::vector<std::string> out;
  for (const auto& statement : statements) add_new(out, index_variables(statement));
  return out;
}

std::vector<std::string> free_indices(const Expression& expression) {
  std::vector<std::string> bound, out;
  collect_free(expression, bound, out);
  return out;
}

bool has_free(const Expression& expression, const std::string& index) {
  const auto indices = free_indices(expression);
  return std::find(indices.begin(), indices.end(), index) != indices.end();
}

}  // namespace schaas::index_notation
