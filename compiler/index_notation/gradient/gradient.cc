#include "compiler/index_notation/gradient/gradient.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/index_notation/arithmetic.h"
#include "compiler/index_notation/costly_calls.h"
#include "compiler/index_notation/extent_classes.h"
#include "compiler/index_notation/gradient/derivative.h"
#include "compiler/index_notation/gradient/patterns.h"
#include "compiler/index_notation/gradient/short_statements.h"
#include "compiler/index_notation/gradient/steps.h"
#include "compiler/index_notation/lexer.h"
#include "compiler/index_notation/printer.h"
#include "compiler/index_notation/rename.h"
#include "compiler/index_notation/selections.h"
#include "compiler/index_notation/verifier.h"
#include "compiler/support/contains.h"
#include "compiler/support/limits.h"
#include "compiler/support/nearest_name.h"

// Differentiation in reverse (Griewank and Walther, Evaluating Derivatives, section 3.2), statement by
// statement. The adjoint of a tensor T is the derivative of the weighted result by each element of T. The
// last statement's adjoint is the seed. A statement T(i) = sum(j)(e) that reads X(k) adds sum over i and j
// without k of adjoint(T)(i) * de/dX(k) to the adjoint of X; these terms are collected under the indices of
// one access to X, and become a statement once every reader of X has been passed. Statements of the program
// remain where the derivative reads their values; the schedule decides whether they are computed again or
// kept.
//
// Handing cotangents down inside of an expression was rejected: see derivative.cc. So was one program for
// several operands: a program has one result.
namespace schaas::index_notation {
namespace {

using operators::Function;
using operators::Monoid;
using support::Limits;
using support::Result;

class Reverse {
 public:
  Reverse(const Program& program, const GradientOptions& options, FreshNames& names)
      : options_(options),
        names_(names),
        steps_(steps_of(program, names)),
        patterns_(steps_, options.sparse) {
    for (const Step& step : steps_) forward_.push_back(step.statement);
    std::vector<Assignment> all = program.statements;
    all.insert(all.end(), forward_.begin(), forward_.end());
    classes_ = extent_classes(all);
    indices_ = index_variables(all);
    for (const Assignment& statement : all) home_.emplace(statement.result.tensor, statement.result);
    for (const Assignment& statement : all)
      for (const Access& access : operands(statement.value)) home_.emplace(access.tensor, access);
    active_.insert(options.of);
    for (const Step& step : steps_)
      for (const Access& access : operands(step.statement.value))
        if (is_active(access.tensor)) active_.insert(step.statement.result.tensor);
  }

  bool is_active(const std::string& tensor) const { return active_.count(tensor) != 0; }

  // Returns the statements of the derivative, `name` the last. `seed`: none is the number 1.
  std::vector<Assignment> statements(const std::optional<std::string>& seed, const std::string& name) {
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      const Access& result = step->statement.result;
      if (!is_active(result.tensor)) continue;
      std::optional<Expression> adjoint;
      if (step != steps_.rbegin()) {
        if (terms_[result.tensor].empty()) continue;
        adjoint = adjoint_of(result, names_.fresh("d" + result.tensor));
      } else if (seed) {
        adjoint = Expression{Access{*seed, result.indices, {}, {}}, {}};
      }
      pass(*step, adjoint);
    }
    Access derivative{name, home_.at(options_.of).indices, {}, {}};
    finish(derivative);
    return needed();
  }

 private:
  // Defines the adjoint of an intermediate.
  Expression adjoint_of(const Access& result, const std::string& name) {
    Access access{name, result.indices, {}, {}};
    // Every reading of the adjoint is multiplied by the base, or is masked by it in the end.
    append(access, std::move(terms_[result.tensor]),
           result.indices.size() > 1 ? patterns_.base_of(result) : std::nullopt);
    return {std::move(access), {}};
  }

  void finish(const Access& derivative) {
    const Access& operand = home_.at(options_.of);
    std::vector<QuotientTerm> terms = std::move(terms_[options_.of]);
    terms.erase(
        std::remove_if(terms.begin(), terms.end(), [](const QuotientTerm& term) { return term.factor == 0; }),
        terms.end());
    // A zero that has the extents, and no value of the operand is multiplied by it.
    if (terms.empty()) terms = {{1, {call(Function::logical_and, {{operand, {}}, number(0)})}, {}}};
    append(derivative, std::move(terms), patterns_.base_of(operand));
  }

  // Appends a statement of elements that only count at the entries of `base`, when there is one.
  void append(const Access& result, std::vector<QuotientTerm> terms, const std::optional<Access>& base) {
    const auto has_factor = [&](const QuotientTerm& term) { return patterns_.has_factor(term, *base); };
    std::optional<Expression> mask;
    if (base && !std::all_of(terms.begin(), terms.end(), has_factor)) mask = mask_of(*base);
    append_statement(backward_, result, std::move(terms), names_, mask);
  }

