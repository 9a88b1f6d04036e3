#include "compiler/index_notation/gradient/steps.h"

#include <algorithm>
#include <utility>

#include "compiler/index_notation/arithmetic.h"
#include "compiler/index_notation/implied_sums.h"
#include "compiler/index_notation/rename.h"
#include "compiler/support/contains.h"

// Statements as sums of terms, for which differentiation is a rule each. Sums at the top of a statement, and
// those that are factors of a term there, stay in the statement. Every other reduction is computed before,
// once however often it stands in the program.
// The extremum that `max` and `min` find is compared with their arguments later. Those must be the same
// numbers when they are read again, so a computed argument becomes an intermediate.
namespace schaas::index_notation {
namespace {

using operators::Function;
using operators::Monoid;

const Reduction* as_sum(const Expression& value) {
  const auto* reduction = std::get_if<Reduction>(&value.node);
  return reduction != nullptr && reduction->monoid == Monoid::sum ? reduction : nullptr;
}

// True for what is only read, compared and chosen from: recomputed, it is the same number.
bool is_exact(const Expression& value) {
  if (std::holds_alternative<Access>(value.node) || std::holds_alternative<Literal>(value.node) ||
      std::holds_alternative<Coordinate>(value.node))
    return true;
  const auto* called = std::get_if<Call>(&value.node);
  if (called == nullptr) return false;
  const auto function = called->function;
  const bool exact =
      operators::is_truth(function) || function == Function::where || function == Function::negate;
  return exact && std::all_of(called->arguments.begin(), called->arguments.end(), is_exact);
}

// Multiplies without simplifying: an operand that is multiplied by 0 still tells its extents.
Expression flat_product(const std::vector<Expression>& factors) {
  if (factors.size() == 1) return factors.front();
  Product product;
  for (const Expression& factor : factors) {
    const auto* inner = std::get_if<Product>(&factor.node);
    const std::vector<Expression> taken = inner != nullptr ? inner->factors : std::vector{factor};
    product.factors.insert(product.factors.end(), taken.begin(), taken.end());
  }
  return {std::move(product), {}};
}

class Steps {
 public:
  explicit Steps(FreshNames& names) : names_(names) {}

  void take(const Assignment& statement) {
    if (const auto* reduction = std::get_if<Reduction>(&statement.value.node);
        reduction != nullptr && reduction->monoid != Monoid::sum) {
      return take_fold(statement, *reduction);
    }
    Step step{statement, {}};
    const Assignment contraction = with_implied_sums(statement, operators::plus_times());
    if (is_product(contraction.value)) {
      step.terms = {{contraction.value, implied_indices(contraction, contraction.value)}};
    } else {
      const Assignment written = with_explicit_sums(statement, operators::plus_times());
      step.statement.value = terms_of(written.value, statement, 1, step.terms);
    }
    steps_.push_back(std::move(step));
  }

  std::vector<Step> taken() && { return std::move(steps_); }

 private:
  void take_fold(const Assignment& statement, const Reduction& reduction) {
    Expression argument = plain(reduction.body.front());
    const bool compared = reduction.monoid == Monoid::minimum || reduction.monoid == Monoid::maximum;
    if (compared && !is_exact(argument)) argument = kept(argument);
    Reduction fold{reduction.monoid, reduction.indices, {argument}};
    Step step{statement, {{std::move(argument), reduction.indices}}, reduction.monoid};
    step.statement.value = {std::move(fold), {}};
    steps_.push_back(std::move(step));
  }

  // Adds the terms of a value with explicit sums, and returns the value without other reductions.
  Expression terms_of(const Expression& value, const Assignment& statement, double sign,
                      std::vector<SummedTerm>& terms) {
    if (is_additive(value)) {
      std::vector<Expression> changed;
      const bool second_is_negative = std::get<Call>(value.node).function == Function::subtract;
      const bool negative = std::get<Call>(value.node).function == Function::negate;
      for (const Expression& part : parts(value)) {
        const bool minus = negative || (second_is_negative && !changed.empty());
        changed.push_back(terms_of(part, statement, minus ? -sign : sign, terms));
      }
      return with_parts(value, std::move(changed));
    }
    SummedTerm term = term_of(value, statement);
    Expression whole = term.value;
    if (!term.sums.empty()) whole = {Reduction{Monoid::sum, term.sums, {whole}}, {}};
    term.value = multiplied({number(sign), term.value});
    terms.push_back(std::move(term));
    return whole;
  }

  // Takes sums that are factors out: a(i) * sum(j)(b(i,j)) is sum(j)(a(i) * b(i,j)).
  SummedTerm term_of(const Expression& value, const Assignment& statement) {
    SummedTerm term{value, {}};
    if (const Reduction* sum = as_sum(value)) {
      term = term_of(sum->body.front(), statement);
      term.sums.insert(term.sums.begin(), sum->indices.begin(), sum->indices.end());
      return term;
    }
    const auto* product = std::get_if<Product>(&value.node);
    if (product == nullptr) return {plain(value), {}};
    std::vector<std::string> outside = statement.result.indices;
    for (const auto& index : free_indices(value)) outside.push_back(index);
    std::vector<Expression> factors;
    for (const Expression& factor : product->factors) {
      const Reduction* sum = as_sum(factor);
      if (sum == nullptr || is_additive(sum->body.front())) {
        factors.push_back(plain(factor));
        continue;
      }
      Renaming apart;
      for (const auto& index : sum->indices) {
        const bool clashes = support::contains(outside, index);
        apart.indices[index] = clashes ? names_.fresh(index) : index;
        term.sums.push_back(apart.indices[index]);
        outside.push_back(apart.indices[index]);
      }
      SummedTerm inner = term_of(renamed(sum->body.front(), apart), statement);
      factors.push_back(std::move(inner.value));
      term.sums.insert(term.sums.end(), inner.sums.begin(), inner.sums.end());
      outside.insert(outside.end(), inner.sums.begin(), inner.sums.end());
    }
    term.value = flat_product(factors);
    return term;
  }

  Expression plain(const Expression& value) {
    if (std::holds_alternative<Reduction>(value.node)) return kept(value);
    std::vector<Expression> changed;
    for (const Expression& part : parts(value)) changed.push_back(plain(part));
    return with_parts(value, std::move(changed));
  }

  // Returns the access to an intermediate that holds a value.
  Expression kept(const Expression& value) {
    for (const auto& [known, access] : kept_) {
      if (known == value) return {access, {}};
    }
    Access access{names_.fresh("T"), free_indices(value), {}, {}};
    kept_.emplace_back(value, access);
    take({access, value});
    return {access, {}};
  }

  FreshNames& names_;
  std::vector<Step> steps_;
  std::vector<std::pair<Expression, Access>> kept_;
};

// Returns `Y(i) max= e` as `Y_2(i) = max(Y(i), e)`.
Assignment without_update(const Assignment& statement, FreshNames& names) {
  if (!statement.update) return statement;
  Assignment out = statement;
  out.update.reset();
  out.result.tensor = names.fresh(statement.result.tensor);
  const Expression former{statement.result, {}};
  switch (*statement.update) {
    case Monoid::sum:
      out.value = added({former, statement.value});
      break;
    case Monoid::product:
      out.value = multiplied({former, statement.value});
      break;
    default:
      out.value = call(operators::combine(*statement.update), {former, statement.value});
  }
  return out;
}

}  // namespace

std::vector<Step> steps_of(const Program& program, FreshNames& names) {
  Steps steps(names);
  for (const Assignment& statement : program.statements) steps.take(without_update(statement, names));
  return std::move(steps).taken();
}

}  // namespace schaas::index_notation
