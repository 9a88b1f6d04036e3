// Soundness of the comparison of two cost classes. Each part of a proof is tested alone: the sizes that are
// sampled would refute most of the pairs that an unsound proof lets through.
#include "compiler/frontier/pairwise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/frontier/proofs/integer_multipliers.h"

namespace schaas::frontier {
namespace {

using testing::ElementsAre;

/// Index order: i=0, l=1, j=2, k=3.
constexpr cost::Term i = 1, l = 2, j = 4, k = 8;

cost::Term serial(cost::Term term) { return term | cost::serial_bit; }

problem::Problem problem_of(const std::vector<std::string>& constraints) {
  problem::ProblemText text;
  text.expression = "A(i,l) = B(i,j) * C(j,k) * D(k,l)";
  text.constraints = constraints;
  return problem::build(text).value();
}

/// Answers every question alike, and counts them.
class FixedSolver final : public Solver {
 public:
  explicit FixedSolver(Verdict verdict) : verdict_(verdict) {}
  void assume(int, const std::vector<SolverRelation>&) override {}
  Verdict check_all(const std::vector<SolverRelation>&, int) override {
    ++asked;
    return verdict_;
  }
  std::vector<double> model() const override { return {}; }
  int asked = 0;

 private:
  Verdict verdict_;
};

/// Compares classes of one problem at so many sampled sizes.
class Comparison {
 public:
  Comparison(const std::vector<std::string>& constraints, std::size_t samples, Solver& solver)
      : bounds_(problem_of(constraints)),
        dominance_(bounds_, samples, 0),
        pairwise_(bounds_, dominance_, solver, options_, counts) {}

  bool proves(const cost::Cost& winner, const cost::Cost& loser) {
    return pairwise_.proof(winner, loser).has_value();
  }
  support::Result<Pairwise::Outcome> prune(const std::vector<cost::Cost>& classes) {
    return pairwise_.prune(classes, [](std::uint64_t, std::uint64_t) {}, {});
  }
  Counts counts;