  // Adds what a step contributes to the adjoints of the tensors it reads.
  void pass(const Step& step, const std::optional<Expression>& adjoint) {
    if (step.fold == Monoid::logical_and || step.fold == Monoid::logical_or) return;
    for (const SummedTerm& term : step.terms) {
      std::optional<QuotientTerm> share;  // made for the first access that needs it
      std::vector<Access> passed;
      for (const Access& access : operands(term.value)) {
        if (!is_active(access.tensor) || support::contains(passed, access)) continue;
        passed.push_back(access);
        for (QuotientTerm part : derivative_terms(term.value, access)) {
          if (!share) share = step.fold ? share_of_fold(step, term) : QuotientTerm{};
          if (&step != &steps_.back()) read_value(part, step);
          part.above.insert(part.above.begin(), share->above.begin(), share->above.end());
          if (adjoint) part.above.insert(part.above.begin(), *adjoint);
          part.below.insert(part.below.end(), share->below.begin(), share->below.end());
          contribute(step, term, access, std::move(part));
        }
      }
    }
  }

  // Reads the value of an intermediate where its slope repeats it: E(i,j) for B(i,j) * exp(T(i,j)).
  static void read_value(QuotientTerm& part, const Step& step) {
    if (step.fold || step.terms.size() != 1 || !step.terms.front().sums.empty()) return;
    if (costly_calls(step.terms.front().value).empty()) return;
    const QuotientTerm value = quotient_term(step.terms.front().value);
    if (value.factor != 1 || !value.below.empty()) return;
    std::vector<Expression> rest = part.above;
    for (const Expression& factor : value.above) {
      const auto found = std::find(rest.begin(), rest.end(), factor);
      if (found == rest.end()) return;
      rest.erase(found);
    }
    rest.push_back({step.statement.result, {}});
    part.above = std::move(rest);
  }

  // Returns the part of a fold's slope that is the same for all elements it folds.
  QuotientTerm share_of_fold(const Step& step, const SummedTerm& term) {
    const Access& result = step.statement.result;
    const Expression& argument = term.value;
    const auto defined = [&](const char* like, Expression value) {
      Access access{names_.fresh(like), result.indices, {}, {}};
      forward_.push_back({access, std::move(value), std::nullopt, {}});
      return Expression{std::move(access), {}};
    };
    const auto folded = [&](Monoid monoid, Expression value) {
      return Expression{Reduction{monoid, term.sums, {std::move(value)}}, {}};
    };
    if (step.fold == Monoid::product) {
      // The product of the others: without the zero where there is one, 0 where there are several.
      const Expression is_zero = call(Function::equal, {argument, number(0)});
      const Expression others =
          defined("Q", folded(Monoid::product, call(Function::where, {is_zero, number(1), argument})));
      const Expression zeros = defined("Z", folded(Monoid::sum, is_zero));
      const auto where_zeros = [&](double count, Expression value) {
        return call(Function::where,
                    {call(Function::equal, {zeros, number(count)}), std::move(value), number(0)});
      };
      return {1,
              {call(Function::where,
                    {is_zero, where_zeros(1, others), where_zeros(0, divided(others, argument))})},
              {}};
    }
    // Equal elements share; the zeros between the entries of a sparse operand have no share.
    const Expression equal = call(Function::equal, {argument, {result, {}}});
    QuotientTerm counted{1, {equal}, {}};
    if (const auto* access = std::get_if<Access>(&argument.node)) {
      if (const auto base = patterns_.base_of(*access))
        counted.above.insert(counted.above.begin(), mask_of(*base));
    }
    const Expression count = defined("N", folded(Monoid::sum, multiplied(counted.above)));
    return {1, {equal}, {call(Function::maximum, {count, number(1)})}};
  }

  // Adds a term to the adjoint of the tensor of `access`, under the indices that the adjoint has.
  void contribute(const Step& step, const SummedTerm& term, const Access& access, QuotientTerm part) {
    std::vector<std::string> over = step.statement.result.indices;
    over.insert(over.end(), term.sums.begin(), term.sums.end());
    count_iterations(part, over, access, term.value);
    const Renaming names = to_home(part, access);
    for (auto* side : {&part.above, &part.below})
      for (Expression& each : *side) each = renamed(each, names);
    add_term(terms_[access.tensor], std::move(part));
  }

