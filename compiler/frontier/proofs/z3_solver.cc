#include <z3++.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>

#include "compiler/frontier/proofs/solver.h"

// Z3 behind the interface of solver.h, its nlsat over reals (Jovanovic and de Moura, Solving non-linear
// arithmetic, 2012). Constraints are translated once. Each question asserts them in a solver of its own, so
// that a query that ran out of steps leaves nothing behind. Limits are steps. Times
// would leave other questions open on a slow machine than on a fast one.
namespace schaas::frontier {
namespace {

/// A question may take longer than its steps stand for by this factor; then it is ended by the clock.
constexpr int max_slowness = 50;

/// One long-lived context, made for the first question: making one costs three times a query. Reals and
/// qfnra-nlsat only: Int with a timeout hangs in 4.8.12, and the other real tactics do not always honour the
/// timeout.
class Z3Solver final : public Solver {
 public:
  void assume(int variables, const std::vector<SolverRelation>& constraints) override {
    count_ = variables;
    constraints_ = constraints;
    told_ = false;
  }

  Verdict check_all(const std::vector<SolverRelation>& relations, int milliseconds) override {
    model_.clear();
    steps_ = milliseconds * steps_per_millisecond;  // for a question that ends by an exception
    try {
      if (!context_) context_ = std::make_unique<Context>();
      if (!told_) context_->assume(count_, constraints_);
      told_ = true;
      const auto left = time_left(std::chrono::milliseconds(milliseconds) * max_slowness);
      if (left.count() == 0) return Verdict::unknown;
      z3::solver solver =
          z3::try_for(z3::tactic(context_->z3, "qfnra-nlsat"), clipped(left.count())).mk_solver();
      z3::params limits(context_->z3);
      limits.set("rlimit", clipped(milliseconds * steps_per_millisecond));
      solver.set(limits);
      const std::int64_t before = total_steps_;
      for (const z3::expr& assumption : context_->assumptions) solver.add(assumption);
      for (const SolverRelation& relation : relations) solver.add(context_->translate(relation));
      const z3::check_result checked = solver.check();
      total_steps_ = steps_of(solver);
      steps_ = total_steps_ - before;
      switch (checked) {
        case z3::sat:
          read(solver.get_model());
          return Verdict::satisfiable;
        case z3::unsat:
          return Verdict::unsatisfiable;
        case z3::unknown:
          return Verdict::unknown;
      }
    } catch (const z3::exception&) {
      // A cancelled tactic reports itself so; the pair is simply not decided.
    }
    return Verdict::unknown;
  }

  std::vector<double> model() const override { return model_; }
  std::int64_t steps() const override { return steps_; }

 private:
  static unsigned clipped(std::int64_t number) {
    return static_cast<unsigned>(std::min<std::int64_t>(number, std::numeric_limits<unsigned>::max()));
  }
  /// Returns the steps of all questions of the solver's context.
  static std::int64_t steps_of(const z3::solver& solver) {
    const z3::stats all = solver.statistics();
    for (unsigned n = 0; n < all.size(); ++n) {
      if (all.key(n) == "rlimit count")
        return all.is_uint(n) ? std::int64_t{all.uint_value(n)}
                              : static_cast<std::int64_t>(all.double_value(n));
    }
    return 0;
  }
  struct Context {
    void assume(int count, const std::vector<SolverRelation>& constraints) {
      variables.clear();
      assumptions.clear();
      for (int n = 0; n < count; ++n) {
        variables.push_back(z3.real_const(("v" + std::to_string(n)).c_str()));
        assumptions.push_back(variables.back() >= 0);
      }
      for (const SolverRelation& relation : constraints) assumptions.push_back(translate(relation));
    }
    z3::expr translate(const SolverSum& sum) {
      z3::expr total = z3.real_val(0);
      bool first = true;
      for (const SolverMonomial& monomial : sum) {
        z3::expr product = z3.real_val(std::to_string(monomial.coefficient).c_str());
        for (int v : monomial.variables) product = product * variables[static_cast<std::size_t>(v)];
        total = first ? product : total + product;
        first = false;
      }
      return total;
    }
    z3::expr translate(const SolverRelation& relation) {
      const z3::expr lhs = translate(relation.lhs);
      const z3::expr rhs = translate(relation.rhs);
      return relation.strict ? lhs < rhs : lhs <= rhs;
    }
    z3::context z3;
    std::vector<z3::expr> variables, assumptions;
  };

  /// Algebraic numbers are cut off after sixteen decimals; "1.414?" says so with a question mark.
  void read(const z3::model& model) {
    for (const z3::expr& variable : context_->variables) {
      const std::string text = model.eval(variable, true).get_decimal_string(16);
      model_.push_back(std::strtod(text.c_str(), nullptr));
    }
  }

  int count_ = 0;
  std::vector<SolverRelation> constraints_;
  bool told_ = false;  ///< the context knows the constraints
  std::unique_ptr<Context> context_;
  std::vector<double> model_;
  std::int64_t total_steps_ = 0;  ///< steps of all questions of the context
  std::int64_t steps_ = 0;        ///< steps of the last question
};

}  // namespace

std::unique_ptr<Solver> make_z3_solver() { return std::make_unique<Z3Solver>(); }

std::unique_ptr<Solver> make_solver(const SolverFactory& factory, const support::Cancellation& cancellation) {
  return factory ? factory(cancellation) : make_z3_solver();
}

}  // namespace schaas::frontier
