#pragma once
#include <functional>
#include <utility>
#include <vector>

#include "compiler/frontier/budgeted_solver.h"
#include "compiler/frontier/frontier.h"
#include "compiler/frontier/proofs/log_proof.h"

namespace schaas::frontier {

/// Stage 3: every class against every other, cheapest argument first. These are sizes at which the winner
/// would lose, termwise and distributed proofs, then the solver. It decides time, serial time and memory
/// separately.
class Pairwise {
 public:
  /// Adds to `counts` by which argument pairs are settled.
  Pairwise(LogBounds& bounds, ProvenDominance& dominance, Solver& solver, const Options& options,
           Counts& counts);

  /// Returns the reason why `winner` needs no more of anything than `loser` at every allowed size; none when
  /// that is not proven.
  std::optional<Certificate> proof(const cost::Cost& winner, const cost::Cost& loser);

  struct Outcome {
    std::vector<cost::Cost> kept;
    std::vector<Removal> removals;
    bool complete = true;
    bool ended = false;  ///< by the budget: classes that were not compared any more are kept
  };
  /// `progress(done, of)`. When `budget` is over, what was not compared yet is kept. Errors: exhausted
  /// (`cancellation`).
  support::Result<Outcome> prune(std::vector<cost::Cost> classes,
                                 const std::function<void(std::uint64_t, std::uint64_t)>& progress,
                                 const support::Cancellation& cancellation,
                                 const support::Cancellation& budget);
  support::Result<Outcome> prune(std::vector<cost::Cost> classes,
                                 const std::function<void(std::uint64_t, std::uint64_t)>& progress,
                                 const support::Cancellation& cancellation) {
    return prune(std::move(classes), progress, cancellation, cancellation);
  }

 private:
  struct Entry;
  enum class Answer { no, termwise, log_proof, solver };
  Entry entry_of(const cost::Cost& cost);
  Answer covers(const Entry& winner, const Entry& loser);
  Answer at_most(std::vector<cost::Term> winner, std::vector<cost::Term> loser);
  bool corner_refutes(const std::vector<cost::Term>& winner, const std::vector<cost::Term>& loser);
  bool solver_proves(const std::vector<cost::Term>& winner, const std::vector<cost::Term>& loser);
  Certificate certificate(const Entry& winner, const Entry& loser, Answer how) const;

  LogBounds& bounds_;
  ProvenDominance& dominance_;
  Counts& counts_;
  BudgetedSolver solver_;
  bool asked_ = false;  ///< the solver, about the pair at hand
};

}  // namespace schaas::frontier