  // A sum over an index that the summed term lacks multiplies by the extent: or(x(j), 1) is 1 for each j.
  static void count_iterations(QuotientTerm& part, const std::vector<std::string>& over, const Access& access,
                               const Expression& value) {
    for (const std::string& index : over) {
      if (support::contains(access.indices, index) || support::contains(indices_of(part), index)) continue;
      std::optional<Access> least;
      for (Access& reading : operands(value)) {
        if (!support::contains(reading.indices, index)) continue;
        if (!least || reading.indices.size() < least->indices.size()) least = std::move(reading);
      }
      SCHAAS_CHECK(least.has_value(), "a summed index stands in the term");
      part.above.push_back(call(Function::logical_or, {{*least, {}}, number(1)}));
    }
  }

  // Returns the names under which the indices of `access` are those of the adjoint, and others are none of
  // them. These get another index of their extent where one is free.
  Renaming to_home(const QuotientTerm& part, const Access& access) {
    const std::vector<std::string>& home = home_.at(access.tensor).indices;
    Renaming names;
    if (access.indices == home) return names;
    for (std::size_t mode = 0; mode < home.size(); ++mode) names.indices[access.indices[mode]] = home[mode];
    std::vector<std::string> used = home;
    const std::vector<std::string> all = indices_of(part);
    for (const std::string& index : all)
      if (names.indices.count(index) == 0 && !support::contains(home, index)) used.push_back(index);
    for (const std::string& index : all) {
      if (names.indices.count(index) != 0 || !support::contains(home, index)) continue;
      names.indices[index] = like(index, used);
      used.push_back(names.indices[index]);
    }
    return names;
  }
  std::string like(const std::string& index, const std::vector<std::string>& used) {
    for (const std::string& other : indices_)
      if (classes_.at(other) == classes_.at(index) && !support::contains(used, other)) return other;
    const std::string made = names_.fresh(index);
    indices_.push_back(made);
    classes_[made] = classes_.at(index);
    return made;
  }

  // Returns the statements that the last one reads, directly or not.
  std::vector<Assignment> needed() {
    std::vector<Assignment> all = forward_, kept;
    all.insert(all.end(), backward_.begin(), backward_.end());
    std::set<std::string> read = {all.back().result.tensor};
    for (auto statement = all.rbegin(); statement != all.rend(); ++statement) {
      if (read.count(statement->result.tensor) == 0) continue;
      for (const Access& access : operands(statement->value)) read.insert(access.tensor);
      kept.push_back(*statement);
    }
    std::reverse(kept.begin(), kept.end());
    share_costly_calls(kept, names_);
    return kept;
  }

