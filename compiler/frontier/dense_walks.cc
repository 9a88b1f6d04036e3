#include "compiler/frontier/dense_walks.h"

#include <algorithm>
#include <map>
#include <string>

// Evaluates costs at one point. Indices of dense tensors alone have a narrow extent, as the columns of a
// dense factor do; all others have the same large one. Entries are spread evenly: a level has as many as its
// coordinates allow. Constraints do not matter: an answer is wanted for small extents as well.
namespace schaas::frontier {
namespace {

constexpr double large = 1e5, narrow = 16, entries_of_row = 5;
constexpr double max_time = large * large / 10, max_memory = large * large / 100;

class SparsePoint {
 public:
  explicit SparsePoint(const problem::Problem& problem) : problem_(problem) {
    for (const auto& index : problem.indices()) extents_[index] = narrow;
    add(problem.statement.result);
    // A tensor may be read with several lists of indices.
    for (const index_notation::Access& read : problem.reads()) add(read);
  }

  cost::Point values(const cost::Variables& variables) const {
    cost::Point point(cost::Variables::first_fiber, 1);
    for (std::size_t n = 0; n < variables.extents.size(); ++n) point[n] = value(variables.extents[n]);
    for (const auto& fiber : variables.fibers) point.push_back(value(fiber));
    return point;
  }

 private:
  /// Indices of sparse tensors have a large extent.
  void add(const index_notation::Access& access) {
    const auto known = problem_.formats.find(access.tensor);
    if (known == problem_.formats.end() || known->second.all_dense()) return;
    for (const auto& index : access.indices) extents_[index] = large;
  }

  double value(const cost::Variable& variable) const {
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

  double matches(const cost::Variable& variable) const {
    const double extent = extents_.at(variable.index);
    double all = extent;
    for (const auto& list : variable.lists) all *= value(list) / extent;
    return all;
  }

  double fiber(const cost::Variable& variable) const {
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

  static double held(double coordinates) { return std::min(coordinates, large * entries_of_row); }

  const problem::Problem& problem_;
  std::map<std::string, double> extents_;
};

}  // namespace

bool walks_all_elements(const Frontier& found, const problem::Problem& problem) {
  const cost::Point point = SparsePoint(problem).values(cost::variables_of(problem));
  return std::all_of(found.survivors.begin(), found.survivors.end(), [&](const Survivor& survivor) {
    return cost::evaluate_time(survivor.cost, point) > max_time ||
           cost::evaluate_memory(survivor.cost, point) > max_memory;
  });
}

}  // namespace schaas::frontier
