#include "compiler/frontier/proofs/log_bounds.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "compiler/concrete_notation/copies/needed_copies.h"
#include "compiler/support/result.h"

// Constraints in logarithms. The columns log(extent) and log(extent / fiber) are at least 0, so that a fiber
// is at most its extent in every program. Optima in double precision only suggest a bound. Their multipliers,
// rounded to fractions, are checked in integers for every column. The constraints' coefficients to these
// powers then prove the bound in big integers. So a wrong optimum costs a proof and never its soundness.
// Points serve to refute, and are checked against all relations, sums included.
namespace schaas::frontier {
namespace {

/// Denominators tried for multipliers: the divisors of twelve.
constexpr int divisors[] = {1, 2, 3, 4, 6, 12};

/// Returns the logarithm of a number beyond the range of doubles.
double log_of(const mpz_class& value) {
  long exponent = 0;
  const double fraction = mpz_get_d_2exp(&exponent, value.get_mpz_t());
  return std::log(fraction) + static_cast<double>(exponent) * std::log(2.0);
}

mpz_class power(const mpz_class& base, int exponent) {
  mpz_class result;
  mpz_pow_ui(result.get_mpz_t(), base.get_mpz_t(), static_cast<unsigned long>(exponent));
  return result;
}

}  // namespace

bool holds_as_many(const problem::Copy& copy, const problem::Problem& problem) {
  const auto holds_entries = [&](const std::string& tensor) {
    const auto& levels = problem.formats.at(tensor).levels;
    const auto sparse = std::find_if(levels.begin(), levels.end(), format::is_sparse);
    return sparse != levels.end() && std::all_of(sparse, levels.end(), format::is_sparse);
  };
  return holds_entries(copy.tensor) && holds_entries(copy.name);
}

LogBounds::LogBounds(const problem::Problem& problem)
    : problem_(concrete_notation::with_known_copies(problem)),
      variables_(cost::variables_of(problem_)),
      fiber_(variables_.fibers),
      program_(0, {}) {
  for (const std::string& tensor : problem_.tensors()) {
    const format::TensorFormat& format = problem_.formats.at(tensor);
    for (int level = 0; level < format.order(); ++level) {
      const auto at = static_cast<std::size_t>(level);
      if (!format::is_sparse(format.levels[at]) || fiber_of(tensor, level)) continue;
      const auto mode = static_cast<std::size_t>(format.mode_order[at]);
      fiber_.push_back({cost::Variable::Kind::fiber, problem_.indices_of(tensor)[mode], tensor, level});
    }
  }
  extents_ = static_cast<int>(variables_.extents.size());
  fibers_ = static_cast<int>(fiber_.size());
  for (const cost::Variable& fiber : fiber_) {
    const auto at = std::find_if(variables_.extents.begin(), variables_.extents.end(),
                                 [&](const cost::Variable& extent) { return extent.index == fiber.index; });
    extent_of_fiber_.push_back(static_cast<int>(at - variables_.extents.begin()));
  }
  nonempty_.assign(fiber_.size(), false);
  for (const problem::Constraint& constraint : problem.constraints) {
    exact_ = exact_ && constraint.lhs.size() == 1 && constraint.rhs.size() == 1;
    add_rows(constraint);
    add_nonempty(constraint);
  }
  add_inferred();
  add_ties();
  for (const problem::Constraint& constraint : copied_entries()) add_rows(constraint);
  program_ = Simplex(extents_ + fibers_, linear_rows());
}

/// Writes a product in the columns: log(fiber) is log(extent) - log(extent / fiber).
LogBounds::Form LogBounds::form_of(cost::Term term) const {
  Form form(static_cast<std::size_t>(extents_ + fibers_), 0);
  for (cost::Term rest = term & cost::variables_mask; rest != 0; rest &= rest - 1) {
    const int bit = std::countr_zero(rest);
    if (bit < cost::Variables::first_fiber) {
      ++form[static_cast<std::size_t>(bit)];
    } else {
      const int fiber = bit - cost::Variables::first_fiber;
      ++form[static_cast<std::size_t>(extent_of_fiber_[static_cast<std::size_t>(fiber)])];
      --form[static_cast<std::size_t>(extents_ + fiber)];
    }
  }
  return form;
}

std::optional<int> LogBounds::fiber_of(const std::string& tensor, int level) const {
  for (std::size_t n = 0; n < fiber_.size(); ++n) {
    if (cost::is_fiber(fiber_[n]) && fiber_[n].tensor == tensor && fiber_[n].level == level)
      return static_cast<int>(n);
  }
  return std::nullopt;
}

/// nonzeros(B, levels) is the product of B's first levels: extents of dense ones, fibers of compressed ones.
void LogBounds::add_power(Form& form, const problem::Symbol& symbol, int exponent) const {
  const auto add_index = [&](const std::string& index) {
    for (std::size_t n = 0; n < variables_.extents.size(); ++n) {
      if (variables_.extents[n].index == index) form[n] += exponent;
    }
  };
  if (symbol.kind == problem::Symbol::Kind::extent) return add_index(symbol.name);
  const format::TensorFormat& format = problem_.formats.at(symbol.name);
  const std::vector<std::string>& indices = problem_.indices_of(symbol.name);
  for (int level = 0; level < symbol.levels; ++level) {
    add_index(indices[static_cast<std::size_t>(format.mode_order[static_cast<std::size_t>(level)])]);
    if (const auto fiber = fiber_of(symbol.name, level))
      form[static_cast<std::size_t>(extents_ + *fiber)] -= exponent;
  }
}

/// Adds a row for each term of the left side: none is negative, so each alone is at most a single right term.
void LogBounds::add_rows(const problem::Constraint& constraint) {
  if (constraint.rhs.size() != 1) return;
  Form right(static_cast<std::size_t>(extents_ + fibers_), 0);
  for (const auto& [symbol, exponent] : constraint.rhs[0].powers) add_power(right, symbol, exponent);
  for (const problem::Monomial& monomial : constraint.lhs) {
    ExactRow row;
    row.coefficients.assign(right.size(), 0);
    for (const auto& [symbol, exponent] : monomial.powers) add_power(row.coefficients, symbol, exponent);
    for (std::size_t n = 0; n < right.size(); ++n) row.coefficients[n] -= right[n];
    row.numerator = static_cast<long>(constraint.rhs[0].coefficient);
    row.denominator = static_cast<long>(monomial.coefficient);
    rows_.push_back(std::move(row));
  }
}

/// `extents <= coefficient * nonzeros(B)` says that B is not empty: then a compressed first level, a count,
/// has an entry. Under Profile::sparseauto every fiber is a whole number.
void LogBounds::add_nonempty(const problem::Constraint& constraint) {
  if (constraint.rhs.size() != 1) return;
  const bool positive =
      std::any_of(constraint.lhs.begin(), constraint.lhs.end(), [](const problem::Monomial& monomial) {
        return std::all_of(monomial.powers.begin(), monomial.powers.end(), [](const auto& power) {
          return power.first.kind == problem::Symbol::Kind::extent;
        });
      });
  if (!positive) return;
  Form right(static_cast<std::size_t>(extents_ + fibers_), 0);
  for (const auto& [symbol, exponent] : constraint.rhs[0].powers) add_power(right, symbol, exponent);
  const bool whole = problem_.profile == problem::Profile::sparseauto;
  for (std::size_t n = 0; n < fiber_.size(); ++n) {
    const bool positive_fiber = right[static_cast<std::size_t>(extents_) + n] < 0;
    if (positive_fiber && (whole || fiber_[n].level == 0)) set_nonempty(n);
  }
}

/// Each entry of a compressed level leads to at least one entry of the next. (Of an empty tensor the averages
/// below are nobody's: they may be taken as 1.)
void LogBounds::add_inferred() {
  for (std::size_t n = 0; n < fiber_.size(); ++n) {
    if (!cost::is_fiber(fiber_[n]) || fiber_[n].level == 0) continue;
    const format::TensorFormat& format = problem_.formats.at(fiber_[n].tensor);
    const auto above = static_cast<std::size_t>(fiber_[n].level - 1);
    if (format::holds_entries(format.levels[above])) set_nonempty(n);
  }
  each_ordered([&](int lesser, int greater) {
    ExactRow row;
    row.coefficients.assign(static_cast<std::size_t>(extents_ + fibers_), 0);
    row.coefficients[static_cast<std::size_t>(extents_ + lesser)] = -1;
    row.coefficients[static_cast<std::size_t>(extents_ + greater)] = 1;
    row.numerator = row.denominator = 1;
    rows_.push_back(std::move(row));
  });
}

template <class Visit>
void LogBounds::each_ordered(const Visit& visit) const {
  using Kind = cost::Variable::Kind;
  const auto has = [](const cost::Variable& of, const cost::Variable& list) {
    return std::find(of.lists.begin(), of.lists.end(), list) != of.lists.end();
  };
  const auto at_most = [&](const cost::Variable& a, const cost::Variable& b) {
    if (a.kind != Kind::matches || b.kind == Kind::extent || a.index != b.index) return false;
    if (b.kind == Kind::steps) return a.lists == b.lists;
    if (b.kind == Kind::matches) {
      return b.lists.size() < a.lists.size() &&
             std::all_of(b.lists.begin(), b.lists.end(), [&](const auto& list) { return has(a, list); });
    }
    return std::any_of(a.lists.begin(), a.lists.end(), [&](const cost::Variable& list) {
      return list.tensor == b.tensor && list.level == b.level;
    });
  };
  for (int a = 0; a < fibers_; ++a) {
    for (int b = 0; b < fibers_; ++b) {
      if (a != b && at_most(fiber_[static_cast<std::size_t>(a)], fiber_[static_cast<std::size_t>(b)]))
        visit(a, b);
    }
  }
}

/// Variables of one storage level, read under two indices.
bool LogBounds::same_level(int a, int b) const {
  const cost::Variable& first = fiber_[static_cast<std::size_t>(a)];
  const cost::Variable& second = fiber_[static_cast<std::size_t>(b)];
  return cost::is_fiber(first) && cost::is_fiber(second) && first.tensor == second.tensor &&
         first.level == second.level;
}

void LogBounds::set_nonempty(std::size_t fiber) {
  if (nonempty_[fiber]) return;
  nonempty_[fiber] = true;
  ExactRow row;
  row.coefficients.assign(static_cast<std::size_t>(extents_ + fibers_), 0);
  row.coefficients[static_cast<std::size_t>(extents_) + fiber] = 1;
  row.coefficients[static_cast<std::size_t>(extent_of_fiber_[fiber])] = -1;
  row.numerator = row.denominator = 1;
  rows_.push_back(std::move(row));
}

/// One storage level read under two indices has two variables of one value: their extents and fibers agree.
void LogBounds::add_ties() {
  const auto tie = [&](int a, int b) {
    for (const int sign : {1, -1}) {
      ExactRow row;
      row.coefficients.assign(static_cast<std::size_t>(extents_ + fibers_), 0);
      row.coefficients[static_cast<std::size_t>(a)] += sign;
      row.coefficients[static_cast<std::size_t>(b)] -= sign;
      row.numerator = row.denominator = 1;
      rows_.push_back(std::move(row));
    }
  };
  for (int a = 0; a < fibers_; ++a) {
    for (int b = a + 1; b < fibers_; ++b) {
      if (!same_level(a, b)) continue;
      tie(extents_ + a, extents_ + b);
      tie(extent_of_fiber_[static_cast<std::size_t>(a)], extent_of_fiber_[static_cast<std::size_t>(b)]);
    }
  }
}

/// A copy has as many entries as its original, where holds_as_many says so.
std::vector<problem::Constraint> LogBounds::copied_entries() const {
  std::vector<problem::Constraint> all;
  const auto entries = [&](const std::string& tensor) {
    const problem::Symbol symbol{problem::Symbol::Kind::nonzeros, tensor,
                                 problem_.formats.at(tensor).order()};
    return std::vector<problem::Monomial>{{1, {{symbol, 1}}}};
  };
  for (const problem::Copy& copy : problem_.copies) {
    if (!holds_as_many(copy, problem_)) continue;
    all.push_back({entries(copy.name), entries(copy.tensor)});
    all.push_back({entries(copy.tensor), entries(copy.name)});
  }
  return all;
}

std::vector<LinearRow> LogBounds::linear_rows() const {
  std::vector<LinearRow> rows;
  for (const ExactRow& exact : rows_) {
    LinearRow row;
    row.coefficients.assign(exact.coefficients.begin(), exact.coefficients.end());
    row.bound = log_of(exact.numerator) - log_of(exact.denominator);
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Returns the largest ratio of two products and its certificate, found once for each pair.
LogBounds::Ratio& LogBounds::ratio(cost::Term a, cost::Term b) {
  // Common variables cancel, so one program serves all pairs with this ratio.
  const cost::Term common = a & b & cost::variables_mask;
  const TermPair key{(a & cost::variables_mask) & ~common, (b & cost::variables_mask) & ~common};
  const auto [position, added] = ratios_.try_emplace(key);
  if (!added) return position->second;
  Ratio& result = position->second;
  Form objective = form_of(key.a);
  const Form below = form_of(key.b);
  for (std::size_t n = 0; n < objective.size(); ++n) objective[n] -= below[n];
  const auto optimum = program_.maximise({objective.begin(), objective.end()});
  if (!optimum) {
    result.largest = std::numeric_limits<double>::infinity();
    return result;
  }
  // Padded against rounding.
  result.largest = std::exp(optimum->value + 1e-7);
  for (const int divisor : divisors) {
    if (auto times = integer_multipliers(rows_, objective, optimum->multipliers, divisor)) {
      result.times = std::move(*times);
      result.divisor = divisor;
      return result;
    }
  }
  // No certificate.
  result.divisor = 0;
  return result;
}

bool LogBounds::proves(const Ratio& ratio, const mpz_class& numerator, const mpz_class& denominator) const {
  if (std::isinf(ratio.largest) || ratio.divisor == 0) return false;
  mpz_class left = power(numerator, ratio.divisor);
  mpz_class right = power(denominator, ratio.divisor);
  for (std::size_t row = 0; row < ratio.times.size(); ++row) {
    if (ratio.times[row] == 0) continue;
    left *= power(rows_[row].numerator, ratio.times[row]);
    right *= power(rows_[row].denominator, ratio.times[row]);
  }
  return left <= right;
}

bool LogBounds::at_most(cost::Term a, cost::Term b) {
  const int ours = cost::weight(cost::access_of(a));
  const int theirs = cost::weight(cost::access_of(b));
  Ratio& known = ratio(a, b);
  // A clear no needs no big integers.
  if (known.largest * ours > theirs * 1.0001) return false;
  const auto bit = static_cast<std::size_t>(cost::access_of(a)) * cost::access_classes +
                   static_cast<std::size_t>(cost::access_of(b));
  if (!known.asked[bit]) {
    known.asked[bit] = true;
    known.proven[bit] = proves(known, ours, theirs);
  }
  return known.proven[bit];
}

bool LogBounds::at_most(cost::Term a, std::int64_t limit) {
  return proves(ratio(a, 0), 1, mpz_class(static_cast<long>(limit)));
}

double LogBounds::largest_ratio(cost::Term a, cost::Term b) {
  return ratio(a, b).largest * cost::weight(cost::access_of(a)) / cost::weight(cost::access_of(b));
}

std::optional<mpq_class> LogBounds::certified_ratio(cost::Term a, cost::Term b) {
  Ratio& known = ratio(a, b);
  if (std::isinf(known.largest) || known.divisor == 0) return std::nullopt;
  if (!known.certified) {
    // The root of a fraction, rounded up after some forty significant bits.
    const auto precision = 40 + static_cast<unsigned>(std::max(0.0, -std::log2(known.largest)));
    const auto divisor = static_cast<unsigned>(known.divisor);
    mpz_class numerator = 1, denominator = 1, quotient, rest, root;
    for (std::size_t row = 0; row < known.times.size(); ++row) {
      if (known.times[row] == 0) continue;
      numerator *= power(rows_[row].numerator, known.times[row]);
      denominator *= power(rows_[row].denominator, known.times[row]);
    }
    if (divisor == 1) {
      known.certified = mpq_class(numerator, denominator);
    } else {
      numerator <<= precision * divisor;
      mpz_cdiv_q(quotient.get_mpz_t(), numerator.get_mpz_t(), denominator.get_mpz_t());
      mpz_rootrem(root.get_mpz_t(), rest.get_mpz_t(), quotient.get_mpz_t(), divisor);
      if (rest != 0) ++root;
      known.certified = mpq_class(root, mpz_class(1) << precision);
    }
    known.certified->canonicalize();
  }
  return mpq_class(*known.certified * cost::weight(cost::access_of(a)) / cost::weight(cost::access_of(b)));
}

/// Returns the sizes that values of the columns stand for.
cost::Point LogBounds::point_of(const std::vector<double>& columns) const {
  cost::Point point(static_cast<std::size_t>(cost::Variables::first_fiber + fibers_), 1);
  for (int n = 0; n < extents_; ++n)
    point[static_cast<std::size_t>(n)] = std::exp(columns[static_cast<std::size_t>(n)]);
  for (int n = 0; n < fibers_; ++n) {
    const auto extent = static_cast<std::size_t>(extent_of_fiber_[static_cast<std::size_t>(n)]);
    point[static_cast<std::size_t>(cost::Variables::first_fiber + n)] =
        std::exp(columns[extent] - columns[static_cast<std::size_t>(extents_ + n)]);
  }
  return point;
}

/// The point satisfies the relations, but for rounding.
bool LogBounds::allowed(const cost::Point& point, const std::vector<SolverRelation>& relations) const {
  const auto value = [&](const SolverSum& sum) {
    double total = 0;
    for (const SolverMonomial& monomial : sum) {
      double product = static_cast<double>(monomial.coefficient);
      for (int v : monomial.variables) {
        product *=
            point[static_cast<std::size_t>(v < extents_ ? v : cost::Variables::first_fiber + v - extents_)];
      }
      total += product;
    }
    return total;
  };
  return std::all_of(relations.begin(), relations.end(), [&](const SolverRelation& relation) {
    return value(relation.lhs) <= value(relation.rhs) * (1 + 1e-6);
  });
}

mpq_class LogBounds::least(cost::Term term) {
  // The least value is the reciprocal of the largest 1 / term.
  const auto most = certified_ratio(0, term & cost::variables_mask);
  return most ? mpq_class(1 / *most) : mpq_class(0);
}

cost::Point LogBounds::point_of_model(const std::vector<double>& model) const {
  cost::Point point(static_cast<std::size_t>(cost::Variables::first_fiber + fibers_), 1);
  for (int n = 0; n < extents_ + fibers_; ++n) {
    const int bit = n < extents_ ? n : cost::Variables::first_fiber + n - extents_;
    point[static_cast<std::size_t>(bit)] = model[static_cast<std::size_t>(n)];
  }
  return point;
}

/// The program with every column cut off.
Simplex LogBounds::program_below(double cut) const {
  const auto columns = static_cast<std::size_t>(extents_ + fibers_);
  std::vector<LinearRow> rows = linear_rows();
  for (std::size_t n = 0; n < columns; ++n) {
    LinearRow row{std::vector<double>(columns, 0), cut};
    row.coefficients[n] = 1;
    rows.push_back(std::move(row));
  }
  return Simplex(static_cast<int>(columns), rows);
}

LogBounds::Box& LogBounds::box_below(double most) {
  const auto known = boxes_.find(most);
  return known != boxes_.end() ? known->second
                               : boxes_.try_emplace(most, Box{program_below(std::log(most))}).first->second;
}

std::optional<cost::Point> LogBounds::extreme(cost::Term a, cost::Term b, double most) {
  Box& box = box_below(most);
  if (!box.program.feasible()) return std::nullopt;
  // Common variables cancel, as in ratio().
  const cost::Term common = a & b & cost::variables_mask;
  const TermPair key{(a & cost::variables_mask) & ~common, (b & cost::variables_mask) & ~common};
  const auto [found, added] = box.extremes.try_emplace(key);
  if (!added) return found->second;
  const Form above = form_of(key.a), below = form_of(key.b);
  std::vector<double> direction;
  for (std::size_t n = 0; n < above.size(); ++n) direction.push_back(above[n] - below[n]);
  const auto optimum = box.program.maximise(direction);
  if (!optimum) return std::nullopt;
  if (!known_relations_) known_relations_ = relations();
  cost::Point point = point_of(optimum->x);
  if (allowed(point, *known_relations_)) found->second = std::move(point);
  return found->second;
}

/// Optima of the program, cut off at `cut`, in the directions of the axes and in `more` random ones.
std::vector<std::vector<double>> LogBounds::corners(double cut, std::size_t more) const {
  const auto columns = static_cast<std::size_t>(extents_ + fibers_);
  std::vector<std::vector<double>> found;
  const Simplex box = program_below(cut);
  if (!box.feasible()) return found;
  std::mt19937_64 random(20240607);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (std::size_t n = 0; n < 2 * columns + more; ++n) {
    std::vector<double> direction(columns, 0);
    if (n < 2 * columns) {
      direction[n / 2] = n % 2 == 0 ? 1 : -1;
    } else {
      for (double& d : direction) d = unit(random);
    }
    if (const auto optimum = box.maximise(direction)) found.push_back(optimum->x);
  }
  return found;
}

std::vector<cost::Point> LogBounds::samples(std::size_t count) const {
  const auto columns = static_cast<std::size_t>(extents_ + fibers_);
  std::vector<std::vector<double>> known;
  // The box grows until some allowed sizes lie in it.
  for (double cut = std::log(1e6); known.empty() && cut < std::log(1e19); cut += std::log(1e3)) {
    known = corners(cut, count / 2);
  }
  std::vector<double> middle(columns, known.empty() ? std::log(64.0) : 0);
  for (const auto& corner : known) {
    for (std::size_t n = 0; n < columns; ++n) middle[n] += corner[n] / static_cast<double>(known.size());
  }
  std::vector<cost::Point> points{point_of(middle)};
  if (known.empty()) return points;
  const auto relations = this->relations();
  const auto add_between = [&](std::vector<double> from, const std::vector<double>& to, double part) {
    for (std::size_t n = 0; n < columns; ++n) from[n] += part * (to[n] - from[n]);
    if (cost::Point point = point_of(from); allowed(point, relations)) points.push_back(std::move(point));
  };
  std::mt19937_64 random(20241020);
  std::uniform_int_distribution<std::size_t> any(0, known.size() - 1);
  std::uniform_real_distribution<double> share(0, 1);
  // Corners first, moved slightly inwards; then mixtures of two corners.
  for (std::size_t n = 0; n < known.size() && points.size() < count; ++n) add_between(known[n], middle, 1e-4);
  for (std::size_t attempt = 0; attempt < 8 * count && points.size() < count; ++attempt) {
    const auto& from = known[any(random)];
    const auto& to = known[any(random)];
    add_between(from, to, share(random));
  }
  return points;
}

int LogBounds::solver_variable(int bit) const {
  return bit < cost::Variables::first_fiber ? bit : extents_ + bit - cost::Variables::first_fiber;
}

SolverSum LogBounds::solver_sum(const std::vector<cost::Term>& terms) const {
  SolverSum sum;
  for (cost::Term term : terms) {
    SolverMonomial monomial{cost::weight(cost::access_of(term)), {}};
    for (cost::Term rest = term & cost::variables_mask; rest != 0; rest &= rest - 1)
      monomial.variables.push_back(solver_variable(std::countr_zero(rest)));
    sum.push_back(std::move(monomial));
  }
  return sum;
}

/// Returns a constraint's product in the solver's variables; a count is the product of its levels.
SolverMonomial LogBounds::monomial_of(const problem::Monomial& monomial) const {
  SolverMonomial result;
  result.coefficient = monomial.coefficient;
  for (const auto& [symbol, exponent] : monomial.powers) {
    for (int times = 0; times < exponent; ++times) {
      const auto add_index = [&](const std::string& index) {
        for (int n = 0; n < extents_; ++n) {
          if (variables_.extents[static_cast<std::size_t>(n)].index == index) result.variables.push_back(n);
        }
      };
      if (symbol.kind == problem::Symbol::Kind::extent) {
        add_index(symbol.name);
        continue;
      }
      const format::TensorFormat& format = problem_.formats.at(symbol.name);
      const std::vector<std::string>& indices = problem_.indices_of(symbol.name);
      for (int level = 0; level < symbol.levels; ++level) {
        const auto fiber = fiber_of(symbol.name, level);
        if (fiber) {
          result.variables.push_back(extents_ + *fiber);
        } else {
          add_index(indices[static_cast<std::size_t>(format.mode_order[static_cast<std::size_t>(level)])]);
        }
      }
    }
  }
  return result;
}

/// The fibers that the steps of a merge add up to at most.
SolverSum LogBounds::sum_of_lists(const cost::Variable& steps) const {
  SolverSum sum;
  for (const cost::Variable& list : steps.lists) {
    for (int n = 0; n < fibers_; ++n) {
      const cost::Variable& fiber = fiber_[static_cast<std::size_t>(n)];
      if (cost::is_fiber(fiber) && fiber.index == list.index && fiber.tensor == list.tensor &&
          fiber.level == list.level)
        sum.push_back({1, {extents_ + n}});
    }
  }
  return sum;
}

/// Writes all that is known of sizes as relations, which keep sums where rows cannot.
std::vector<SolverRelation> LogBounds::relations() const {
  std::vector<SolverRelation> all;
  for (int n = 0; n < extents_; ++n) all.push_back({{{1, {}}}, {{1, {n}}}, false});
  for (int n = 0; n < fibers_; ++n) {
    all.push_back({{{1, {extents_ + n}}}, {{1, {extent_of_fiber_[static_cast<std::size_t>(n)]}}}, false});
    if (nonempty_[static_cast<std::size_t>(n)]) all.push_back({{{1, {}}}, {{1, {extents_ + n}}}, false});
    for (int m = n + 1; m < fibers_; ++m) {
      if (!same_level(n, m)) continue;
      all.push_back({{{1, {extents_ + n}}}, {{1, {extents_ + m}}}, false});
      all.push_back({{{1, {extents_ + m}}}, {{1, {extents_ + n}}}, false});
    }
  }
  each_ordered([&](int lesser, int greater) {
    all.push_back({{{1, {extents_ + lesser}}}, {{1, {extents_ + greater}}}, false});
  });
  for (int n = 0; n < fibers_; ++n) {
    if (fiber_[static_cast<std::size_t>(n)].kind == cost::Variable::Kind::steps)
      all.push_back({{{1, {extents_ + n}}}, sum_of_lists(fiber_[static_cast<std::size_t>(n)]), false});
  }
  std::vector<problem::Constraint> constraints = copied_entries();
  constraints.insert(constraints.begin(), problem_.constraints.begin(), problem_.constraints.end());
  for (const problem::Constraint& constraint : constraints) {
    SolverRelation relation;
    for (const problem::Monomial& m : constraint.lhs) relation.lhs.push_back(monomial_of(m));
    for (const problem::Monomial& m : constraint.rhs) relation.rhs.push_back(monomial_of(m));
    all.push_back(std::move(relation));
  }
  return all;
}

}  // namespace schaas::frontier