  const GradientOptions& options_;
  FreshNames& names_;
  std::vector<Step> steps_;
  Patterns patterns_;
  std::vector<Assignment> forward_, backward_;
  std::map<std::string, std::string> classes_;
  std::vector<std::string> indices_;
  std::set<std::string> active_;        // tensors that depend on the operand
  std::map<std::string, Access> home_;  // access whose indices the adjoint has
  std::map<std::string, std::vector<QuotientTerm>> terms_;
};

// Returns the range in the program where the coordinate of an index is first a number.
std::optional<support::SourceRange> range_of_coordinate(const Expression& value, const std::string& index) {
  const auto* coordinate = std::get_if<Coordinate>(&value.node);
  if (coordinate != nullptr && coordinate->index == index) return value.range;
  for (const Expression& part : parts(value))
    if (auto range = range_of_coordinate(part, index)) return range;
  return std::nullopt;
}

// Coordinates are whole numbers: nothing lies between them to differentiate by.
Result<void> check_index(const Program& program, const std::string& of, std::string_view source) {
  if (!support::contains(index_variables(program.statements), of)) return {};
  auto refused =
      support::noting(support::unsupported("gradient", quoted(of) + " is an index; its coordinates are whole "
                                                                    "numbers, which have no derivative"),
                      "give the numbers in an operand, as in `t(" + of + ")`, and differentiate by that");
  for (const Assignment& statement : program.statements)
    if (const auto range = range_of_coordinate(statement.value, of))
      return support::at(std::move(refused), "expression", std::string(source), *range);
  return refused;
}

Result<void> check_operand(const Program& program, const std::string& of, std::string_view source) {
  std::vector<std::string> known;
  const std::string name = quoted(of), text = quoted(print(program));
  for (const Assignment& statement : program.statements) {
    for (const Access& access : operands(statement.value)) known.push_back(access.tensor);
    if (statement.update) known.push_back(statement.result.tensor);
  }
  for (const Assignment& statement : program.statements) {
    if (statement.result.tensor != of || statement.update) continue;
    const bool last = &statement == &program.statements.back();
    return support::noting(
        support::invalid("unknown-tensor",
                         name + " is " + (last ? "the result" : "an intermediate") + " of " + text),
        "differentiate with respect to an operand; to have the derivative by an intermediate, pass it as "
        "one");
  }
  if (support::contains(known, of)) return {};
  SCHAAS_RETURN_IF_ERROR(check_index(program, of, source));
  return support::invalid("unknown-tensor",
                          text + " has no operand " + name + support::did_you_mean(of, known));
}

// Checks a name that the caller gives, and takes it.
Result<void> take_name(const std::string& name, FreshNames& names) {
  const auto words = lex(name, "name");
  if (!words.ok()) return words.error();
  if (words->size() != 2 || words->front().kind != Token::Kind::name)
    return support::invalid("syntax", quoted(name) + " is no name: letters, digits and `_`, a letter first");
  if (names.is_taken(name))
    return support::invalid("name-taken", quoted(name) + " stands in the program already");
  names.take(name);
  return {};
}

Result<void> check_diagonals(const Program& program, const Reverse& reverse) {
  for (const Assignment& statement : program.statements) {
    for (const Access& access : operands(statement.value)) {
      const std::set<std::string> distinct(access.indices.begin(), access.indices.end());
      if (distinct.size() == access.indices.size() || !reverse.is_active(access.tensor)) continue;
      return support::noting(
          support::unsupported(
              "gradient", quoted(print(access)) + " reads a diagonal, and its derivative would write one"),
          "read all elements and multiply by an identity matrix, as in `B(i,j) * E(i,j)`");
    }
  }
  return {};
}

// Functions of complex numbers have no derivative in the sense of analysis, or one of another kind.
Result<void> check_functions(const Expression& value, std::string_view source) {
  const auto* call = std::get_if<Call>(&value.node);
  if (call != nullptr && (call->function == Function::conj || call->function == Function::real ||
                          call->function == Function::imag))
    return support::at(
        support::noting(support::unsupported(
                            "gradient", quoted(print(value)) + " has no derivative as real functions do"),
                        "compute with real and imaginary parts in operands of their own"),
        "expression", std::string(source), value.range);
  for (const Expression& part : parts(value)) SCHAAS_RETURN_IF_ERROR(check_functions(part, source));
  return {};
}

// A derivative may be larger than a program may be; anything else that `verify` finds is a bug.
Result<Program> checked(Program made) {
  const std::string text = print(made);
  if (made.statements.size() > Limits::statements) {
    return support::noting(
        support::unsupported("gradient", "the derivative has " + std::to_string(made.statements.size()) +
                                             " statements; at most " + std::to_string(Limits::statements) +
                                             " are supported"),
        "split the program, and pass the derivative of the second part to the first as its seed");
  }
  auto verified = verify(made, text);
  if (verified.ok()) return made;
  // A sum over an index of intermediates alone: all else that has the index is constant.
  if (verified.error().code == "extent-unknown") {
    return support::noting(
        support::unsupported(
            "gradient", "the derivative " + quoted(text) + " does not read the tensors that tell an extent"),
        "write the sum out over a tensor that has the index");
  }
  SCHAAS_CHECK(verified.error().family == support::Family::unsupported, support::render(verified.error()));
  return support::noting(verified.error(),
                         "this is the program of the derivative; split the program that it is of");
}

}  // namespace

Result<Program> gradient(const Program& given, const GradientOptions& options, std::string_view source) {
  const Program program = has_ranges(given) ? with_selections(given) : given;
  if (program.semiring != &operators::plus_times()) {
    return support::noting(
        support::unsupported("gradient", quoted(source) + " is under " + program.semiring->name +
                                             "; derivatives are of sums and products"),
        "write reductions out, as in `D(i,k) = min(j)(B(i,j) + C(j,k))`");
  }
  SCHAAS_RETURN_IF_ERROR(check_operand(program, options.of, source));
  for (const Assignment& statement : program.statements)
    SCHAAS_RETURN_IF_ERROR(check_functions(statement.value, source));
  FreshNames names(program);
  for (const std::string* given : {&options.seed, &options.name})
    if (!given->empty()) SCHAAS_RETURN_IF_ERROR(take_name(*given, names));
  const std::string name = options.name.empty() ? names.fresh("d" + options.of) : options.name;
  std::optional<std::string> seed;
  const Access& result = program.result();
  if (!options.seed.empty() || !result.indices.empty())
    seed = options.seed.empty() ? names.fresh("d" + result.tensor) : options.seed;
  Reverse reverse(program, options, names);
  SCHAAS_RETURN_IF_ERROR(check_diagonals(program, reverse));
  Program made;
  made.statements = reverse.statements(seed, name);
  return checked(std::move(made));
}

}  // namespace schaas::index_notation
