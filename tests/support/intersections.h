#pragma once
#include <algorithm>
#include <bit>
#include <limits>
#include <random>

#include "compiler/cost/cost.h"

namespace schaas::test_support {

/// Draws the averages of intersections at a point of extents and fibers: matches up to the shortest list and
/// those of fewer lists, steps from there to the sum of the lists.
template <class Random>
void draw_intersections(const cost::Variables& variables, cost::Point& point, Random& random) {
  const auto bit = [](cost::Term term) { return static_cast<std::size_t>(std::countr_zero(term)); };
  for (const cost::Intersection& both : variables.intersections) {
    const cost::Variable& matches = variables.at(static_cast<int>(bit(both.matches)));
    double most = std::numeric_limits<double>::infinity(), sum = 0, extent = 0;
    for (std::size_t n = 0; n < variables.extents.size(); ++n)
      if (variables.extents[n].index == matches.index) extent = point[n];
    for (const cost::Variable& list : matches.lists) {
      for (std::size_t n = 0; n < variables.fibers.size(); ++n) {
        const cost::Variable& fiber = variables.fibers[n];
        if (!cost::is_fiber(fiber) || fiber.index != list.index || fiber.tensor != list.tensor ||
            fiber.level != list.level)
          continue;
        const double value = point[static_cast<std::size_t>(cost::Variables::first_fiber) + n];
        most = std::min(most, value);
        sum += value;
      }
    }
    for (const cost::Intersection& fewer : variables.intersections) {
      if (fewer.lists != both.lists && (fewer.lists & both.lists) == fewer.lists)
        most = std::min(most, point[bit(fewer.matches)]);
    }
    std::uniform_real_distribution<double> share(0, 1);
    point[bit(both.matches)] = most * share(random);
    const double least = point[bit(both.matches)];
    point[bit(both.steps)] = least + (std::min(sum, extent) - least) * share(random);
  }
}

}  // namespace schaas::test_support
