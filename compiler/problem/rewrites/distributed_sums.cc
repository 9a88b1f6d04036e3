#include "compiler/problem/rewrites/distributed_sums.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/index_notation/arithmetic.h"
#include "compiler/index_notation/printer.h"
#include "compiler/index_notation/rename.h"
#include "compiler/index_notation/verifier.h"
#include "compiler/problem/rewrites/inline_intermediates.h"
#include "compiler/problem/rewrites/sum_terms.h"
#include "compiler/problem/sparse_factors.h"
#include "compiler/support/contains.h"

// Products are flattened through signs, squares, quotients and sums inside of them. The indices of these sums
// join those of the sum around. A factor is multiplied out when it is a sum with a term that is zero where a
// sparse operand stores nothing. Each other term must be a product of factors with one index of that operand
// each. Then no loop needs all pairs of coordinates. Terms that are equal apart from their numbers
// become one. A product is written as one sum for each group of factors that share a summed index. What has
// none stands in front. A sum without such a factor is returned as it was.
namespace schaas::problem {
namespace {

using index_notation::Access;
using index_notation::Assignment;
using index_notation::call;
using index_notation::Call;
using index_notation::Expression;
using index_notation::Literal;
using index_notation::Product;
using index_notation::Reduction;
using operators::Function;
using Indices = std::vector<std::string>;

constexpr std::size_t max_products = 16;

/// A product with a number in front. It is summed over `summed` and the indices of the sum around.
struct Term {
  double number = 1;
  std::vector<Expression> factors;
  Indices summed;
  Indices apart{};  ///< indices of the sparse operand from which it was set apart, summed ones first
};

std::size_t shared_indices(const Indices& indices, const Access& operand) {
  const std::set<std::string> own(operand.indices.begin(), operand.indices.end());
  return static_cast<std::size_t>(std::count_if(
      own.begin(), own.end(), [&](const std::string& index) { return support::contains(indices, index); }));
}

/// Returns the product of these factors, flat; no factor at all is 1. Numbers stay apart (arithmetic.h),
/// which semirings multiply in their own way.
Expression product(std::vector<Expression> factors) {
  if (factors.empty()) return index_notation::number(1);
  if (factors.size() == 1) return std::move(factors.front());
  Product out;
  for (Expression& factor : factors) {
    if (auto* inner = std::get_if<Product>(&factor.node)) {
      out.factors.insert(out.factors.end(), inner->factors.begin(), inner->factors.end());
    } else {
      out.factors.push_back(std::move(factor));
    }
  }
  return Expression{std::move(out), {}};
}

class Distribution {
 public:
  explicit Distribution(const Problem& problem)
      : problem_(problem),
        arithmetic_(problem.semiring == &operators::plus_times()),
        names_(problem.program()) {}

  /// Returns the expression with its sums multiplied out; nothing when none has to be. `appends`: its entries
  /// are those of a sparse result.
  std::optional<Expression> of(const Expression& expression, bool appends) {
    changed_ = false;
    appends_ = appends;
    Expression out = visited(expression);
    return changed_ ? std::optional(std::move(out)) : std::nullopt;
  }

 private:
  Expression visited(const Expression& expression) {
    std::vector<Expression> parts;
    for (const Expression& part : index_notation::parts(expression)) parts.push_back(visited(part));
    Expression out = index_notation::with_parts(expression, std::move(parts));
    const auto* reduction = std::get_if<Reduction>(&out.node);
    if (reduction == nullptr || reduction->monoid != problem_.semiring->sum) return out;
    if (auto multiplied_out = sum_of(*reduction)) {
      changed_ = true;
      return *std::move(multiplied_out);
    }
    return out;
  }

  /// Returns the sum with its products multiplied out; nothing when none has to be.
  std::optional<Expression> sum_of(const Reduction& reduction) {
    const Expression& body = reduction.body.front();
    const Indices& indices = reduction.indices;
    std::vector<Term> terms;
    const Term whole{1, {body}, {}, {}};
    if (!sparse_indices_of(whole, 0, indices).empty()) {
      terms = multiplied_out(whole, indices);
    } else {
      bool any = false;
      for (const SumTerm& part : sum_terms(body, *problem_.semiring)) {
        Term term;
        flatten(part.value, term);
        auto products = multiplied_out(term, indices);
        any |= products.size() > 1;
        if (products.size() == 1) products = {Term{1, {part.value}, {}, {}}};
        for (Term& each : products) {
          if (part.negative) each.number = -each.number;
          terms.push_back(std::move(each));
        }
      }
      if (!any) return std::nullopt;
    }
    if (terms.size() > max_products) return std::nullopt;
    if (arithmetic_) terms = united(std::move(terms));
    return sum_of(terms, indices);
  }

