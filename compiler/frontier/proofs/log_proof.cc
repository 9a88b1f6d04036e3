#include "compiler/frontier/proofs/log_proof.h"

#include <algorithm>
#include <cmath>

// Proofs that one sum is at most another at every allowed size. Termwise: a maximum matching of the winner's
// terms with terms of the loser's that bound them. Distributed: each winner's term is dealt out in shares
// over the loser's terms, by a linear program whose solution is rounded and checked in fractions. Both
// suffice and neither is necessary: `none` leaves the question to the solver. Copies for other threads share
// the findings alone, under a mutex; bounds remember ratios and are each thread's own.
namespace schaas::frontier {
namespace {

/// Slack of the program, for the rounding of shares and of ratios.
constexpr double margin = 1e-7;

/// Maximum bipartite matching by augmenting paths: an injective map from winner terms to loser terms that
/// bound them.
class Matching {
 public:
  Matching(LogBounds& bounds, std::span<const cost::Term> winner, std::span<const cost::Term> loser)
      : bounds_(bounds), winner_(winner), loser_(loser), taken_(loser.size(), -1) {}

  bool complete() {
    for (std::size_t n = 0; n < winner_.size(); ++n) {
      std::vector<bool> tried(loser_.size(), false);
      if (!assign(n, tried)) return false;
    }
    return true;
  }

 private:
  bool assign(std::size_t n, std::vector<bool>& tried) {
    for (std::size_t m = 0; m < loser_.size(); ++m) {
      if (tried[m] || !bounds_.at_most(winner_[n], loser_[m])) continue;
      tried[m] = true;
      if (taken_[m] >= 0 && !assign(static_cast<std::size_t>(taken_[m]), tried)) continue;
      taken_[m] = static_cast<int>(n);
      return true;
    }
    return false;
  }
  LogBounds& bounds_;
  std::span<const cost::Term> winner_;
  std::span<const cost::Term> loser_;
  std::vector<int> taken_;
};

/// Part `value` of winner term `from` that is laid on loser term `to`.
struct Share {
  std::size_t from, to;
  double ratio;  ///< largest(from / to)
  double value = 0;
};

/// The shares, rounded to multiples of 2^-30 that sum to 1 for each winner term, in fractions.
bool certified(LogBounds& bounds, std::span<const cost::Term> winner, std::span<const cost::Term> loser,
               const std::vector<Share>& shares) {
  constexpr double grain = 1U << 30;
  std::vector<mpq_class> load(loser.size(), 0);
  for (std::size_t c = 0; c < winner.size(); ++c) {
    mpz_class left = mpz_class(1) << 30;
    // The largest share takes what rounding leaves, so that all sum to 1.
    const Share* largest = nullptr;
    const auto lay = [&](const Share& share, const mpz_class& part) {
      const auto ratio = bounds.certified_ratio(winner[share.from], loser[share.to]);
      if (!ratio) return false;
      mpq_class value(part, mpz_class(1) << 30);
      value.canonicalize();
      load[share.to] += value * *ratio;
      return true;
    };
    for (const Share& share : shares) {
      if (share.from != c) continue;
      if (largest == nullptr || share.value > largest->value) largest = &share;
    }
    for (const Share& share : shares) {
      if (share.from != c || &share == largest) continue;
      const mpz_class part(std::floor(std::max(0.0, share.value) * grain));
      if (part == 0) continue;
      left -= part;
      if (!lay(share, part)) return false;
    }
    if (left < 0 || largest == nullptr || !lay(*largest, left)) return false;
  }
  return std::all_of(load.begin(), load.end(), [](const mpq_class& one) { return one <= 1; });
}

/// Finds shares x(c,s) >= 0 with sum over s of x(c,s) = 1 and sum over c of x(c,s) * largest(c/s) <= 1. Then
/// c = sum x(c,s) c <= sum x(c,s) largest(c/s) s, and summing over c gives at most sum s. Found in double
/// precision with a margin that leaves room for rounding, then checked in fractions.
bool distributes(LogBounds& bounds, std::span<const cost::Term> winner, std::span<const cost::Term> loser) {
  std::vector<Share> shares;
  for (std::size_t c = 0; c < winner.size(); ++c) {
    const std::size_t before = shares.size();
    for (std::size_t s = 0; s < loser.size(); ++s) {
      const double ratio = bounds.largest_ratio(winner[c], loser[s]);
      // A larger ratio leaves room for less than a millionth of the term.
      if (ratio < static_cast<double>(1U << 20)) shares.push_back({c, s, ratio});
    }
    if (shares.size() == before) return false;
  }
  std::vector<LinearRow> rows;
  const auto add_row = [&](double bound, auto&& coefficient) {
    LinearRow row{{}, bound};
    for (const Share& share : shares) row.coefficients.push_back(coefficient(share));
    rows.push_back(std::move(row));
  };
  for (std::size_t c = 0; c < winner.size(); ++c)
    add_row(1, [&](const Share& x) { return x.from == c ? 1.0 : 0.0; });
  for (std::size_t s = 0; s < loser.size(); ++s) {
    add_row(1 - margin, [&](const Share& x) { return x.to == s ? x.ratio : 0.0; });
  }
  const Simplex program(static_cast<int>(shares.size()), rows);
  const auto optimum = program.maximise(std::vector<double>(shares.size(), 1));
  if (!optimum || optimum->value < static_cast<double>(winner.size()) - margin / 100) return false;
  for (std::size_t n = 0; n < shares.size(); ++n) shares[n].value = optimum->x[n];
  return certified(bounds, winner, loser, shares);
}

/// Returns what all terms with these variables weigh together.
int weight_of(const std::vector<cost::Term>& terms, cost::Term variables) {
  int sum = 0;
  for (const cost::Term term : terms)
    if ((term & cost::variables_mask) == variables) sum += cost::weight(cost::access_of(term));
  return sum;
}

}  // namespace

void cancel_common_terms(std::vector<cost::Term>& left, std::vector<cost::Term>& right) {
  std::vector<cost::Term> common;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(common));
  for (const cost::Term term : common) {
    left.erase(std::find(left.begin(), left.end(), term));
    right.erase(std::find(right.begin(), right.end(), term));
  }
  const std::vector<cost::Term> before = left;
  for (const cost::Term term : before) {
    const cost::Term variables = term & cost::variables_mask;
    if (weight_of(left, variables) != weight_of(right, variables)) continue;
    const auto same = [&](cost::Term other) { return (other & cost::variables_mask) == variables; };
    std::erase_if(left, same);
    std::erase_if(right, same);
  }
}