 private:
  const Options options_;
  LogBounds bounds_;
  ProvenDominance dominance_;
  Pairwise pairwise_;
};

/// Neither of the two is at most the other everywhere, so at one sampled size one of them gets past the
/// sample: a proof has to refuse it.
void expect_neither(const cost::Cost& one, const cost::Cost& other) {
  const auto solver = make_z3_solver();
  Comparison comparison({}, 1, *solver);
  EXPECT_FALSE(comparison.proves(one, other));
  EXPECT_FALSE(comparison.proves(other, one));
}

TEST(Pairwise, ProvesTime) { expect_neither({{i | j}, {}}, {{i | k}, {}}); }
TEST(Pairwise, ProvesMemory) { expect_neither({{i}, {j}}, {{i}, {k}}); }
/// The sums of all terms are equal: the serial ones alone tell the two apart.
TEST(Pairwise, ProvesSerialTime) {
  expect_neither({{i | j, serial(i | k)}, {}}, {{i | k, serial(i | j)}, {}});
}

TEST(Pairwise, AcceptsSmallerTimeSerialTimeAndMemory) {
  const auto solver = make_z3_solver();
  Comparison comparison({}, 16, *solver);
  EXPECT_TRUE(comparison.proves({{i, serial(l)}, {j}}, {{i | k, serial(l | k)}, {j | k}}));
  EXPECT_FALSE(comparison.proves({{i | k, serial(l | k)}, {j | k}}, {{i, serial(l)}, {j}}));
}

TEST(Pairwise, SamplesTimeSerialTimeAndMemoryBeforeItAsksTheSolver) {
  const cost::Cost small{{i}, {}};
  for (const cost::Cost& large :
       {cost::Cost{{i | k}, {}}, cost::Cost{{serial(i)}, {}}, cost::Cost{{i}, {k}}}) {
    FixedSolver solver(Verdict::unsatisfiable);
    Comparison comparison({"2 <= k"}, 16, solver);
    EXPECT_FALSE(comparison.proves(large, small));
    EXPECT_EQ(comparison.counts.witnesses, 1U);
    EXPECT_EQ(solver.asked, 0);
  }
}

/// j <= k + l is a sum, which logarithms do not see: the solver alone can prove it.
const std::vector<std::string> sum{"j <= k + l"};
const cost::Cost one_term{{j}, {}}, two_terms{{l, k}, {}};

TEST(Pairwise, TakesTheSolversProof) {
  const auto solver = make_z3_solver();
  Comparison comparison(sum, 16, *solver);
  EXPECT_TRUE(comparison.proves(one_term, two_terms));
  EXPECT_EQ(comparison.counts.solver_pairs, 1U);
}

TEST(Pairwise, TakesNothingElseOfTheSolverForAProof) {
  for (const Verdict verdict : {Verdict::unknown, Verdict::satisfiable}) {
    FixedSolver solver(verdict);
    Comparison comparison(sum, 16, solver);
    EXPECT_FALSE(comparison.proves(one_term, two_terms));
    EXPECT_EQ(solver.asked, 1);
    const auto outcome = comparison.prune({one_term, two_terms});
    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(outcome->kept.size(), 2U);
    EXPECT_EQ(outcome->complete, verdict == Verdict::satisfiable) << "an open question leaves too much";
  }
}

TEST(Pairwise, TakesNoProofOfASolverWithoutTime) {
  FixedSolver solver(Verdict::unsatisfiable);
  Options options;
  options.solver_total_milliseconds = 0;
  Counts counts;
  BudgetedSolver without_time(solver, options, counts);
  EXPECT_EQ(without_time.ask({}), Verdict::unknown);
  EXPECT_FALSE(without_time.complete());
  EXPECT_EQ(solver.asked, 0);
}

/// Notes the limit of each question and answers as told.
struct LimitedSolver : Solver {
  void assume(int, const std::vector<SolverRelation>&) override {}
  Verdict check_all(const std::vector<SolverRelation>&, int milliseconds) override {
    limits.push_back(milliseconds);
    return verdict;
  }
  std::vector<double> model() const override { return {}; }
  Verdict verdict = Verdict::unknown;
  std::vector<int> limits;
};

TEST(BudgetedSolver, GivesQuestionsAfterOpenOnesLessTime) {
  LimitedSolver solver;
  const Options options{.solver_milliseconds = 80};
  Counts counts;
  BudgetedSolver budgeted(solver, options, counts);
  for (int n = 0; n < 5; ++n) budgeted.ask({});
  solver.verdict = Verdict::satisfiable;
  for (int n = 0; n < 2; ++n) budgeted.ask({});
  EXPECT_THAT(solver.limits, ElementsAre(80, 40, 20, 10, 10, 10, 80));
}

/// Notes the time that each question has left, of a day.
struct TimedSolver : LimitedSolver {
  Verdict check_all(const std::vector<SolverRelation>&, int) override {
    left.push_back(time_left(std::chrono::hours(24)));
    return Verdict::unknown;
  }
  std::vector<std::chrono::milliseconds> left;
};

TEST(BudgetedSolver, EndsQuestionsWithTheBudget) {
  TimedSolver solver;
  const Options options;
  Counts counts;
  BudgetedSolver budgeted(solver, options, counts);
  const auto now = support::Cancellation::Clock::now();
  const support::Cancellation outer(now + std::chrono::hours(1));
  const support::Cancellation inner(outer, now + std::chrono::hours(2)), over(outer, now);
  budgeted.ask({});
  for (const support::Cancellation* budget : {&outer, &inner, &over}) {
    budgeted.end_with(*budget);
    budgeted.ask({});
  }
  ASSERT_EQ(solver.left.size(), 4U);
  EXPECT_EQ(solver.left[0], std::chrono::hours(24));
  EXPECT_LE(solver.left[1], std::chrono::hours(1));
  EXPECT_GT(solver.left[1], std::chrono::minutes(30));
  EXPECT_LE(solver.left[2], std::chrono::hours(1)) << "the earlier of two deadlines";
  EXPECT_EQ(solver.left[3], std::chrono::hours(0));
}

// x + 2y <= log 4, y <= log 3; the objective x + y.
const std::vector<ExactRow> rows{{{1, 2}, 4, 1}, {{0, 1}, 3, 1}};

TEST(IntegerMultipliers, AreMultiplesThatBoundTheObjective) {
  EXPECT_THAT(integer_multipliers(rows, {1, 1}, {1, 0}, 1).value(), ElementsAre(1, 0));
  EXPECT_THAT(integer_multipliers(rows, {0, 1}, {0.5, 0}, 2).value(), ElementsAre(1, 0));
  EXPECT_THAT(integer_multipliers(rows, {0, 1}, {0.5 + 1e-9, 1e-9}, 2).value(), ElementsAre(1, 0));
}

TEST(IntegerMultipliers, AreCheckedInEveryColumn) {
  EXPECT_FALSE(integer_multipliers(rows, {1, 1}, {0, 1}, 1)) << "x is not bounded";
  EXPECT_FALSE(integer_multipliers(rows, {1, 3}, {1, 0}, 1)) << "y is bounded by twice, not three times";
  EXPECT_FALSE(integer_multipliers(rows, {1, 1}, {0.5, 0.5}, 2)) << "half of x is bounded";
}

TEST(IntegerMultipliers, AreNotRoundedFromAfar) {
  EXPECT_FALSE(integer_multipliers(rows, {1, 1}, {0.9, 0}, 1)) << "0.9 rounds to 1";
  EXPECT_FALSE(integer_multipliers(rows, {1, 1}, {1.001, 0}, 1));
}

TEST(IntegerMultipliers, AreNotNegative) {
  EXPECT_FALSE(integer_multipliers(rows, {1, 1}, {1, -1}, 1)) << "a row times -1 says the reverse";
}

}  // namespace
}  // namespace schaas::frontier
