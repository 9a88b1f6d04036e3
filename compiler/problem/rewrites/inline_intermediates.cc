#include "compiler/problem/rewrites/inline_intermediates.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compiler/index_notation/costly_calls.h"
#include "compiler/index_notation/implied_sums.h"
#include "compiler/index_notation/verifier.h"
#include "compiler/problem/copies.h"
#include "compiler/problem/masks.h"
#include "compiler/problem/sparse_factors.h"
#include "compiler/support/contains.h"

// Rewrites of programs that remove intermediates, in this order: costly factors with several readers are
// split off first, since inlining would repeat them; then sums of sparse operands read at several elements;
// then products that merge into one reader, products with a sparse factor, and sums read at entries alone. A
// rewrite stays only if the verifier accepts the program, since inlining may exceed its limits. Rejected:
// merging a product once for each read of `T(i,k) * T(k,l)`. Each read would sum over indices that the user's
// statement does not have, and no client could tell their sizes.
namespace schaas::problem {
namespace {

using index_notation::Access;
using index_notation::Assignment;
using index_notation::Call;
using index_notation::Expression;
using index_notation::Product;
using operators::Function;

bool reads(const Expression& expression, const std::string& tensor) {
  const auto operands = index_notation::operands(expression);
  return std::any_of(operands.begin(), operands.end(),
                     [&](const Access& operand) { return operand.tensor == tensor; });
}

/// Returns the number of statements that read the tensor.
std::ptrdiff_t readers_of(const std::string& tensor, const Problem& problem) {
  const auto statements = problem.statements();
  return std::count_if(statements.begin(), statements.end(),
                       [&](const Assignment& statement) { return reads(statement.value, tensor); });
}

/// The definition sums nothing and is zero where a sparse operand stores nothing. A costly function of one
/// element stays.
bool inlinable(const Assignment& definition, const Problem& problem) {
  if (definition.update || sums(definition) || sparse_factors(definition.value, problem).empty())
    return false;
  return !element_of(definition.value) || index_notation::costly_calls(definition.value).empty();
}

/// The mask has every index of the read.
bool covers(const Access& mask, const Access& read) {
  return std::all_of(read.indices.begin(), read.indices.end(), [&](const std::string& index) {
    return std::find(mask.indices.begin(), mask.indices.end(), index) != mask.indices.end();
  });
}

/// The expression is zero, wherever it reads the tensor, except at the entries of a sparse argument with all
/// of the indices of the read. `masks`: those of the products around.
bool reads_at_entries(const Expression& expression, const std::string& tensor, const Problem& problem,
                      std::vector<Access> masks = {}) {
  if (const auto* access = std::get_if<Access>(&expression.node)) {
    return access->tensor != tensor ||
           std::any_of(masks.begin(), masks.end(), [&](const Access& mask) { return covers(mask, *access); });
  }
  const auto more = sparse_factors(expression, problem);
  masks.insert(masks.end(), more.begin(), more.end());
  const auto& parts = index_notation::parts(expression);
  return std::all_of(parts.begin(), parts.end(),
                     [&](const Expression& part) { return reads_at_entries(part, tensor, problem, masks); });
}

/// The intermediate is a sum that several statements read, only at the entries of something sparse. Fused
/// with one reader it would be missing in the other; computing all of it costs more than these entries once
/// per reader.
bool worth_repeating(const Assignment& definition, const Problem& problem) {
  const std::string& tensor = definition.result.tensor;
  if (definition.update) return false;
  for (const MaskRequest& mask : possible_masks(problem)) {
    if (mask.tensor == tensor) return false;  // computed once for all of them
  }
  const auto statements = problem.statements();
  return readers_of(tensor, problem) > 1 &&
         std::all_of(statements.begin(), statements.end(), [&](const Assignment& statement) {
           return reads_at_entries(statement.value, tensor, problem);
         });
}

/// Returns the definition's value read with other indices; summed ones keep their names.
Expression read_with(const Expression& value, const std::map<std::string, std::string>& indices) {
  if (const auto* access = std::get_if<Access>(&value.node)) {
    Access out{access->tensor, {}};
    for (const auto& index : access->indices) {
      const auto renamed = indices.find(index);
      out.indices.push_back(renamed == indices.end() ? index : renamed->second);
    }
    return Expression{std::move(out), {}};
  }
  if (const auto* coordinate = std::get_if<index_notation::Coordinate>(&value.node)) {
    const auto renamed = indices.find(coordinate->index);
    return renamed == indices.end() ? value
                                    : Expression{index_notation::Coordinate{renamed->second}, value.range};
  }
  std::vector<Expression> parts;
  for (const auto& part : index_notation::parts(value)) parts.push_back(read_with(part, indices));
  return index_notation::with_parts(value, std::move(parts));
}

/// Replaces the definition's target by its value; products stay flat.
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

/// Returns the only read of the tensor when it is a factor of the product that the expression is, or all of
/// it.
const Access* factor_of(const Expression& expression, const std::string& tensor) {
  const auto operands = index_notation::operands(expression);
  const auto is_it = [&](const Access& operand) { return operand.tensor == tensor; };
  if (std::count_if(operands.begin(), operands.end(), is_it) != 1) return nullptr;
  if (const auto* access = std::get_if<Access>(&expression.node)) return access;
  const auto* product = std::get_if<Product>(&expression.node);
  if (product == nullptr) return nullptr;
  for (const Expression& factor : product->factors) {
    const auto* access = std::get_if<Access>(&factor.node);
    if (access != nullptr && is_it(*access)) return access;
  }
  return nullptr;
}

/// Every index of the tensor belongs to a sparse operand of the product that defines it.
bool is_product_of_sparse(const Assignment& definition, const Problem& problem) {
  if (definition.update || !index_notation::is_product(definition.value)) return false;
  const auto operands = index_notation::operands(definition.value);
  const auto is_sparse_index = [&](const std::string& index) {
    return std::any_of(operands.begin(), operands.end(), [&](const Access& operand) {
      const auto known = problem.formats.find(operand.tensor);
      return known != problem.formats.end() && !known->second.all_dense() &&
             support::contains(operand.indices, index);
    });
  };
  const auto& indices = definition.result.indices;
  return std::all_of(indices.begin(), indices.end(), is_sparse_index);
}

/// The intermediate is a matrix, or more, that a product of sparse operands makes, and one product reads it
/// once. They are one product, whose schedules need no array of all its elements.
bool merges_into_reader(const Assignment& definition, const Problem& problem) {
  const auto& indices = definition.result.indices;
  if (indices.size() < 2 || !is_product_of_sparse(definition, problem)) return false;
  if (readers_of(definition.result.tensor, problem) != 1) return false;
  for (const Assignment& reader : problem.statements()) {
    if (!reads(reader.value, definition.result.tensor)) continue;
    const Access* read = factor_of(reader.value, definition.result.tensor);
    if (read == nullptr) return false;
    const std::set<std::string> distinct(read->indices.begin(), read->indices.end());
    const auto known = index_notation::index_variables({reader.result, reader.value});
    const auto own = index_notation::index_variables({definition.result, definition.value});
    return distinct.size() == read->indices.size() &&
           std::none_of(own.begin(), own.end(), [&](const std::string& index) {
             return !support::contains(indices, index) && support::contains(known, index);
           });
  }
  return false;
}

/// A sum of terms, nothing summed, each of which is zero where a sparse operand with all indices of the
/// intermediate stores nothing.
bool is_sum_of_sparse(const Assignment& definition, const Problem& problem) {
  if (definition.update || sums(definition)) return false;
  const auto terms = index_notation::additive_terms(definition.value);
  return std::all_of(terms.begin(), terms.end(), [&](const Expression& term) {
    const auto factors = sparse_factors(term, problem);
    return std::any_of(factors.begin(), factors.end(),
                       [&](const Access& factor) { return covers(factor, definition.result); });
  });
}

/// Some mode is read with the same index by both, so that a loop over it can compute the intermediate in
/// parts.
bool share_a_mode(const Access& a, const Access& b) {
  for (std::size_t mode = 0; mode < a.indices.size(); ++mode)
    if (a.indices[mode] == b.indices[mode]) return true;
  return false;
}

bool appends(const Assignment& statement, const Problem& problem) {
  const auto known = problem.formats.find(statement.result.tensor);
  return known != problem.formats.end() && !known->second.all_dense();
}

/// The intermediate is a matrix, or more, that sums sparse operands. The statement reads it several times, at
/// elements that no loop has in common. Nothing but a dense array of all its elements would serve all reads.
bool is_read_at_other_elements(const Assignment& definition, const Assignment& reader,
                               const Problem& problem) {
  if (definition.result.indices.size() < 2 || !is_sum_of_sparse(definition, problem)) return false;
  const auto reads = reads_of(definition.result.tensor, reader.value);
  for (std::size_t n = 0; n < reads.size(); ++n)
    for (std::size_t m = 0; m < n; ++m)
      if (share_a_mode(reads[n], reads[m])) return false;
  return reads.size() > 1;
}

}  // namespace

std::vector<Access> reads_of(const std::string& tensor, const Expression& expression) {
  auto reads = index_notation::operands(expression);
  std::erase_if(reads, [&](const Access& read) { return read.tensor != tensor; });
  return reads;
}

const Assignment* only_reader(const std::string& tensor, const Problem& problem) {
  if (readers_of(tensor, problem) != 1) return nullptr;
  const auto found =
      std::find_if(problem.intermediates.begin(), problem.intermediates.end(),
                   [&](const Assignment& statement) { return reads(statement.value, tensor); });
  return found == problem.intermediates.end() ? &problem.statement : &*found;
}

Problem without_intermediate(Problem problem, std::size_t number, bool by_sum) {
  const auto at = problem.intermediates.begin() + static_cast<std::ptrdiff_t>(number);
  Assignment definition = *at;
  if (by_sum && sums(definition)) definition.value = explicit_value(definition, problem);
  problem.intermediates.erase(at);
  for (auto& statement : problem.intermediates) statement.value = inlined(statement.value, definition);
  problem.statement.value = inlined(problem.statement.value, definition);
  return problem;
}

namespace {

/// Inlines a sum of sparse operands that the statement of a sparse result reads at several elements. Products
/// stay: each read would need indices of its own to sum over, which no statement of the request has.
std::optional<Problem> with_all_reads_inlined(const Problem& problem, std::size_t number) {
  const Assignment& definition = problem.intermediates[number];
  const Assignment* reader = only_reader(definition.result.tensor, problem);
  if (reader == nullptr || !appends(*reader, problem)) return std::nullopt;
  if (!is_read_at_other_elements(definition, *reader, problem)) return std::nullopt;
  Problem inlined = without_intermediate(problem, number, false);
  if (!index_notation::verify(inlined.program(), "").ok()) return std::nullopt;
  return inlined;
}

/// A value that is zero where a sparse operand stores nothing, in two parts.
struct Split {
  Expression costly;  ///< without sparse factors
  Expression rest;    ///< reads the costly part by its name
};

/// Splits the dense factors off a product.
std::optional<Split> split_product(const Product& product, const Expression& name, const Problem& problem) {
  Product costly, rest;
  for (const Expression& factor : product.factors)
    (sparse_factors(factor, problem).empty() ? costly : rest).factors.push_back(factor);
  if (costly.factors.empty()) return std::nullopt;
  rest.factors.push_back(name);
  Expression one = costly.factors.size() == 1 ? costly.factors.front() : Expression{std::move(costly), {}};
  return Split{std::move(one), Expression{std::move(rest), {}}};
}

bool is_cheap(const Expression& expression) { return index_notation::costly_calls(expression).empty(); }

bool has_quotient(const Expression& expression) {
  const auto* call = std::get_if<Call>(&expression.node);
  const auto& parts = index_notation::parts(expression);
  return (call != nullptr && call->function == Function::divide) ||
         std::any_of(parts.begin(), parts.end(), has_quotient);
}

/// Splits dense factors off, also of a dividend, or what a sparse condition chooses. A function of one sparse
/// element is chosen where the element is not zero.
std::optional<Split> split(const Expression& value, const Expression& name, const Problem& problem) {
  if (const auto* product = std::get_if<Product>(&value.node)) return split_product(*product, name, problem);
  const auto* call = std::get_if<Call>(&value.node);
  if (call == nullptr) return std::nullopt;
  Call rest = *call;
  if (call->function == Function::divide && is_cheap(call->arguments[1])) {
    auto dividend = split(call->arguments[0], name, problem);
    if (!dividend) return std::nullopt;
    rest.arguments[0] = std::move(dividend->rest);
    return Split{std::move(dividend->costly), Expression{std::move(rest), {}}};
  }
  const bool chooses = call->function == Function::where && is_cheap(call->arguments[0]);
  if (chooses && sparse_factors(call->arguments[1], problem).empty()) {
    rest.arguments[1] = name;
    return Split{call->arguments[1], Expression{std::move(rest), {}}};
  }
  const auto element = element_of(value);
  if (!element || problem.semiring->zero != 0 || has_quotient(value)) return std::nullopt;
  const Expression zero{index_notation::Literal{0}, {}};
  const Expression stored{Call{Function::not_equal, {Expression{*element, {}}, zero}}, {}};
  return Split{value, Expression{Call{Function::where, {stored, name, zero}}, {}}};
}

/// Splits a definition that is zero where a sparse operand is and that several statements read. Each of them
/// would compute its costly calls and sums again. Returns the definition of these, and that of the rest,
/// which reads it. An entry of a sparse factor must decide which elements are read.
std::optional<std::pair<Assignment, Assignment>> costly_part(const Assignment& definition,
                                                             const Problem& problem) {
  if (definition.update || readers_of(definition.result.tensor, problem) < 2) return std::nullopt;
  const auto factors = sparse_factors(definition.value, problem);
  const bool masked = std::any_of(factors.begin(), factors.end(), [&](const Access& access) {
    return covers(access, definition.result) && covers(definition.result, access);
  });
  if (!masked) return std::nullopt;
  Assignment part = definition, whole = definition;
  part.result.tensor = free_name(definition.result.tensor + "_value", problem);
  const Expression name{part.result, {}};
  auto both = split(definition.value, name, problem);
  if (!both) return std::nullopt;
  part.value = std::move(both->costly);
  whole.value = std::move(both->rest);
  // Sums stay inside the part.
  const auto indices = index_notation::free_indices(part.value);
  const auto& kept = part.result.indices;
  if (!std::is_permutation(indices.begin(), indices.end(), kept.begin(), kept.end()) || sums(whole) ||
      (is_cheap(part.value) && !sums(part)))
    return std::nullopt;
  return std::pair{std::move(part), std::move(whole)};
}

}  // namespace

Problem with_sparse_intermediates_inlined(Problem problem) {
  for (std::size_t n = 0; n < problem.intermediates.size(); ++n) {
    auto parts = costly_part(problem.intermediates[n], problem);
    if (!parts) continue;
    Problem longer = problem;
    longer.intermediates[n] = std::move(parts->second);
    longer.intermediates.insert(longer.intermediates.begin() + static_cast<std::ptrdiff_t>(n),
                                std::move(parts->first));
    // The part is number n now, and its definition n + 1.
    if (index_notation::verify(longer.program(), "").ok()) problem = std::move(longer), ++n;
  }
  for (std::size_t n = 0; n < problem.intermediates.size();) {
    auto shorter = with_all_reads_inlined(problem, n);
    if (shorter)
      problem = *std::move(shorter);
    else
      ++n;
  }
  // An inlined intermediate leaves its number to the next one.
  for (const auto& wanted : {merges_into_reader, inlinable, worth_repeating}) {
    for (std::size_t n = 0; n < problem.intermediates.size();) {
      if (wanted(problem.intermediates[n], problem)) {
        Problem shorter = without_intermediate(problem, n, wanted != merges_into_reader);
        if (index_notation::verify(shorter.program(), "").ok()) {
          problem = std::move(shorter);
          continue;
        }
      }
      ++n;
    }
  }
  return problem;
}

}  // namespace schaas::problem
