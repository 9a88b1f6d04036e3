#pragma once
#include <cstdint>
#include <random>
#include <vector>

#include "compiler/operators/operators.h"
#include "compiler/problem/problem.h"
#include "tests/support/dense_oracle.h"

namespace schaas::test_support {

/// A tensor's values and which of its entries a sparse format would store. An entry may be stored and zero
/// (an explicit zero), never unstored and nonzero.
struct RandomTensor {
  DenseTensor dense;
  std::vector<bool> stored;  ///< one per value
};

struct RandomTensorOptions {
  double density = 0.5;         ///< chance that an entry is stored
  double explicit_zeros = 0.1;  ///< chance that a stored entry is zero
  /// Arithmetic of the values: its zero is not stored, and values are in its domain.
  const operators::Semiring* semiring = &operators::plus_times();
  double unit = 0.25;    ///< values are multiples of it
  int largest = 8;       ///< units of the largest value
  bool negative = true;  ///< so are some values
  bool complex = false;  ///< most values have an imaginary part as well
};

/// Values are +-1 to +-8 units (quarters, of integers ones) without 0, so that sums and products of a few are
/// exact in f32 too, imaginary parts likewise; of max-times and of types without a sign not negative, of
/// or-and and of bool 1.
RandomTensor random_tensor(const std::vector<std::int64_t>& extents, const RandomTensorOptions& options,
                           std::mt19937_64& random);

/// Extents for every index and a tensor for every operand of a problem.
struct RandomInput {
  Extents extents;
  std::map<std::string, RandomTensor> operands;

  std::map<std::string, DenseTensor> dense_operands() const;
};

/// Extents 1..largest_extent, now and then 0. Operands with a compressed level get one of the densities 0 (no
/// entry at all), 0.1 (empty rows), 0.4, 0.8, 1; dense ones have every entry. One tensor used twice needs
/// equal extents: it gets them.
RandomInput random_input(const problem::Problem& problem, std::int64_t largest_extent,
                         std::mt19937_64& random);
/// The same with given extents (indices of a tensor used twice still get the smaller one).
RandomInput random_input(const problem::Problem& problem, const Extents& extents, std::mt19937_64& random);

}  // namespace schaas::test_support
