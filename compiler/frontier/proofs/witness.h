#pragma once
#include <optional>
#include <vector>

#include "compiler/frontier/proofs/sizes.h"
#include "compiler/frontier/proofs/solver.h"

namespace schaas::frontier {

/// Finds allowed whole sizes at which one sum is less than another. It tries whole samples of the allowed
/// sizes, then extremes of the ratios of their terms and points on the way, last a solver's model.
/// Findings have been compared in fractions; finding nothing proves nothing.
class WitnessSearch {
 public:
  /// `solver` may be null. It is given the constraints of `bounds`.
  WitnessSearch(LogBounds& bounds, Solver* solver, int solver_milliseconds);

  std::optional<Sizes> less(const std::vector<cost::Term>& lesser, const std::vector<cost::Term>& greater);

  /// Whole samples, a middle first.
  struct Sample {
    Sizes sizes;
    cost::Point point;
  };
  const std::vector<Sample>& samples() const { return samples_; }

 private:
  bool holds(const Sizes& sizes, const std::vector<cost::Term>& lesser,
             const std::vector<cost::Term>& greater) const;
  std::optional<Sizes> at_extremes(const std::vector<cost::Term>& lesser,
                                   const std::vector<cost::Term>& greater) const;
  std::optional<Sizes> by_solver(const std::vector<cost::Term>& lesser,
                                 const std::vector<cost::Term>& greater);

  LogBounds& bounds_;
  Solver* solver_;
  int milliseconds_;
  std::vector<Sample> samples_;
};

}  // namespace schaas::frontier
