#include "compiler/frontier/pairwise.h"

#include <algorithm>
#include <optional>

#include "compiler/cost/tie_order.h"

// Stage 3: pairs of classes, cheapest argument first. Samples tell most pairs apart; then proofs in
// logarithms, corners of the allowed sizes, and the solver. Memory, serial time and time are decided
// separately, memory first, whose sums are short. The relation is transitive, so a winner that is removed
// later leaves its losers covered. Of classes that cover each other the first in the order of ties stays
// (cost/tie_order.h), whatever else is compared. A question that stays open keeps both classes.
namespace schaas::frontier {
namespace {

/// Corners are looked for below these sizes.
constexpr double corner_sizes[] = {1e6, 1e12};

/// Some value is above its like by more than rounding.
bool worse_somewhere(const std::vector<double>& a, const std::vector<double>& b) {
  for (std::size_t n = 0; n < a.size(); ++n) {
    if (a[n] > b[n] * (1 + 1e-9)) return true;
  }
  return false;
}

}  // namespace

/// A class with what comparisons need again and again.
struct Pairwise::Entry {
  cost::Cost cost;
  std::vector<cost::Term> memory;  ///< without free temporaries
  std::vector<cost::Term> serial;
  std::vector<double> time_values, serial_values, memory_values;
  double elements = 0;  ///< with free temporaries, for the order of ties
  cost::TiedClass tied() const { return {cost.time, cost.memory, elements}; }
};

Pairwise::Pairwise(LogBounds& bounds, ProvenDominance& dominance, Solver& solver, const Options& options,
                   Counts& counts)
    : bounds_(bounds), dominance_(dominance), counts_(counts), solver_(solver, options, counts) {
  solver.assume(bounds_.solver_variables(), bounds_.relations());
}

Pairwise::Entry Pairwise::entry_of(const cost::Cost& cost) {
  Entry entry;
  entry.cost = cost;
  const auto serial = cost::serial_terms(cost.time);
  entry.serial.assign(serial.begin(), serial.end());
  for (cost::Term term : cost.memory) {
    if (!dominance_.free(term)) entry.memory.push_back(term);
  }
  for (const cost::Point& point : dominance_.samples()) {
    entry.time_values.push_back(cost::evaluate_time(cost, point));
    entry.serial_values.push_back(cost::evaluate_serial(cost, point));
    entry.memory_values.push_back(cost::evaluate_memory({{}, entry.memory}, point));
  }
  for (const cost::Term term : cost.memory) entry.elements += cost::reference_elements(term);
  return entry;
}

/// Asks for sizes at which the loser's sum is less; none are a proof.
bool Pairwise::solver_proves(const std::vector<cost::Term>& winner, const std::vector<cost::Term>& loser) {
  asked_ = true;
  return solver_.ask({{bounds_.solver_sum(loser), bounds_.solver_sum(winner), true}}) ==
         Verdict::unsatisfiable;
}

/// Some corner of the allowed sizes where one winner's term is largest against one of the loser's shows that
/// the solver would find no proof. Each takes one linear program.
bool Pairwise::corner_refutes(const std::vector<cost::Term>& winner, const std::vector<cost::Term>& loser) {
  for (const double most : corner_sizes) {
    for (const cost::Term above : winner) {
      for (const cost::Term below : loser) {
        const auto corner = bounds_.extreme(above, below, most);
        if (corner && worse_somewhere({cost::evaluate_time({winner, {}}, *corner)},
                                      {cost::evaluate_time({loser, {}}, *corner)}))
          return true;
      }
    }
  }
  return false;
}

/// Decides one objective.
Pairwise::Answer Pairwise::at_most(std::vector<cost::Term> winner, std::vector<cost::Term> loser) {
  cancel_common_terms(winner, loser);
  switch (prove_at_most(bounds_, winner, loser)) {
    case SumProof::termwise:
      return Answer::termwise;
    case SumProof::distributed:
      return Answer::log_proof;
    case SumProof::none:
      break;
  }
  if (corner_refutes(winner, loser)) return Answer::no;
  return solver_proves(winner, loser) ? Answer::solver : Answer::no;
}

/// Decides all objectives. The answer names the dearest argument that was needed.
Pairwise::Answer Pairwise::covers(const Entry& winner, const Entry& loser) {
  if (worse_somewhere(winner.time_values, loser.time_values) ||
      worse_somewhere(winner.serial_values, loser.serial_values) ||
      worse_somewhere(winner.memory_values, loser.memory_values)) {
    ++counts_.witnesses;
    return Answer::no;
  }
  asked_ = false;
  Answer answer = at_most(winner.memory, loser.memory);
  for (const auto& [ours, theirs] :
       {std::pair(&winner.serial, &loser.serial), std::pair(&winner.cost.time, &loser.cost.time)}) {
    if (answer == Answer::no) break;
    const Answer more = at_most(*ours, *theirs);
    answer = more == Answer::no ? Answer::no : std::max(answer, more);
  }
  ++(asked_ ? counts_.solver_pairs : counts_.log_proofs);
  return answer;
}

/// Returns the winner and a sentence with the compared sums and the argument.
Certificate Pairwise::certificate(const Entry& winner, const Entry& loser, Answer how) const {
  Certificate result;
  result.winner = winner.cost;
  std::string reason;
  switch (how) {
    case Answer::termwise:
      result.kind = Certificate::Kind::termwise;
      reason = "each of the winner's terms is at most another term of this class under the constraints";
      break;
    case Answer::log_proof:
      result.kind = Certificate::Kind::log_proof;
      reason =
          "the winner's terms can be dealt out in shares over the terms of this class, none overfull, by the "
          "largest "
          "ratios the constraints allow";
      break;
    case Answer::solver:
    case Answer::no:
      result.kind = Certificate::Kind::solver;
      reason = "the constraints together with a smaller time, serial time or memory are unsatisfiable (Z3)";
      break;
  }
  result.argument << "at every allowed size " << time_sum(winner.cost.time)
                  << " <= " << time_sum(loser.cost.time) << " and " << memory_sum(winner.memory)
                  << " <= " << memory_sum(loser.memory);
  if (!winner.serial.empty())
    result.argument << " and " << time_sum(winner.serial) << " <= " << time_sum(loser.serial);
  result.argument << ": " + reason;
  return result;
}

std::optional<Certificate> Pairwise::proof(const cost::Cost& winner, const cost::Cost& loser) {
  const Entry better = entry_of(winner), worse = entry_of(loser);
  const Answer how = covers(better, worse);
  if (how == Answer::no) return std::nullopt;
  return certificate(better, worse, how);
}

support::Result<Pairwise::Outcome> Pairwise::prune(
    std::vector<cost::Cost> classes, const std::function<void(std::uint64_t, std::uint64_t)>& progress,
    const support::Cancellation& cancellation, const support::Cancellation& budget) {
  solver_.end_with(budget);
  std::vector<Entry> entries;
  for (const cost::Cost& cost : classes) entries.push_back(entry_of(cost));
  // Best first at the middle of the allowed sizes.
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    if (a.time_values[0] != b.time_values[0]) return a.time_values[0] < b.time_values[0];
    return cost::stays_before(a.tied(), b.tied());
  });
  // Rounding may have sorted classes of equal cost otherwise.
  const auto goes_instead = [&](const Entry& winner, const Entry& loser) {
    return cost::stays_before(loser.tied(), winner.tied()) &&
           !worse_somewhere(loser.time_values, winner.time_values) && covers(loser, winner) != Answer::no;
  };
  std::vector<bool> removed(entries.size(), false);
  Outcome outcome;
  // The worst first, so that of equal classes the better one is still there to win.
  for (std::size_t s = entries.size(); s-- > 0 && !outcome.ended;) {
    progress(entries.size() - s, entries.size());
    for (std::size_t c = 0; c < entries.size() && !removed[s]; ++c) {
      if (c == s || removed[c]) continue;
      SCHAAS_RETURN_IF_ERROR(cancellation.check("comparing cost classes"));
      outcome.ended = !budget.check("comparing cost classes").ok();
      if (outcome.ended) break;
      const Answer how = covers(entries[c], entries[s]);
      if (how == Answer::no || goes_instead(entries[c], entries[s])) continue;
      removed[s] = true;
      outcome.removals.push_back({entries[s].cost, certificate(entries[c], entries[s], how)});
    }
  }
  for (std::size_t n = 0; n < entries.size(); ++n) {
    if (!removed[n]) outcome.kept.push_back(entries[n].cost);
  }
  outcome.complete = solver_.complete() && !outcome.ended;
  return outcome;
}

}  // namespace schaas::frontier
