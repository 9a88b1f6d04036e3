#include "compiler/frontier/dense_walks.h"

#include <algorithm>

#include "compiler/frontier/sparse_point.h"

namespace schaas::frontier {

bool walks_all_elements(const Frontier& found, const problem::Problem& problem) {
  constexpr double all = SparsePoint::large * SparsePoint::large;
  constexpr double max_time = all / 10, max_memory = all / 100;
  const cost::Point point = SparsePoint(problem).values(cost::variables_of(problem));
  return std::all_of(found.survivors.begin(), found.survivors.end(), [&](const Survivor& survivor) {
    return cost::evaluate_time(survivor.cost, point) > max_time ||
           cost::evaluate_memory(survivor.cost, point) > max_memory;
  });
}

}  // namespace schaas::frontier
