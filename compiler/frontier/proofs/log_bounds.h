#pragma once
#include <bitset>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include <gmpxx.h>

#include "compiler/cost/cost.h"
#include "compiler/frontier/proofs/integer_multipliers.h"
#include "compiler/frontier/proofs/simplex.h"
#include "compiler/frontier/proofs/solver.h"
#include "compiler/problem/problem.h"

/// The constraints in logarithms, where they are linear (docs/cost_model.md, "Proofs without a
/// solver").
namespace schaas::frontier {

/// A copy and its original store the same number of elements. Not where dense levels stand below compressed
/// ones, or all levels of one are dense.
bool holds_as_many(const problem::Copy& copy, const problem::Problem& problem);

/// The allowed sizes of one problem: extents >= 1, 0 <= fiber <= extent, and the problem's constraints. A
/// fiber is at least 1 below a compressed level, whose stored entries lead to one each. So it is at a first
/// level that a constraint keeps from being empty. The matches of lists are at most each list, those of fewer
/// lists and their steps. Steps are at most the extent and the sum of the lists.
///
/// In logarithms a constraint of monomials is a row of a linear program. Its coefficients are integers, its
/// bound is the logarithm of a rational. a + b <= c gives two rows; a <= b + c gives none (leaving out
/// a constraint only allows more). The columns are log(extent) >= 0 and log(extent / fiber) >= 0; the fibers
/// are those of the cost, then those only constraints speak of (the result's). Not thread-safe (ratios are
/// remembered).
class LogBounds {
 public:
  explicit LogBounds(const problem::Problem& problem);

  /// False when the rows contradict each other.
  bool feasible() const { return program_.feasible(); }
  /// True when the rows say all that the constraints say: none of them has a sum.
  bool exact() const { return exact_; }

  /// Proven in integers: weighted `a` <= `b` times ratio at every allowed size. Weights are those of
  /// cost::weight.
  bool at_most(cost::Term a, cost::Term b);
  /// Proven in integers: the product of the term's variables is at most `limit`.
  bool at_most(cost::Term a, std::int64_t limit);
  /// An upper bound of weighted a / b (double precision, padded), infinity when there is none.
  double largest_ratio(cost::Term a, cost::Term b);
  /// The same as a fraction that is certified in integers; none when there is no bound or no certificate.
  std::optional<mpq_class> certified_ratio(cost::Term a, cost::Term b);
  /// A value the product of the term's variables never falls below, certified in integers.
  mpq_class least(cost::Term term);

  /// Allowed sizes: a middle first, then corners (unbounded directions cut off) and mixtures, the same on
  /// every run. Entry first_fiber + n of a point is the value of fibers()[n].
  std::vector<cost::Point> samples(std::size_t count) const;
  /// Allowed sizes, variables of up to `most`, at which a / b is as large as can be; none when there is no
  /// allowed size below `most`, or when the constraints the logarithm does not see forbid it.
  std::optional<cost::Point> extreme(cost::Term a, cost::Term b, double most);
  /// The point of a solver's model.
  cost::Point point_of_model(const std::vector<double>& model) const;

  /// All constraints, without relaxation, for a solver; `variables` numbers the columns by bit.
  std::vector<SolverRelation> relations() const;
  int solver_variables() const { return extents_ + fibers_; }
  int solver_variable(int bit) const;
  SolverSum solver_sum(const std::vector<cost::Term>& terms) const;  ///< with weights
  const cost::Variables& variables() const { return variables_; }
  const std::vector<cost::Variable>& fibers() const { return fiber_; }
  /// With the copies costs speak of.
  const problem::Problem& problem() const { return problem_; }

 private:
  using Form = std::vector<int>;  ///< integer coefficients of the columns
  struct Ratio {
    double largest = 0;  ///< largest of the products, without weights
    std::vector<int>
        times;  ///< multipliers in units of 1/divisor, exactly sufficient; empty when not certified
    int divisor = 1;
    std::optional<mpq_class> certified;  ///< computed on demand
    /// at_most by access classes (bit access_classes * a's + b's), once asked.
    std::bitset<cost::access_classes * cost::access_classes> asked, proven;
  };

  Form form_of(cost::Term term) const;
  void add_power(Form& form, const problem::Symbol& symbol, int exponent) const;
  void add_rows(const problem::Constraint& constraint);
  void add_ties();
  std::vector<problem::Constraint> copied_entries() const;
  void add_nonempty(const problem::Constraint& constraint);
  void add_inferred();
  void set_nonempty(std::size_t fiber);
  /// visit(a, b) for columns of fibers of which the first is never above the second.
  template <class Visit>
  void each_ordered(const Visit& visit) const;
  bool same_level(int a, int b) const;
  SolverSum sum_of_lists(const cost::Variable& steps) const;
  Ratio& ratio(cost::Term a, cost::Term b);
  /// product(bounds ^ times) * numerator^divisor <= denominator^divisor
  bool proves(const Ratio& ratio, const mpz_class& numerator, const mpz_class& denominator) const;
  std::vector<LinearRow> linear_rows() const;
  SolverMonomial monomial_of(const problem::Monomial& monomial) const;
  std::optional<int> fiber_of(const std::string& tensor, int level) const;
  bool allowed(const cost::Point& point, const std::vector<SolverRelation>& relations) const;
  Simplex program_below(double cut) const;
  struct Box;
  Box& box_below(double most);
  std::vector<std::vector<double>> corners(double cut, std::size_t more) const;
  cost::Point point_of(const std::vector<double>& columns) const;

  const problem::Problem problem_;
  cost::Variables variables_;
  std::vector<cost::Variable> fiber_;  ///< those of the cost, then the others
  int extents_ = 0, fibers_ = 0;
  std::vector<int> extent_of_fiber_;
  std::vector<bool> nonempty_;  ///< per fiber
  std::vector<ExactRow> rows_;
  bool exact_ = true;
  Simplex program_;
  struct TermPair {
    cost::Term a, b;
    bool operator==(const TermPair&) const = default;
  };
  struct TermPairHash {
    std::size_t operator()(const TermPair& pair) const {
      std::uint64_t hash = pair.a * 0x9e3779b97f4a7c15ULL ^ (pair.b + 0x7f4a7c15) * 0xbf58476d1ce4e5b9ULL;
      return static_cast<std::size_t>(hash ^ hash >> 31);
    }
  };
  std::unordered_map<TermPair, Ratio, TermPairHash> ratios_;
  /// Sizes up to a limit, with the extremes found among them.
  struct Box {
    Simplex program;
    std::unordered_map<TermPair, std::optional<cost::Point>, TermPairHash> extremes{};
  };
  std::map<double, Box> boxes_;
  std::optional<std::vector<SolverRelation>> known_relations_;
};

}  // namespace schaas::frontier
