#include "compiler/concrete_notation/meaning.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "compiler/index_notation/printer.h"
#include "compiler/problem/rewrites/sum_terms.h"

// Normal forms by rewriting from the leaves up, under the laws that schedules use. Products and sums are
// associative and commutative, and products are distributed over sums. Sums move out of products whose
// other factors lack their indices. A product too large to be distributed is left a product of sums; sums
// then move into a factor that is a sum itself and alone has the index.
// Every step keeps the value, so equal forms are equal values. The converse does not hold: a right tree whose
// form differs is refused.
namespace schaas::concrete_notation {
namespace {

using index_notation::Call;
using index_notation::Expression;
using index_notation::Product;
using index_notation::Reduction;

using problem::SumTerm;
using Names = std::vector<std::string>;

/// As many terms as a product of sums of all operands of a statement can have (support::Limits::operands).
constexpr std::size_t max_terms = 256;

bool share(const Names& a, const Names& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](const std::string& name) { return std::find(b.begin(), b.end(), name) != b.end(); });
}

/// Returns a reduction, merged with one below it by the same monoid over other indices.
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

/// Removes the indices of a sum from `factor` that no other factor has.
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

/// Rewrites an expression whose parts have been rewritten before.
class Normalizer {
 public:
  explicit Normalizer(const operators::Semiring& semiring) : semiring_(semiring), sum_(semiring.sum) {}

  Expression of(const Expression& expression) const {
    std::vector<Expression> parts = index_notation::parts(expression);
    for (auto& part : parts) part = of(part);
    if (std::holds_alternative<Product>(expression.node)) return product_of(std::move(parts));
    if (const auto* reduction = std::get_if<Reduction>(&expression.node))
      return reduction->monoid == sum_
                 ? sum_over(reduction->indices, std::move(parts.front()))
                 : reduced(reduction->monoid, reduction->indices, std::move(parts.front()));
    return sum_of(problem::sum_terms(index_notation::with_parts(expression, std::move(parts)), semiring_));
  }

 private:
  /// Returns the sum of the terms, sorted; a single term stands alone.
  Expression sum_of(const std::vector<SumTerm>& terms) const {
    Call call{operators::combine(sum_), {}};
    for (const SumTerm& term : terms) call.arguments.push_back(term.expression());
    if (call.arguments.size() == 1) return call.arguments.front();
    sort(call.arguments);
    return Expression{std::move(call), {}};
  }

  /// Merges nested sums; also when the inner sum is the only factor with an index.
  Expression sum_over(Names indices, Expression body) const {
    if (indices.empty()) return body;
    std::vector<SumTerm> terms = problem::sum_terms(body, semiring_);
    if (terms.size() > 1 || terms.front().negative) {
      for (SumTerm& term : terms) term.value = sum_over(indices, std::move(term.value));
      return sum_of(terms);
    }
    Expression whole = reduced(sum_, std::move(indices), std::move(body));
    auto* reduction = std::get_if<Reduction>(&whole.node);
    auto* product = reduction ? std::get_if<Product>(&reduction->body.front().node) : nullptr;
    if (product == nullptr || !push_sums(reduction->indices, product->factors)) return whole;
    sort(product->factors);
    Expression inside = reduction->body.front();
    return reduction->indices.empty() ? inside : whole;
  }

  /// Moves indices that one factor alone has into that factor, where it is a sum. Returns true when any
  /// moved.
  bool push_sums(Names& indices, std::vector<Expression>& factors) const {
    bool pushed = false;
    for (auto& factor : factors) {
      const auto terms = problem::sum_terms(factor, semiring_);
      if (terms.size() == 1 && !terms.front().negative) continue;
      Names own;
      for (const auto& index : indices) {
        if (std::none_of(factors.begin(), factors.end(), [&](const Expression& other) {
              return &other != &factor && index_notation::has_free(other, index);
            }))
          own.push_back(index);
      }
      if (own.empty()) continue;
      std::erase_if(indices, [&](const std::string& index) { return share({index}, own); });
      factor = sum_over(std::move(own), std::move(factor));
      pushed = true;
    }
    return pushed;
  }

