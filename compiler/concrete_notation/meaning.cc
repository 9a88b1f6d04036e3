#include "compiler/concrete_notation/meaning.h"

#include <algorithm>
#include <utility>

#include "compiler/index_notation/printer.h"

namespace schaas::concrete_notation {
namespace {

using index_notation::Expression;
using index_notation::Product;
using index_notation::Reduction;

using Names = std::vector<std::string>;

bool share(const Names& a, const Names& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](const std::string& name) { return std::find(b.begin(), b.end(), name) != b.end(); });
}

Expression reduced(operators::Monoid monoid, Names indices, Expression body) {
  auto* inner = std::get_if<Reduction>(&body.node);
  if (inner != nullptr && inner->monoid == monoid && !share(inner->indices, indices)) {
    indices.insert(indices.end(), inner->indices.begin(), inner->indices.end());
    Expression innermost = inner->body.front();
    body = std::move(innermost);
  }
  if (indices.empty()) return body;
  std::sort(indices.begin(), indices.end());
  return Expression{Reduction{monoid, std::move(indices), {std::move(body)}}, {}};
}

/// Takes the indices of a sum away from `factor` when no other factor has them.
Names pull_sum(Expression& factor, const std::vector<Expression>& factors, operators::Monoid sum) {
  const auto* reduction = std::get_if<Reduction>(&factor.node);
  if (reduction == nullptr || reduction->monoid != sum) return {};
  for (const auto& other : factors) {
    if (&other != &factor && share(index_notation::free_indices(other), reduction->indices)) return {};
  }
  Names indices = reduction->indices;
  Expression body = reduction->body.front();
  factor = std::move(body);
  return indices;
}

class Normalizer {
 public:
  explicit Normalizer(operators::Monoid sum) : sum_(sum) {}

  Expression of(const Expression& expression) const {
    std::vector<Expression> parts = index_notation::parts(expression);
    for (auto& part : parts) part = of(part);
    if (std::holds_alternative<Product>(expression.node)) return product_of(std::move(parts));
    if (const auto* reduction = std::get_if<Reduction>(&expression.node))
      return reduced(reduction->monoid, reduction->indices, std::move(parts.front()));
    return index_notation::with_parts(expression, std::move(parts));
  }

 private:
  Expression product_of(std::vector<Expression> factors) const {
    Names summed;
    sort(factors);
    for (auto& factor : factors) {
      for (auto& index : pull_sum(factor, factors, sum_)) summed.push_back(std::move(index));
    }
    Product flat;
    for (auto& factor : factors) {
      if (const auto* inner = std::get_if<Product>(&factor.node)) {
        flat.factors.insert(flat.factors.end(), inner->factors.begin(), inner->factors.end());
      } else {
        flat.factors.push_back(std::move(factor));
      }
    }
    sort(flat.factors);
    return reduced(sum_, std::move(summed), Expression{std::move(flat), {}});
  }

  static void sort(std::vector<Expression>& factors) {
    std::stable_sort(factors.begin(), factors.end(), [](const Expression& a, const Expression& b) {
      return index_notation::print(a) < index_notation::print(b);
    });
  }

  operators::Monoid sum_;
};

}  // namespace

Expression normal_form(const Expression& expression, const problem::Problem& problem) {
  return Normalizer(problem.semiring->sum).of(expression);
}

}  // namespace schaas::concrete_notation
