#include "compiler/index_notation/implied_sums.h"

#include <algorithm>
#include <utility>

#include "compiler/index_notation/arithmetic.h"
#include "compiler/support/limits.h"

// Einstein's convention for expressions: each additive term is summed, as a whole, over its own free indices
// that are not on the left. Unary minus and both sides of `-` are additive, because the sum passes through
// them. A function, a quotient or a reduction is a term of its own. doubtful_sum finds terms in which the
// convention and the reader may differ. A sum passes into an operation that is linear in the one part with
// the index: a factor, a numerator, or another sum. It passes into a sum whose parts all have the index.
// Inside a function it cannot pass, and there a product of two factors with the index looks like an inner
// contraction. with_implied_sums is the inverse for plain products, so that a contraction has one form
// however it is written.
namespace schaas::index_notation {
namespace {

using operators::Function;
using operators::Monoid;
using Doubt = DoubtfulSum::Kind;

bool is_call_of(const Expression& expression, std::initializer_list<Function> functions) {
  const auto* call = std::get_if<Call>(&expression.node);
  return call != nullptr && std::find(functions.begin(), functions.end(), call->function) != functions.end();
}

// Adds the additive terms of an expression, signs left out: they do not change which indices a term has.
void collect(const Expression& value, std::vector<Expression>& out) {
  if (!is_additive(value)) {
    out.push_back(value);
    return;
  }
  for (const auto& part : parts(value)) collect(part, out);
}

template <class Change>
Expression rebuilt(const Expression& expression, Change&& change) {
  std::vector<Expression> changed;
  for (const auto& part : parts(expression)) changed.push_back(change(part));
  return with_parts(expression, std::move(changed));
}

// Writes the sum around each additive term; additive operations themselves stay.
Expression with_sums(const Expression& value, const Assignment& statement, operators::Monoid sum) {
  if (is_additive(value)) {
    return rebuilt(value, [&](const Expression& part) { return with_sums(part, statement, sum); });
  }
  std::vector<std::string> indices = implied_indices(statement, value);
  if (indices.empty()) return value;
  return Expression{Reduction{sum, std::move(indices), {value}}, value.range};
}

// Replaces `add` by the semiring's sum, at any depth.
Expression adding_by(Function function, const Expression& value) {
  Expression out = rebuilt(value, [&](const Expression& part) { return adding_by(function, part); });
  if (auto* call = std::get_if<Call>(&out.node); call != nullptr && call->function == Function::add)
    call->function = function;
  return out;
}

// Collects the factors of nested sums and products, and the indices of the sums; false when there is anything
// else.
bool take_factors(const Expression& value, operators::Monoid sum, std::vector<std::string>& reduced,
                  std::vector<Access>& factors) {
  if (const auto* access = std::get_if<Access>(&value.node)) {
    factors.push_back(*access);
    return true;
  }
  const auto* reduction = std::get_if<Reduction>(&value.node);
  if (!std::holds_alternative<Product>(value.node) && (reduction == nullptr || reduction->monoid != sum))
    return false;
  for (const auto& part : parts(value)) {
    if (!take_factors(part, sum, reduced, factors)) return false;
  }
  if (reduction != nullptr)
    reduced.insert(reduced.end(), reduction->indices.begin(), reduction->indices.end());
  return true;
}

// Returns the number of parts in which the index is free.
std::size_t parts_with(const Expression& expression, const std::string& index) {
  const auto& all = parts(expression);
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [&](const Expression& part) { return has_free(part, index); }));
}

std::optional<DoubtfulSum> doubtful(const Expression& part, const std::string& index, bool in_call,
                                    Monoid sum);

std::optional<DoubtfulSum> doubtful_part(const Expression& whole, const std::string& index, bool in_call,
                                         Monoid sum) {
  for (const auto& part : parts(whole)) {
    if (auto found = doubtful(part, index, in_call, sum)) return found;
  }
  return std::nullopt;
}

