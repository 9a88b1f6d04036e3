#include "compiler/space/comparison.h"

#include <algorithm>
#include <iterator>

#include "compiler/cost/tie_order.h"

// Comparison of classes inside the fold, cheapest first. Values at samples tell most classes apart. What is
// left needs a proof for each objective. Proofs are asked for in normal form: without the terms of both sums,
// divided by the variables that all terms have. Answers are kept by the pair of sums. So one proof serves
// below every prefix of loops and in every state.
namespace schaas::space {
namespace {

/// Rounding of added values is no difference.
constexpr double tolerance = 1 + 1e-12;

std::size_t number(Objective::Of of) { return of == Objective::Of::time ? 0 : 1; }

}  // namespace

void PairAnswers::grow() {
  std::vector<std::uint64_t> old(table_.size() * 2, 0);
  old.swap(table_);
  for (std::uint64_t entry : old) {
    if (entry == 0) continue;
    std::size_t position = start(entry & ~std::uint64_t{1});
    while (table_[position] != 0) position = (position + 1) & (table_.size() - 1);
    table_[position] = entry;
  }
}

void TermValues::grow() {
  std::vector<cost::Term> keys(keys_.size() * 2);
  std::vector<const double*> values(keys.size(), nullptr);
  keys.swap(keys_);
  values.swap(values_);
  for (std::size_t n = 0; n < keys.size(); ++n) {
    if (values[n] == nullptr) continue;
    std::size_t position = start(keys[n]);
    while (values_[position] != nullptr) position = (position + 1) & (keys_.size() - 1);
    keys_[position] = keys[n];
    values_[position] = values[n];
  }
}

Comparison::Comparison(Dominance& dominance)
    : dominance_(dominance), samples_(dominance.samples().size()), width_(std::size(objectives) * samples_) {}

/// One value per sample; of a memory term, 0 where it is free, and its elements for the order of ties at the
/// end.
const double* Comparison::values_of(const Objective& objective, cost::Term term) {
  return values_[number(objective.of)].of(term, [&](cost::Term wanted) {
    std::vector<double> values;
    const std::vector<cost::Point>& samples = dominance_.samples();
    if (objective.of == Objective::Of::time) {
      for (const cost::Point& point : samples) values.push_back(cost::evaluate_time({{wanted}, {}}, point));
    } else {
      const bool free = dominance_.free(wanted);
      for (const cost::Point& point : samples)
        values.push_back(free ? 0 : cost::evaluate_memory({{}, {wanted}}, point));
      values.push_back(cost::reference_elements(wanted));
    }
    return values;
  });
}

void Comparison::evaluate(Terms time, Terms memory, double* values, double& elements) {
  std::fill(values, values + width_, 0.0);
  elements = 0;
  for (const Objective& objective : objectives) {
    const bool of_memory = objective.of == Objective::Of::memory;
    for (cost::Term term : of_memory ? memory : time) {
      if ((term & objective.only) != objective.only) continue;
      const double* more = values_of(objective, term);
      for (std::size_t n = 0; n < samples_; ++n) values[n] += more[n];
      if (of_memory) elements += more[samples_];
    }
    values += samples_;
  }
}

bool Comparison::no_worse(const double* a, const double* b) const {
  for (std::size_t n = 0; n < width_; ++n) {
    if (a[n] > b[n] * tolerance) return false;
  }
  return true;
}

bool Comparison::covers(Terms winner_time, Terms winner_memory, Terms loser_time, Terms loser_memory) {
  return std::all_of(std::begin(objectives), std::end(objectives), [&](const Objective& objective) {
    return objective.of == Objective::Of::memory ? at_most(objective, winner_memory, loser_memory)
                                                 : at_most(objective, winner_time, loser_time);
  });
}

/// The term has the objective's bits and is no free temporary.
bool Comparison::counts(const Objective& objective, cost::Term term) {
  if ((term & objective.only) != objective.only) return false;
  return objective.of == Objective::Of::time || values_of(objective, term)[0] != 0;
}

bool Comparison::at_most(const Objective& objective, Terms winner, Terms loser) {
  less_.clear();
  more_.clear();
  // Both sums are sorted, so one pass leaves out the terms that they share.
  auto a = winner.begin();
  auto b = loser.begin();
  while (a != winner.end() || b != loser.end()) {
    if (a != winner.end() && b != loser.end() && *a == *b) {
      ++a;
      ++b;
    } else if (b == loser.end() || (a != winner.end() && *a < *b)) {
      if (counts(objective, *a)) less_.push_back(*a);
      ++a;
    } else {
      if (counts(objective, *b)) more_.push_back(*b);
      ++b;
    }
  }
  if (less_.empty()) return true;
  if (more_.empty()) return false;
  cost::Term common = cost::variables_mask;
  for (const auto* side : {&less_, &more_}) {
    for (cost::Term term : *side) common &= term;
  }
  for (auto* side : {&less_, &more_}) {
    for (cost::Term& term : *side) term &= ~common;
  }
  const SumId less = sums_.intern(less_);
  const SumId more = sums_.intern(more_);
  // Neither sum is empty, so no key is 0, which marks an empty slot.
  return proofs_[number(objective.of)].of(less, more, [&] {
    return objective.of == Objective::Of::memory ? dominance_.memory_at_most(less_, more_)
                                                 : dominance_.time_at_most(less_, more_);
  });
}

}  // namespace schaas::space