  /// Adds the factors of a product to the term.
  void flatten(const Expression& expression, Term& term) {
    const auto* literal = std::get_if<Literal>(&expression.node);
    if (literal != nullptr && arithmetic_) {
      term.number *= literal->value;
      return;
    }
    if (const auto* all = std::get_if<Product>(&expression.node)) {
      for (const Expression& factor : all->factors) flatten(factor, term);
      return;
    }
    const auto* reduction = std::get_if<Reduction>(&expression.node);
    if (reduction != nullptr && reduction->monoid == problem_.semiring->sum) {
      index_notation::Renaming names;
      for (const std::string& index : reduction->indices) {
        const bool is_used = support::contains(term.summed, index);
        term.summed.push_back(is_used ? names.indices[index] = names_.fresh(index) : index);
      }
      const Expression& body = reduction->body.front();
      flatten(names.indices.empty() ? body : index_notation::renamed(body, names), term);
      return;
    }
    const auto* applied = arithmetic_ ? std::get_if<Call>(&expression.node) : nullptr;
    if (applied == nullptr || !flatten_call(*applied, term)) term.factors.push_back(expression);
  }

  /// Adds the factors of a negation, a quotient or a square; false for other functions.
  bool flatten_call(const Call& applied, Term& term) {
    const auto& arguments = applied.arguments;
    if (applied.function == Function::negate) {
      term.number = -term.number;
      flatten(arguments.front(), term);
      return true;
    }
    if (applied.function == Function::divide) {
      flatten(arguments[0], term);
      const auto* divisor = std::get_if<Literal>(&arguments[1].node);
      if (divisor != nullptr && divisor->value != 0)
        term.number /= divisor->value;
      else
        term.factors.push_back(call(Function::divide, {index_notation::number(1), arguments[1]}));
      return true;
    }
    if (applied.function != Function::power || arguments[1] != index_notation::number(2)) return false;
    flatten(arguments.front(), term);
    flatten(arguments.front(), term);
    return true;
  }

  /// Returns the terms of a factor that may be multiplied out. A function of a sparse element counts as its
  /// value where nothing is stored and the difference from it.
  std::vector<SumTerm> terms_of(const Expression& factor) const {
    // `exp(B(i,j)) - 1` is no sum of two terms.
    if (is_of_sparse_element(factor) && value_at_zero(factor, *problem_.semiring) == 0)
      return {{factor, false}};
    std::vector<SumTerm> out;
    for (const SumTerm& term : sum_terms(factor, *problem_.semiring)) {
      auto terms = is_of_sparse_element(term.value) ? with_unstored_apart(term) : std::vector{term};
      std::move(terms.begin(), terms.end(), std::back_inserter(out));
    }
    return out;
  }

  bool is_of_sparse_element(const Expression& value) const {
    const auto element = arithmetic_ ? element_of(value) : std::nullopt;
    return element && !sparse_factors(Expression{*element, {}}, problem_).empty();
  }

  /// Returns the difference of a term from its value where nothing is stored, and this value, if it is not 0.
  std::vector<SumTerm> with_unstored_apart(const SumTerm& term) const {
    const double unstored = value_at_zero(term.value, *problem_.semiring);
    if (unstored == 0 || !std::isfinite(unstored)) return {term};
    const Expression size = index_notation::number(std::abs(unstored));
    const Function without = unstored > 0 ? Function::subtract : Function::add;
    return {{call(without, {term.value, size}), term.negative}, {size, term.negative != (unstored < 0)}};
  }

