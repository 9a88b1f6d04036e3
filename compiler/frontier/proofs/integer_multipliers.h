#pragma once
#include <optional>
#include <span>
#include <vector>

#include <gmpxx.h>

namespace schaas::frontier {

/// row . columns <= log(numerator / denominator), columns >= 0.
struct ExactRow {
  std::vector<int> coefficients;
  mpz_class numerator, denominator;
};

/// Rounds the multipliers of a linear program, which are in double precision, to multiples of 1 / divisor.
/// Verifies in integers that these bound the objective: divisor * objective <= sum(times * row) in every
/// column, no multiplier below 0. Returns the multiples; none when the bound does not hold.
std::optional<std::vector<int>> integer_multipliers(std::span<const ExactRow> rows,
                                                    const std::vector<int>& objective,
                                                    const std::vector<double>& multipliers, int divisor);

}  // namespace schaas::frontier