// Sums move through what distributes over them as long as a single part has the index; where they get stuck,
// a reader may have meant them further in.
std::optional<DoubtfulSum> doubtful(const Expression& part, const std::string& index, bool in_call,
                                    Monoid sum) {
  if (!has_free(part, index) || std::holds_alternative<Access>(part.node)) return std::nullopt;
  if (const auto* reduction = std::get_if<Reduction>(&part.node)) {
    // Sums may be exchanged.
    if (reduction->monoid == sum && !in_call) return doubtful_part(part, index, in_call, sum);
    return DoubtfulSum{Doubt::reduced, index, part};
  }
  const bool several = parts_with(part, index) >= 2;
  if (std::holds_alternative<Product>(part.node)) {
    // Two factors with the index are a contraction, which is usual at the top of a term.
    if (several && in_call) return DoubtfulSum{Doubt::in_a_call, index, part};
    return several ? std::nullopt : doubtful_part(part, index, in_call, sum);
  }
  if (is_additive(part)) {
    for (const auto& inner : parts(part)) {
      if (!in_call && !has_free(inner, index)) return DoubtfulSum{Doubt::left_out, index, inner};
    }
    return doubtful_part(part, index, in_call, sum);
  }
  if (is_call_of(part, {Function::divide})) {
    if (several) return std::nullopt;
    // A quotient is linear in its numerator alone.
    return doubtful_part(part, index, in_call || has_free(parts(part)[1], index), sum);
  }
  // A condition selects terms by the index, so the sum can only be meant around it.
  if (is_call_of(part, {Function::where}) && has_free(parts(part)[0], index)) return std::nullopt;
  return doubtful_part(part, index, true, sum);
}

}  // namespace

std::vector<Expression> additive_terms(const Expression& value) {
  std::vector<Expression> out;
  collect(value, out);
  return out;
}

// Indices of reductions inside the term are bound there and not free in it.
std::vector<std::string> implied_indices(const Assignment& statement, const Expression& term) {
  std::vector<std::string> out;
  const auto& left = statement.result.indices;
  for (auto& index : free_indices(term)) {
    if (std::find(left.begin(), left.end(), index) == left.end()) out.push_back(std::move(index));
  }
  return out;
}

Assignment with_explicit_sums(const Assignment& statement, const operators::Semiring& semiring) {
  if (is_product(statement.value)) return statement;
  Assignment out = statement;
  out.value =
      adding_by(operators::combine(semiring.sum), with_sums(statement.value, statement, semiring.sum));
  return out;
}

Assignment with_implied_sums(const Assignment& statement, const operators::Semiring& semiring) {
  if (statement.update && statement.update != semiring.sum) return statement;
  std::vector<std::string> reduced;
  std::vector<Access> factors;
  if (!take_factors(statement.value, semiring.sum, reduced, factors)) return statement;
  if (reduced.empty() || factors.size() > support::Limits::factors) return statement;
  // Each index is summed by one reduction or by none, and by that alone.
  const auto free = free_indices(statement.value);
  std::sort(reduced.begin(), reduced.end());
  const bool twice = std::adjacent_find(reduced.begin(), reduced.end()) != reduced.end();
  const bool outside = std::any_of(free.begin(), free.end(), [&](const std::string& index) {
    return std::binary_search(reduced.begin(), reduced.end(), index);
  });
  if (twice || outside) return statement;
  Assignment out = statement;
  out.value = product_of(std::move(factors));
  out.value.range = statement.value.range;
  return out;
}

std::optional<DoubtfulSum> doubtful_sum(const Assignment& statement, const operators::Semiring& semiring) {
  for (const auto& term : additive_terms(statement.value)) {
    for (const auto& index : implied_indices(statement, term)) {
      if (auto found = doubtful(term, index, false, semiring.sum)) return found;
    }
  }
  return std::nullopt;
}

}  // namespace schaas::index_notation