  /// Returns the sum of the products that are left when the factors are distributed over their terms.
  Expression product_of(std::vector<Expression> factors) const {
    std::vector<SumTerm> terms =
        problem::distributed_terms(Expression{Product{std::move(factors)}, {}}, semiring_, max_terms);
    for (SumTerm& term : terms)
      term.value = flat_product(std::move(std::get<Product>(term.value.node).factors));
    return sum_of(terms);
  }

  /// Returns the product of the factors, flat and sorted, inside the sums that were around them.
  Expression flat_product(std::vector<Expression> products) const {
    std::vector<Expression> factors;
    for (auto& factor : products) split(std::move(factor), factors);
    Names summed;
    sort(factors);
    for (auto& factor : factors) {
      for (auto& index : pull_sum(factor, factors, sum_)) summed.push_back(std::move(index));
    }
    Product flat;
    for (auto& factor : factors) flatten(std::move(factor), flat.factors);
    return sum_over(std::move(summed), without_ones(std::move(flat.factors)));
  }

  /// Returns the product of the factors, sorted, without the semiring's one.
  Expression without_ones(std::vector<Expression> factors) const {
    std::erase_if(factors, [&](const Expression& factor) {
      const auto* literal = std::get_if<index_notation::Literal>(&factor.node);
      return literal != nullptr && literal->value == semiring_.one;
    });
    if (factors.empty()) return Expression{index_notation::Literal{semiring_.one}, {}};
    sort(factors);
    return factors.size() == 1 ? std::move(factors.front()) : Expression{Product{std::move(factors)}, {}};
  }

  static void flatten(Expression factor, std::vector<Expression>& out) {
    if (auto* product = std::get_if<Product>(&factor.node)) {
      std::move(product->factors.begin(), product->factors.end(), std::back_inserter(out));
    } else {
      out.push_back(std::move(factor));
    }
  }

  /// Adds a product's factors, and for a sum over a product one sum for each group of factors that its
  /// indices connect. Of several sums over one index only one can be pulled, so the others hold no factor
  /// without it.
  void split(Expression factor, std::vector<Expression>& out) const {
    std::vector<Expression> parts;
    const auto* reduction = std::get_if<Reduction>(&factor.node);
    if (reduction == nullptr || reduction->monoid != sum_) {
      flatten(std::move(factor), parts);
      if (parts.size() == 1) return out.push_back(std::move(parts.front()));
      for (Expression& part : parts) split(std::move(part), out);
      return;
    }
    flatten(reduction->body.front(), parts);
    Names left = reduction->indices;
    while (!left.empty()) {
      Names group{left.back()};
      left.pop_back();
      std::vector<Expression> own = connected(group, left, parts);
      out.push_back(reduced(sum_, std::move(group), without_ones(std::move(own))));
    }
    for (Expression& part : parts) split(std::move(part), out);
  }

  /// Takes the factors that have an index of the group, or share one with those that do; their indices join
  /// the group.
  static std::vector<Expression> connected(Names& group, Names& left, std::vector<Expression>& parts) {
    std::vector<Expression> own;
    for (std::size_t n = 0; n < group.size(); ++n) {
      for (auto part = parts.begin(); part != parts.end();) {
        if (!index_notation::has_free(*part, group[n])) {
          ++part;
          continue;
        }
        std::erase_if(left, [&](const std::string& index) {
          const bool joins = index_notation::has_free(*part, index);
          if (joins) group.push_back(index);
          return joins;
        });
        own.push_back(std::move(*part));
        part = parts.erase(part);
      }
    }
    return own;
  }

  /// Sorts by printed text, which the order of the user's factors has no part in.
  static void sort(std::vector<Expression>& factors) {
    std::stable_sort(factors.begin(), factors.end(), [](const Expression& a, const Expression& b) {
      return index_notation::print(a) < index_notation::print(b);
    });
  }

  const operators::Semiring& semiring_;
  operators::Monoid sum_;
};

}  // namespace

Expression normal_form(const Expression& expression, const problem::Problem& problem) {
  return Normalizer(*problem.semiring).of(expression);
}

}  // namespace schaas::concrete_notation
