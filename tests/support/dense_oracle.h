#pragma once
#include <complex>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "compiler/index_notation/nodes.h"

/// Code shared by tests. No user program contains it.
namespace schaas::test_support {

/// Every value of a tensor, row major in its modes. A scalar has no extents and one value.
struct DenseTensor {
  std::vector<std::int64_t> extents;
  std::vector<double> values;
  std::vector<double> imaginary{};  ///< imaginary parts; empty: all are 0

  std::complex<double> number(std::size_t n) const {
    return {values.at(n), imaginary.empty() ? 0 : imaginary.at(n)};
  }
  void set(std::size_t n, std::complex<double> number);
};

DenseTensor zeros(std::vector<std::int64_t> extents);
/// Position of `coordinates`, one per mode, in `values`.
std::size_t offset(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& coordinates);

/// Result of a program, and for each entry the size of its terms (of a sum the sum of the
/// absolute values of its terms): what a relative error is relative to, so that cancellation is not mistaken
/// for a wrong kernel. A magnitude that is NaN: any value is right, because it hangs on the order of
/// operations or on what is multiplied with zero (0 * infinity, 0 / 0, the maximum of NaN and 1, rounding in
/// a comparison).
struct Evaluated {
  DenseTensor value;
  DenseTensor magnitude;
};

using Extents = std::map<std::string, std::int64_t>;  ///< of every index variable

/// The independent oracle: evaluates statement by statement by definition (docs/language.md), over all values
/// of all index variables, in double arithmetic, complex where an operand is. Shares no code with the
/// compiler but the nodes of index notation and the tables of operators. Exponential in the number of
/// indices: extents of a few. `operands` hold the semiring's zero where nothing is stored; `before` is what
/// an updated result holds. An element of a magnitude of `largest` or more has no right value, as integers
/// that wrap around in other types.
Evaluated evaluate(const index_notation::Program& program, const std::map<std::string, DenseTensor>& operands,
                   const Extents& extents, const DenseTensor* before = nullptr,
                   double largest = std::numeric_limits<double>::infinity());
/// One statement under plus-times.
Evaluated evaluate(const index_notation::Assignment& statement,
                   const std::map<std::string, DenseTensor>& operands, const Extents& extents);

/// Largest |got - want| / magnitude over all entries; equal values and NaN for NaN are 0, x/0 and all else
/// that is not finite are infinite.
double relative_error(const DenseTensor& got, const Evaluated& want);
/// Entries that have one right value only.
std::size_t determined(const Evaluated& want);

}  // namespace schaas::test_support
