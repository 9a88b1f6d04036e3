#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <unordered_map>

#include "compiler/frontier/proofs/log_bounds.h"
#include "compiler/space/space.h"

namespace schaas::frontier {

/// Proof that sum(winner) <= sum(loser) at every allowed size.
enum class SumProof {
  none,
  termwise,     ///< each winner term is at most a loser term of its own, checked in integers
  distributed,  ///< the winner's terms are dealt out over the loser's in shares, checked in fractions
};

/// Takes common terms out of two sums of sorted terms: equal ones, and those of the same variables that
/// weigh the same together.
void cancel_common_terms(std::vector<cost::Term>& left, std::vector<cost::Term>& right);

/// Proofs without a solver (docs/cost_model.md). `none` says nothing.
SumProof prove_at_most(LogBounds& bounds, std::span<const cost::Term> winner,
                       std::span<const cost::Term> loser);

/// A temporary that provably holds at most so many elements stays in a thread's first-level cache and counts
/// nothing (0: only scalars are free).
std::int64_t free_elements(problem::Profile profile);

/// Sample points at which sums are compared before any proof is tried.
constexpr std::size_t pairwise_samples = 256;

/// Findings of all copies of one ProvenDominance.
struct Findings {
  static constexpr std::size_t max_proofs = 20'000;
  std::mutex mutex;
  std::set<cost::Term> too_large;
  /// (winner, loser) -> how; in the normal form of space::Dominance.
  std::map<std::pair<std::vector<cost::Term>, std::vector<cost::Term>>, SumProof> proofs;
  std::uint64_t more_proofs = 0;  ///< beyond max_proofs
};

/// Dominance that follows from the problem's constraints. Temporaries provably of at most
/// `free_elements` count nothing, those provably of more than `max_elements` do not fit (0: all fit).
class ProvenDominance final : public space::Dominance {
 public:
  ProvenDominance(LogBounds& bounds, std::size_t samples, std::int64_t free_elements,
                  std::int64_t max_elements = 0);
  const std::vector<cost::Point>& samples() const override { return samples_; }
  bool free(cost::Term elements) override;
  bool fits(cost::Term elements) override;
  bool time_at_most(std::span<const cost::Term> winner, std::span<const cost::Term> loser) override;
  bool memory_at_most(std::span<const cost::Term> winner, std::span<const cost::Term> loser) override;
  std::unique_ptr<space::Dominance> another() const override;
  const Findings& findings() const { return *findings_; }

 private:
  ProvenDominance(const ProvenDominance& other);
  bool at_most(std::span<const cost::Term> winner, std::span<const cost::Term> loser);

  std::unique_ptr<LogBounds> own_bounds_;  ///< bounds of one made by another()
  LogBounds& bounds_;
  std::int64_t free_elements_, max_elements_;
  std::vector<cost::Point> samples_;
  std::unordered_map<cost::Term, bool> fits_;
  std::shared_ptr<Findings> findings_;
};

}  // namespace schaas::frontier
