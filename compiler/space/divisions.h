#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "compiler/cost/cost.h"

/// Divisions of a sum between two sides, for a search that has the terms of a member in hand.
namespace schaas::space {

/// Equal terms of a sum, and how many of them the first side may take.
struct EqualTerms {
  cost::Term term = 0;
  std::size_t count = 0;
  std::size_t min_first = 0, max_first = 0;
  bool counts = true;  ///< each one taken counts towards the limit
};

/// Groups the terms of a sorted sum; either side may take each.
inline std::vector<EqualTerms> equal_terms(const std::vector<cost::Term>& sorted) {
  std::vector<EqualTerms> groups;
  for (const cost::Term term : sorted) {
    if (groups.empty() || groups.back().term != term) groups.push_back({term});
    groups.back().max_first = ++groups.back().count;
  }
  return groups;
}

/// The divisions of groups of equal terms, each once, without regard to the order of equal terms. Divisions
/// that take too many are cut off while they are made, so sums of any length are divided.
template <class Visit>
class Divisions {
 public:
  /// `visit(taken)` gets the numbers that the first side takes of each group, of terms that count `limit` at
  /// most.
  Divisions(const std::vector<EqualTerms>& groups, std::size_t limit, const Visit& visit)
      : groups_(groups), visit_(visit), taken_(groups.size()) {
    divide(groups.size(), limit);
  }

 private:
  /// Divides the first so many groups; later groups vary slowest.
  void divide(std::size_t groups, std::size_t limit) {
    if (groups == 0) return visit_(taken_);
    const EqualTerms& group = groups_[groups - 1];
    for (std::size_t n = group.min_first; n <= group.max_first; ++n) {
      const std::size_t counted = group.counts ? n : 0;
      if (counted > limit) return;
      taken_[groups - 1] = n;
      divide(groups - 1, limit - counted);
    }
  }

  const std::vector<EqualTerms>& groups_;
  const Visit& visit_;
  std::vector<std::size_t> taken_;
};

/// Calls `visit(taken)` for each division.
template <class Visit>
void each_division(const std::vector<EqualTerms>& groups, std::size_t limit, const Visit& visit) {
  Divisions<Visit>(groups, limit, visit);
}

/// Returns the terms of the first side, sorted.
inline std::vector<cost::Term> first_side(const std::vector<EqualTerms>& groups,
                                          const std::vector<std::size_t>& taken) {
  std::vector<cost::Term> terms;
  for (std::size_t n = 0; n < groups.size(); ++n) terms.insert(terms.end(), taken[n], groups[n].term);
  return terms;
}

/// Returns the terms of the second side, sorted.
inline std::vector<cost::Term> second_side(const std::vector<EqualTerms>& groups,
                                           const std::vector<std::size_t>& taken) {
  std::vector<cost::Term> terms;
  for (std::size_t n = 0; n < groups.size(); ++n)
    terms.insert(terms.end(), groups[n].count - taken[n], groups[n].term);
  return terms;
}

}  // namespace schaas::space
