#include <z3++.h>

#include <string>

#include "compiler/frontier/solver.h"

namespace schaas::frontier {
namespace {

/// One long-lived context: making one costs three times a query. Reals and qfnra-nlsat only: Int with a
/// timeout hangs in 4.8.12, and the other real tactics do not always honour the timeout.
class Z3Solver final : public Solver {
 public:
  void assume(int variables, const std::vector<SolverRelation>& constraints) override {
    variables_.clear();
    assumptions_.clear();
    for (int n = 0; n < variables; ++n) {
      variables_.push_back(context_.real_const(("v" + std::to_string(n)).c_str()));
      assumptions_.push_back(variables_.back() >= 0);
    }
    for (const SolverRelation& relation : constraints) assumptions_.push_back(translate(relation));
  }

  Verdict check(const SolverRelation& relation, int milliseconds) override {
    try {
      z3::solver solver =
          z3::try_for(z3::tactic(context_, "qfnra-nlsat"), static_cast<unsigned>(milliseconds)).mk_solver();
      for (const z3::expr& assumption : assumptions_) solver.add(assumption);
      solver.add(translate(relation));
      switch (solver.check()) {
        case z3::sat:
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

 private:
  z3::expr translate(const SolverSum& sum) {
    z3::expr total = context_.real_val(0);
    bool first = true;
    for (const SolverMonomial& monomial : sum) {
      z3::expr product = context_.real_val(std::to_string(monomial.coefficient).c_str());
      for (int v : monomial.variables) product = product * variables_[static_cast<std::size_t>(v)];
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

  z3::context context_;
  std::vector<z3::expr> variables_;
  std::vector<z3::expr> assumptions_;
};

}  // namespace

std::unique_ptr<Solver> make_z3_solver() { return std::make_unique<Z3Solver>(); }

}  // namespace schaas::frontier
