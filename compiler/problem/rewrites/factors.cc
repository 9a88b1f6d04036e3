#include "compiler/problem/rewrites/factors.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/index_notation/arithmetic.h"
#include "compiler/index_notation/costly_calls.h"
#include "compiler/problem/linear_form.h"
#include "compiler/problem/sparse_factors.h"
#include "compiler/support/contains.h"
#include "compiler/support/limits.h"

// Products taken apart into a number and functions of elements. Multiplication distributes over the
// semiring's sum whatever its factors are. So a sum of one product has the schedules of the contraction of
// the elements that its factors read. Signs and divisions are taken apart under plus-times alone. A function
// may stand for a sparse element only if it is zero where nothing is stored. A dense divisor is computed with
// an element that has its indices, a sparse one first, so that nothing is divided where nothing is stored. So
// is a factor that coordinates of indices decide alone, `i <= j`.
namespace schaas::problem {
namespace {

using index_notation::Access;
using index_notation::Call;
using index_notation::Expression;
using index_notation::Literal;
using index_notation::Product;
using index_notation::Reduction;
using operators::Function;

bool is_dense(const Access& access, const Problem& problem) {
  const auto format = problem.formats.find(access.tensor);
  return format != problem.formats.end() && format->second.all_dense();
}

/// A function of one element that may be a factor: zero where a sparse element is not stored.
bool is_factor(const Expression& expression, const Problem& problem) {
  if (std::holds_alternative<Access>(expression.node)) return true;
  if (!index_notation::costly_calls(expression).empty()) return false;
  const auto element = element_of(expression);
  return element && (is_dense(*element, problem) ||
                     value_at_zero(expression, *problem.semiring) == problem.semiring->zero);
}

/// A number that the coordinates of indices decide alone, which takes no long.
bool is_positional(const Expression& expression) {
  return index_notation::operands(expression).empty() && !index_notation::coordinates(expression).empty() &&
         index_notation::free_indices(expression) == index_notation::coordinates(expression) &&
         index_notation::costly_calls(expression).empty();
}

/// Takes a product apart.
class Apart {
 public:
  explicit Apart(const Problem& problem)
      : problem_(problem), arithmetic_(problem.semiring == &operators::plus_times()) {}

  /// Returns false when there is something else than numbers, factors and sums of products.
  bool take(const Expression& expression) {
    if (const auto* literal = std::get_if<Literal>(&expression.node)) return scale(literal->value);
    if (is_positional(expression)) {
      factors_.push_back(expression);
      return true;
    }
    if (const auto* reduction = std::get_if<Reduction>(&expression.node)) {
      summed_.insert(summed_.end(), reduction->indices.begin(), reduction->indices.end());
      return reduction->monoid == problem_.semiring->sum && take(reduction->body.front());
    }
    if (const auto* product = std::get_if<Product>(&expression.node)) return take_all(product->factors);
    const auto* call = std::get_if<Call>(&expression.node);
    if (arithmetic_ && call != nullptr && call->function == Function::negate)
      return scale(-1) && take(call->arguments.front());
    if (arithmetic_ && call != nullptr && call->function == Function::divide)
      return take(call->arguments[0]) && divide(call->arguments[1]);
    if (!is_factor(expression, problem_)) return false;
    factors_.push_back(expression);
    return true;
  }

  /// Collects the indices that sums name, each once and nowhere outside of its sum; nothing when one is not.
  bool sums_agree(const Expression& value) const {
    const std::set<std::string> once(summed_.begin(), summed_.end());
    return once.size() == summed_.size() &&
           std::none_of(once.begin(), once.end(),
                        [&](const std::string& index) { return index_notation::has_free(value, index); });
  }

  Expression product() const {
    std::vector<Expression> all = factors_;
    if (scale_ != problem_.semiring->one) all.insert(all.begin(), Expression{Literal{scale_}, {}});
    if (all.size() == 1) return std::move(all.front());
    return Expression{Product{std::move(all)}, {}};
  }
  bool empty() const { return factors_.empty(); }
  /// Returns all indices that are summed, those of sums that were taken apart last.
  std::vector<std::string> all_summed(const Access& result) const {
    std::vector<std::string> out = index_notation::free_indices(product());
    std::erase_if(out, [&](const std::string& index) {
      return support::contains(result.indices, index) || support::contains(summed_, index);
    });
    out.insert(out.end(), summed_.begin(), summed_.end());
    return out;
  }
  /// Returns the indices of sums that were taken apart.
  const std::vector<std::string>& summed() const { return summed_; }

