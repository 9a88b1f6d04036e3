#include "compiler/frontier/sparse_point.h"

#include <algorithm>

namespace schaas::frontier {

SparsePoint::SparsePoint(const problem::Problem& problem) : problem_(problem) {
  for (const auto& index : problem.indices()) extents_[index] = narrow;
  add(problem.statement.result);
  // A tensor may be read with several lists of indices.
  for (const index_notation::Access& read : problem.reads()) add(read);
}

double SparsePoint::held(double coordinates) { return std::min(coordinates, large * entries_of_row); }

cost::Point SparsePoint::values(const cost::Variables& variables) const {
  cost::Point point(cost::Variables::first_fiber, 1);
  for (std::size_t n = 0; n < variables.extents.size(); ++n) point[n] = value(variables.extents[n]);
  for (const auto& fiber : variables.fibers) point.push_back(value(fiber));
  return point;
}

/// Indices of sparse tensors have a large extent.
void SparsePoint::add(const index_notation::Access& access) {
  const auto known = problem_.formats.find(access.tensor);
  if (known == problem_.formats.end() || known->second.all_dense()) return;
  for (const auto& index : access.indices) extents_[index] = large;
}

double SparsePoint::value(const cost::Variable& variable) const {
  switch (variable.kind) {
    case cost::Variable::Kind::extent:
      return extents_.at(variable.index);
    case cost::Variable::Kind::fiber:
      return fiber(variable);
    case cost::Variable::Kind::matches:
      return matches(variable);
    case cost::Variable::Kind::steps:
      break;
  }
  double steps = 0;
  for (const auto& list : variable.lists) steps += value(list);
  return steps;
}

double SparsePoint::matches(const cost::Variable& variable) const {
  const double extent = extents_.at(variable.index);
  double all = extent;
  for (const auto& list : variable.lists) all *= value(list) / extent;
  return all;
}

double SparsePoint::fiber(const cost::Variable& variable) const {
  double above = 1;
  bool dense = true;
  if (!variable.copy_of.empty()) {
    for (const auto& index : variable.outer) above *= extents_.at(index);
    dense = variable.outer_dense;
  } else {
    const auto& format = problem_.formats.at(variable.tensor);
    const auto indices = problem_.indices_of(variable.tensor);
    for (int level = 0; level < variable.level; ++level) {
      above *= extents_.at(indices[static_cast<std::size_t>(format.mode_order[level])]);
      dense = dense && format.levels[level] == format::LevelFormat::dense;
    }
  }
  return held(above * extents_.at(variable.index)) / (dense ? above : held(above));
}

}  // namespace schaas::frontier
