#include "compiler/problem/inline_intermediates.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/index_notation/verifier.h"

namespace schaas::problem {
namespace {

using index_notation::Access;
using index_notation::Assignment;
using index_notation::Call;
using index_notation::Expression;
using index_notation::Product;
using index_notation::Reduction;

bool sums(const Expression& expression) {
  if (std::holds_alternative<Reduction>(expression.node)) return true;
  const auto& parts = index_notation::parts(expression);
  return std::any_of(parts.begin(), parts.end(), sums);
}

/// One factor is a sparse argument: what it does not store is zero in the product.
bool is_sparse_product(const Expression& expression, const Problem& problem) {
  const auto* product = std::get_if<Product>(&expression.node);
  if (!product) return false;
  return std::any_of(product->factors.begin(), product->factors.end(), [&](const Expression& factor) {
    const auto* access = std::get_if<Access>(&factor.node);
    if (!access) return false;
    const auto known = problem.formats.find(access->tensor);
    return known != problem.formats.end() && !known->second.all_dense();
  });
}

bool inlinable(const Assignment& definition, const Problem& problem) {
  if (definition.update || sums(definition.value) || !is_sparse_product(definition.value, problem))
    return false;
  const auto free = index_notation::free_indices(definition.value);
  const auto& kept = definition.result.indices;
  return std::all_of(free.begin(), free.end(), [&](const std::string& index) {
    return std::find(kept.begin(), kept.end(), index) != kept.end();
  });
}

/// The definition's value read with other indices.
Expression read_with(const Expression& value, const std::map<std::string, std::string>& indices) {
  if (const auto* access = std::get_if<Access>(&value.node)) {
    Access out{access->tensor, {}};
    for (const auto& index : access->indices) out.indices.push_back(indices.at(index));
    return Expression{std::move(out), {}};
  }
  std::vector<Expression> parts;
  for (const auto& part : index_notation::parts(value)) parts.push_back(read_with(part, indices));
  return index_notation::with_parts(value, std::move(parts));
}

/// `expression` with the definition's value in the place of its target; products stay flat.
Expression inlined(const Expression& expression, const Assignment& definition) {
  if (const auto* access = std::get_if<Access>(&expression.node)) {
    if (access->tensor != definition.result.tensor) return expression;
    std::map<std::string, std::string> indices;
    for (std::size_t mode = 0; mode < access->indices.size(); ++mode)
      indices[definition.result.indices[mode]] = access->indices[mode];
    return read_with(definition.value, indices);
  }
  std::vector<Expression> parts;
  const bool product = std::holds_alternative<Product>(expression.node);
  for (const auto& part : index_notation::parts(expression)) {
    Expression now = inlined(part, definition);
    const auto* inner = std::get_if<Product>(&now.node);
    if (product && inner) {
      parts.insert(parts.end(), inner->factors.begin(), inner->factors.end());
    } else {
      parts.push_back(std::move(now));
    }
  }
  if (product) return Expression{Product{std::move(parts)}, {}};
  return index_notation::with_parts(expression, std::move(parts));
}

Problem without_intermediate(Problem problem, std::size_t number) {
  const auto at = problem.intermediates.begin() + static_cast<std::ptrdiff_t>(number);
  const Assignment definition = *at;
  problem.intermediates.erase(at);
  for (auto& statement : problem.intermediates) statement.value = inlined(statement.value, definition);
  problem.statement.value = inlined(problem.statement.value, definition);
  return problem;
}

}  // namespace

Problem with_sparse_intermediates_inlined(Problem problem) {
  for (std::size_t n = 0; n < problem.intermediates.size();) {
    if (inlinable(problem.intermediates[n], problem)) {
      Problem shorter = without_intermediate(problem, n);
      if (index_notation::verify(shorter.program(), "").ok()) {
        problem = std::move(shorter);
        continue;
      }
    }
    ++n;
  }
  return problem;
}

}  // namespace schaas::problem