SumProof prove_at_most(LogBounds& bounds, std::span<const cost::Term> winner,
                       std::span<const cost::Term> loser) {
  if (winner.empty()) return SumProof::termwise;
  if (winner.size() <= loser.size() && Matching(bounds, winner, loser).complete()) return SumProof::termwise;
  if (loser.empty()) return SumProof::none;
  return distributes(bounds, winner, loser) ? SumProof::distributed : SumProof::none;
}

std::int64_t free_elements(problem::Profile profile) {
  return profile == problem::Profile::standard ? 4096 : 0;
}

ProvenDominance::ProvenDominance(LogBounds& bounds, std::size_t samples, std::int64_t max_free,
                                 std::int64_t max_elements)
    : bounds_(bounds),
      free_elements_(max_free),
      max_elements_(max_elements),
      samples_(bounds.samples(samples)),
      findings_(std::make_shared<Findings>()) {}

ProvenDominance::ProvenDominance(const ProvenDominance& other)
    : own_bounds_(std::make_unique<LogBounds>(other.bounds_)),
      bounds_(*own_bounds_),
      free_elements_(other.free_elements_),
      max_elements_(other.max_elements_),
      samples_(other.samples_),
      findings_(other.findings_) {}

std::unique_ptr<space::Dominance> ProvenDominance::another() const {
  return std::unique_ptr<space::Dominance>(new ProvenDominance(*this));
}

bool ProvenDominance::free(cost::Term elements) {
  return elements == 0 || (free_elements_ > 0 && bounds_.at_most(elements, free_elements_));
}

bool ProvenDominance::fits(cost::Term elements) {
  if (max_elements_ == 0) return true;
  const auto [position, added] = fits_.try_emplace(elements, true);
  if (added && bounds_.least(elements) > static_cast<long>(max_elements_)) {
    position->second = false;
    const std::lock_guard lock(findings_->mutex);
    findings_->too_large.insert(elements);
  }
  return position->second;
}

bool ProvenDominance::at_most(std::span<const cost::Term> winner, std::span<const cost::Term> loser) {
  // Proven without the mutex, which guards the findings alone.
  const SumProof proof = prove_at_most(bounds_, winner, loser);
  if (proof == SumProof::none) return false;
  const std::lock_guard lock(findings_->mutex);
  std::pair key(std::vector(winner.begin(), winner.end()), std::vector(loser.begin(), loser.end()));
  if (findings_->proofs.size() < Findings::max_proofs) {
    findings_->proofs.emplace(std::move(key), proof);
  } else if (!findings_->proofs.contains(key)) {
    ++findings_->more_proofs;
  }
  return true;
}

bool ProvenDominance::time_at_most(std::span<const cost::Term> winner, std::span<const cost::Term> loser) {
  return at_most(winner, loser);
}

bool ProvenDominance::memory_at_most(std::span<const cost::Term> winner, std::span<const cost::Term> loser) {
  return at_most(winner, loser);
}

}  // namespace schaas::frontier
