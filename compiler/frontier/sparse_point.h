#pragma once
#include <map>
#include <string>

#include "compiler/cost/cost.h"
#include "compiler/problem/problem.h"

namespace schaas::frontier {

/// Sizes at which sparse operands are large and sparse. Their indices have 100,000 coordinates and each of
/// their rows five entries; other indices have 16, as the columns of a dense factor. Entries are spread
/// evenly: a level has as many as its coordinates allow. Constraints do not matter.
class SparsePoint {
 public:
  static constexpr double large = 1e5, narrow = 16, entries_of_row = 5;

  explicit SparsePoint(const problem::Problem& problem);

  double extent(const std::string& index) const { return extents_.at(index); }
  /// Returns the entries that a sparse operand has of so many coordinates.
  static double held(double coordinates);
  /// Returns the values of cost variables of the problem, or of a product of its indices and operands.
  cost::Point values(const cost::Variables& variables) const;

 private:
  void add(const index_notation::Access& access);
  double value(const cost::Variable& variable) const;
  double matches(const cost::Variable& variable) const;
  double fiber(const cost::Variable& variable) const;

  const problem::Problem& problem_;
  std::map<std::string, double> extents_;
};

}  // namespace schaas::frontier
