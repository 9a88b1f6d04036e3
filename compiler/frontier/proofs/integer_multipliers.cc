#include "compiler/frontier/proofs/integer_multipliers.h"

#include <cmath>

namespace schaas::frontier {

std::optional<std::vector<int>> integer_multipliers(std::span<const ExactRow> rows,
                                                    const std::vector<int>& objective,
                                                    const std::vector<double>& multipliers, int divisor) {
  std::vector<int> times;
  for (const double multiplier : multipliers) {
    const double scaled = multiplier * divisor;
    if (scaled > 1000 || std::abs(scaled - std::round(scaled)) > 1e-6) return std::nullopt;
    times.push_back(static_cast<int>(std::round(scaled)));
    if (times.back() < 0) return std::nullopt;
  }
  for (std::size_t column = 0; column < objective.size(); ++column) {
    long sum = 0;
    for (std::size_t row = 0; row < times.size(); ++row)
      sum += static_cast<long>(times[row]) * rows[row].coefficients[column];
    if (sum < static_cast<long>(divisor) * objective[column]) return std::nullopt;
  }
  return times;
}

}  // namespace schaas::frontier