  /// Returns the indices of a sparse operand, summed ones first, where factor `n` of the term is to be
  /// multiplied out. The factor is a sum of this operand and of products in its indices. Each other factor is
  /// such a sum, too, or has one of them at most.
  Indices sparse_indices_of(const Term& term, std::size_t n, const Indices& indices) {
    const auto terms = terms_of(term.factors[n]);
    if (terms.size() < 2) return {};
    const auto is_summed = [&](const std::string& index) {
      return support::contains(indices, index) || support::contains(term.summed, index);
    };
    for (const SumTerm& part : terms) {
      for (const Access& operand : sparse_factors(part.value, problem_)) {
        if (std::none_of(operand.indices.begin(), operand.indices.end(), is_summed) ||
            (!is_mixed_sum(terms, operand) && !is_crossed(terms, operand)))
          continue;
        const bool is_alone =
            std::all_of(term.factors.begin(), term.factors.end(), [&](const Expression& other) {
              return other == term.factors[n] || is_mixed_sum(terms_of(other), operand) ||
                     shared_indices(index_notation::free_indices(other), operand) < 2;
            });
        if (!is_alone) continue;
        Indices found = operand.indices;
        std::stable_partition(found.begin(), found.end(), is_summed);
        return found;
      }
    }
    return {};
  }

  /// Each term is zero where a sparse operand with two indices of this one stores nothing, or a product in
  /// its indices. Some are such products.
  bool is_mixed_sum(const std::vector<SumTerm>& terms, const Access& operand) {
    if (terms.size() < 2 || shared_indices(operand.indices, operand) < 2) return false;
    const auto meets = [&](const SumTerm& term) {
      const auto sparse = sparse_factors(term.value, problem_);
      return std::any_of(sparse.begin(), sparse.end(),
                         [&](const Access& other) { return shared_indices(operand.indices, other) >= 2; });
    };
    return !std::all_of(terms.begin(), terms.end(), meets) &&
           std::all_of(terms.begin(), terms.end(), [&](const SumTerm& term) {
             return meets(term) || is_product_in(operand, term.value);
           });
  }

  /// Every term is sparse, and one stores the operand's indices in the opposite order: `B(i,j) + B(j,i)`. One
  /// nest of both would need a copy.
  bool is_crossed(const std::vector<SumTerm>& terms, const Access& operand) const {
    if (appends_) return false;
    const auto order = stored_order(operand);
    bool crossed = false;
    for (const SumTerm& term : terms) {
      const auto sparse = sparse_factors(term.value, problem_);
      if (sparse.empty()) return false;
      for (const Access& other : sparse)
        for (const auto& [before, after] : stored_order(other))
          crossed = crossed || support::contains(order, std::pair(after, before));
    }
    return crossed;
  }

  /// The pairs of indices whose loops an operand's storage puts in this order.
  std::vector<std::pair<std::string, std::string>> stored_order(const Access& operand) const {
    const format::TensorFormat& format = problem_.formats.at(operand.tensor);
    const auto index = [&](int level) {
      return operand.indices[static_cast<std::size_t>(format.mode_order[static_cast<std::size_t>(level)])];
    };
    std::vector<std::pair<std::string, std::string>> out;
    for (const auto& [before, after] : format::access_order(format))
      out.emplace_back(index(before), index(after));
    return out;
  }

  /// Every factor of the value has at most one index of the operand.
  bool is_product_in(const Access& operand, const Expression& value) {
    Term term;
    flatten(value, term);
    return std::all_of(term.factors.begin(), term.factors.end(), [&](const Expression& factor) {
      return shared_indices(index_notation::free_indices(factor), operand) <= 1;
    });
  }