 private:
  bool take_all(const std::vector<Expression>& factors) {
    return std::all_of(factors.begin(), factors.end(), [&](const Expression& each) { return take(each); });
  }

  /// Multiplies the one number in front of the product.
  bool scale(double by) {
    scale_ = operators::evaluate(problem_.semiring->product, {scale_, by});
    return true;
  }

  /// Divides by a number, by a product or quotient, or by a dense element; false for anything else.
  bool divide(const Expression& divisor) {
    if (const auto* literal = std::get_if<Literal>(&divisor.node))
      return literal->value != 0 && scale(1 / literal->value);
    if (const auto* product = std::get_if<Product>(&divisor.node)) {
      return std::all_of(product->factors.begin(), product->factors.end(),
                         [&](const Expression& each) { return divide(each); });
    }
    const auto* call = std::get_if<Call>(&divisor.node);
    if (call != nullptr && call->function == Function::negate)
      return scale(-1) && divide(call->arguments.front());
    if (call != nullptr && call->function == Function::divide)
      return divide(call->arguments[0]) && take(call->arguments[1]);
    if (is_positional(divisor)) {
      factors_.push_back(index_notation::call(Function::divide, {Expression{Literal{1}, {}}, divisor}));
      return true;
    }
    const auto element = element_of(divisor);
    if (!element || !is_dense(*element, problem_) || !is_factor(divisor, problem_)) return false;
    factors_.push_back(index_notation::call(Function::divide, {Expression{Literal{1}, {}}, divisor}));
    return true;
  }