  /// Returns the positions of factors, those that stand once before others: they make fewer terms.
  static std::vector<std::size_t> squares_last(const std::vector<Expression>& factors) {
    std::vector<std::size_t> order(factors.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_partition(order.begin(), order.end(), [&](std::size_t n) {
      return std::count(factors.begin(), factors.end(), factors[n]) == 1;
    });
    return order;
  }

  /// Returns the products that are left of one; the term itself when nothing is multiplied out. `before`:
  /// a factor that was, and which is multiplied out wherever it stands again.
  std::vector<Term> multiplied_out(const Term& term, const Indices& indices,
                                   const Expression* before = nullptr) {
    for (const std::size_t n : squares_last(term.factors)) {
      const bool again = before != nullptr && term.factors[n] == *before;
      const Indices apart = again ? term.apart : sparse_indices_of(term, n, indices);
      if (apart.empty()) continue;
      const auto at = term.factors.begin() + static_cast<std::ptrdiff_t>(n);
      std::vector<Term> out;
      for (const SumTerm& part : terms_of(*at)) {
        Term one{part.negative ? -term.number : term.number, {term.factors.begin(), at}, term.summed, apart};
        flatten(part.value, one);
        one.factors.insert(one.factors.end(), at + 1, term.factors.end());
        for (Term& each : multiplied_out(one, indices, &*at)) out.push_back(std::move(each));
        if (out.size() > max_products) break;
      }
      return out;
    }
    return {term};
  }

  /// Adds up the numbers of equal products.
  static std::vector<Term> united(std::vector<Term> terms) {
    std::vector<Term> out;
    std::map<std::multiset<std::string>, std::size_t> known;
    for (Term& term : terms) {
      std::multiset<std::string> texts;
      for (const Expression& factor : term.factors) texts.insert(index_notation::print(factor));
      for (const std::string& index : term.summed) texts.insert("sum " + index);
      const auto [entry, is_new] = known.try_emplace(std::move(texts), out.size());
      if (is_new)
        out.push_back(std::move(term));
      else
        out[entry->second].number += term.number;
    }
    std::erase_if(out, [](const Term& term) { return term.number == 0; });
    return out;
  }

  /// Two indices of the sparse operand stand in one factor.
  static bool meets(const Term& term) {
    return std::any_of(term.factors.begin(), term.factors.end(), [&](const Expression& factor) {
      return std::count_if(term.apart.begin(), term.apart.end(), [&](const std::string& index) {
               return index_notation::has_free(factor, index);
             }) > 1;
    });
  }

  static bool has_all(const Term& term, const Indices& indices) {
    return std::all_of(indices.begin(), indices.end(), [&](const std::string& index) {
      return std::any_of(term.factors.begin(), term.factors.end(),
                         [&](const Expression& factor) { return index_notation::has_free(factor, index); });
    });
  }

  /// Returns the sum of the terms; nothing when none is left. Nothing, too, where each dense term lacks an
  /// index of the sum: such a sum counts what is not stored.
  std::optional<Expression> sum_of(const std::vector<Term>& terms, const Indices& indices) const {
    const bool lacks =
        std::any_of(terms.begin(), terms.end(), [&](const Term& term) { return !has_all(term, indices); });
    const bool is_dense = std::any_of(terms.begin(), terms.end(), [&](const Term& term) {
      return !term.apart.empty() && !meets(term) && has_all(term, indices);
    });
    if (lacks && !(arithmetic_ && is_dense)) return std::nullopt;
    std::optional<Expression> out;
    for (const Term& term : terms) {
      Expression value = summed(term, indices);
      const bool subtracts = arithmetic_ && term.number < 0;
      if (!out) {
        out = subtracts ? call(Function::negate, {std::move(value)}) : std::move(value);
        continue;
      }
      auto* sum = std::get_if<Call>(&out->node);
      if (!subtracts && sum != nullptr && sum->function == Function::add) {
        sum->arguments.push_back(std::move(value));
      } else {
        out = call(subtracts ? Function::subtract : Function::add, {*std::move(out), std::move(value)});
      }
    }
    return out;
  }

  /// Returns the factors of a term in which no two indices of the sparse operand meet by these indices. Split
  /// from the left, such a product has no loops over all pairs of coordinates.
  static std::vector<Expression> in_order(const Term& term) {
    const auto position = [&](const Expression& factor) {
      return std::find_if(term.apart.begin(), term.apart.end(),
                          [&](const std::string& index) { return index_notation::has_free(factor, index); });
    };
    std::vector<Expression> factors = term.factors;
    if (!meets(term)) {
      std::stable_sort(factors.begin(), factors.end(),
                       [&](const Expression& a, const Expression& b) { return position(a) < position(b); });
    }
    return factors;
  }

  /// Returns a term without its sign: one sum for each group of factors that share an index of it. An index
  /// that no factor has counts its coordinates.
  Expression summed(const Term& term, const Indices& indices) const {
    struct Group {
      Indices indices;
      std::vector<Expression> factors;
    };
    std::vector<Group> groups;
    for (const Indices* names : {&indices, &term.summed})
      for (const std::string& index : *names) groups.push_back({{index}, {}});
    std::vector<Expression> all;
    if (arithmetic_ && std::abs(term.number) != 1)
      all.push_back(index_notation::number(std::abs(term.number)));
    for (const Expression& factor : in_order(term)) {
      Group* own = nullptr;
      for (Group& group : groups) {
        const bool shares = std::any_of(group.indices.begin(), group.indices.end(), [&](const auto& index) {
          return index_notation::has_free(factor, index);
        });
        if (!shares) continue;
        if (own == nullptr) {
          own = &group;
          continue;
        }
        own->indices.insert(own->indices.end(), group.indices.begin(), group.indices.end());
        own->factors.insert(own->factors.end(), group.factors.begin(), group.factors.end());
        group = {};
      }
      (own == nullptr ? all : own->factors).push_back(factor);
    }
    for (Group& group : groups) {
      if (group.indices.empty()) continue;  // part of another one
      if (group.factors.empty()) {
        const Expression coordinate{index_notation::Coordinate{group.indices.front()}, {}};
        group.factors.push_back(call(Function::greater_equal, {coordinate, index_notation::number(0)}));
      }
      all.push_back(Expression{
          Reduction{problem_.semiring->sum, std::move(group.indices), {product(std::move(group.factors))}},
          {}});
    }
    return product(std::move(all));
  }

  const Problem& problem_;
  bool arithmetic_;
  index_notation::FreshNames names_;
  bool changed_ = false, appends_ = false;
};

/// Returns the problem with every statement multiplied out, if any is.
std::optional<Problem> multiplied_out(const Problem& problem) {
  Distribution distribution(problem);
  Problem out = problem;
  bool changed = false;
  const auto change = [&](Assignment& statement) {
    const auto known = problem.formats.find(statement.result.tensor);
    const bool appends = known != problem.formats.end() && !known->second.all_dense();
    auto value = distribution.of(explicit_value(statement, problem), appends);
    changed |= value.has_value();
    if (value) statement.value = *std::move(value);
  };
  for (Assignment& statement : out.intermediates) change(statement);
  change(out.statement);
  if (!changed || !index_notation::verify(out.program(), "").ok()) return std::nullopt;
  return out;
}

/// The access has two indices of one sparse operand of the program.
bool has_sparse_pair(const Access& access, const Problem& problem) {
  const auto reads = problem.reads();
  return std::any_of(reads.begin(), reads.end(), [&](const Access& read) {
    return !sparse_factors(Expression{read, {}}, problem).empty() &&
           shared_indices(access.indices, read) >= 2;
  });
}

/// Returns the only statement that reads intermediate `number`, a matrix or more with two indices of a sparse
/// operand; null when there is none.
const Assignment* only_reader_of_pair(std::size_t number, const Problem& problem) {
  const Assignment& definition = problem.intermediates[number];
  const Access& result = definition.result;
  const Assignment* reader = definition.update ? nullptr : only_reader(result.tensor, problem);
  if (reader == nullptr || has_sparse_pair(result, problem)) return reader;
  return has_sparse_pair(reads_of(result.tensor, reader->value).front(), problem) ? reader : nullptr;
}

/// Inlines intermediate `number`. Indices that it sums over and the reader has get new names.
Problem inlined_pair(Problem problem, std::size_t number, const Assignment& reader) {
  Assignment& definition = problem.intermediates[number];
  const auto known = index_notation::index_variables(reader);
  index_notation::FreshNames names(problem.program());
  index_notation::Renaming renaming;
  for (const std::string& index : index_notation::index_variables(definition))
    if (!support::contains(definition.result.indices, index) && support::contains(known, index))
      renaming.indices[index] = names.fresh(index);
  definition.value = index_notation::renamed(explicit_value(definition, problem), renaming);
  return without_intermediate(std::move(problem), number, /*by_sum=*/true);
}

/// Returns the problem multiplied out after intermediates that would hold all pairs of coordinates became
/// part of their readers.
std::optional<Problem> multiplied_out_inside(Problem problem) {
  bool any = false;
  for (std::size_t n = problem.intermediates.size(); n-- > 0;) {
    const Assignment* reader = only_reader_of_pair(n, problem);
    if (reader == nullptr) continue;
    problem = inlined_pair(problem, n, *reader);
    any = true;
  }
  return any ? multiplied_out(problem) : std::nullopt;
}

}  // namespace

Problem with_sums_distributed(Problem problem) {
  if (auto out = multiplied_out_inside(problem)) return *std::move(out);
  if (auto out = multiplied_out(problem)) return *std::move(out);
  return problem;
}

}  // namespace schaas::problem