  const Problem& problem_;
  bool arithmetic_;
  double scale_ = problem_.semiring->one;
  std::vector<Expression> factors_;
  std::vector<std::string> summed_;
};

/// Adds the factor for an element, made of all factors of it when one of these is a function.
void add_factor(const Expression& factor, const Access& element, std::vector<Access>& elements,
                std::vector<ElementFunction>& functions) {
  const auto known = std::find_if(functions.begin(), functions.end(),
                                  [&](const ElementFunction& each) { return each.element == element; });
  const bool plain = std::holds_alternative<Access>(factor.node);
  const auto same = std::find(elements.begin(), elements.end(), element);
  if (known == functions.end() && (plain || same == elements.end())) {
    elements.push_back(element);
    if (!plain) functions.push_back({element, factor});
    return;
  }
  Product all;
  if (known != functions.end()) {
    all.factors = {known->value, factor};
    known->value = Expression{std::move(all), {}};
    return;
  }
  for (const Access& each : elements) {
    if (each == element) all.factors.push_back(Expression{each, {}});
  }
  elements.erase(std::remove(std::next(same), elements.end(), element), elements.end());
  all.factors.push_back(factor);
  functions.push_back({element, Expression{std::move(all), {}}});
}

/// Returns the element beside which a dense divisor, or a positional factor, can stand. It is a sparse one
/// when there is any, so that nothing is divided where nothing is stored.
const Access* host_of(const Expression& factor, const std::vector<Access>& elements, const Problem& problem) {
  const auto indices = index_notation::free_indices(factor);
  const Access* host = nullptr;
  for (const Access& element : elements) {
    const bool has_all = std::all_of(indices.begin(), indices.end(), [&](const std::string& index) {
      return std::find(element.indices.begin(), element.indices.end(), index) != element.indices.end();
    });
    if (!has_all || (host != nullptr && is_dense(element, problem))) continue;
    if (host == nullptr || is_dense(*host, problem)) host = &element;
  }
  return host;
}

bool divides(const Expression& factor) {
  const auto* call = std::get_if<Call>(&factor.node);
  return call != nullptr && call->function == Function::divide;
}

/// Drops constraints on tensors that the statement does not read.
void drop_foreign_constraints(Problem& problem) {
  const auto tensors = problem.tensors();
  const auto foreign = [&](const std::vector<Monomial>& side) {
    return std::any_of(side.begin(), side.end(), [&](const Monomial& term) {
      return std::any_of(term.powers.begin(), term.powers.end(), [&](const auto& power) {
        return power.first.kind == Symbol::Kind::nonzeros &&
               std::find(tensors.begin(), tensors.end(), power.first.name) == tensors.end();
      });
    });
  };
  std::erase_if(problem.constraints,
                [&](const Constraint& each) { return foreign(each.lhs) || foreign(each.rhs); });
}

/// Drops copies that the statement does not read: those of divisors, which stand beside other elements.
void drop_foreign_copies(Problem& problem) {
  const auto reads = problem.reads();
  std::erase_if(problem.copies, [&](const Copy& copy) {
    const bool is_read = std::any_of(reads.begin(), reads.end(),
                                     [&](const Access& access) { return access.tensor == copy.name; });
    if (!is_read) problem.formats.erase(copy.name);
    return !is_read;
  });
}

/// Some free index of the value is none of the result's.
bool sums_factors(const Problem& problem) {
  const auto& kept = problem.statement.result.indices;
  const auto free = index_notation::free_indices(problem.statement.value);
  return std::any_of(free.begin(), free.end(), [&](const std::string& index) {
    return std::find(kept.begin(), kept.end(), index) == kept.end();
  });
}

}  // namespace

Problem with_factors_apart(Problem problem) {
  const auto& statement = problem.statement;
  if (!problem.intermediates.empty() || index_notation::is_product(statement.value)) return problem;
  Apart apart(problem);
  if (!apart.take(statement.value) || apart.empty() || !apart.sums_agree(statement.value)) return problem;
  Problem out = problem;
  out.statement.value = apart.product();
  out.statement.value.range = statement.value.range;
  // Loops over coordinates of an equation stand in any order: one of them visits a single value.
  if (!apart.summed().empty() && has_equation(out.statement.value, *problem.semiring)) {
    out.statement.value = Expression{
        Reduction{problem.semiring->sum, apart.all_summed(statement.result), {out.statement.value}},
        statement.value.range};
    return out;
  }
  if (!apart.summed().empty() && problem.formats.at(statement.result.tensor).all_dense()) return problem;
  return is_contraction(out) || factors_of(out) ? out : problem;
}

std::optional<Factors> factors_of(const Problem& problem) {
  const Expression& value = problem.statement.value;
  if (!problem.intermediates.empty() || index_notation::is_product(value)) return std::nullopt;
  const std::vector<Expression> alone = {value};
  const auto* product = std::get_if<Product>(&value.node);
  Factors out;
  std::vector<Access> elements;
  std::vector<Expression> hosted;
  for (const Expression& factor : product == nullptr ? alone : product->factors) {
    const auto* literal = std::get_if<Literal>(&factor.node);
    // with_factors_apart leaves one number at most.
    if (literal != nullptr && out.scale) return std::nullopt;
    if (literal != nullptr) {
      out.scale = literal->value;
    } else if (is_positional(factor)) {
      hosted.push_back(factor);
    } else if (!is_factor(factor, problem)) {
      return std::nullopt;
    } else if (divides(factor) && is_dense(*element_of(factor), problem)) {
      hosted.push_back(factor);
    } else {
      add_factor(factor, *element_of(factor), elements, out.functions);
    }
  }
  for (const Expression& factor : hosted) {
    const Access* host = host_of(factor, elements, problem);
    if (host == nullptr) return std::nullopt;
    add_factor(factor, Access(*host), elements, out.functions);
  }
  if (elements.empty() || elements.size() > support::Limits::factors) return std::nullopt;
  out.contraction = problem;
  out.contraction.statement.value = index_notation::product_of(std::move(elements));
  drop_foreign_copies(out.contraction);
  drop_foreign_constraints(out.contraction);
  const bool same_indices = out.contraction.indices() == problem.indices();  // costs number them
  if (!is_contraction(out.contraction) || !same_indices || !sums_factors(problem)) return std::nullopt;
  return out;
}

Expression Factors::product(const std::vector<Access>& elements, std::optional<double> number) const {
  Product out;
  if (number) out.factors.push_back(Expression{Literal{*number}, {}});
  for (const Access& element : elements) {
    const auto function = std::find_if(functions.begin(), functions.end(),
                                       [&](const ElementFunction& each) { return each.element == element; });
    const Expression factor = function == functions.end() ? Expression{element, {}} : function->value;
    const auto* inner = std::get_if<Product>(&factor.node);
    if (inner == nullptr) {
      out.factors.push_back(factor);
    } else {
      out.factors.insert(out.factors.end(), inner->factors.begin(), inner->factors.end());
    }
  }
  if (out.factors.size() > 1) return Expression{std::move(out), {}};
  Expression only = std::move(out.factors.front());
  return only;
}

bool is_one_product(const Problem& problem) { return is_contraction(problem) || factors_of(problem); }

}  // namespace schaas::problem
