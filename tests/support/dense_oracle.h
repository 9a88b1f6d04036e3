#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/index_notation/nodes.h"

/// What tests share. Nothing here is built into a program a user runs.
namespace schaas::test_support {

/// Every value of a tensor, row major in its modes. A scalar has no extents and one value.
struct DenseTensor {
  std::vector<std::int64_t> extents;
  std::vector<double> values;
};

DenseTensor zeros(std::vector<std::int64_t> extents);
/// Position of `coordinates`, one per mode, in `values`.
std::size_t offset(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& coordinates);

/// The value of a statement, and for each entry the sum of the absolute values of its terms: what a relative
/// error is relative to, so that cancellation is not mistaken for a wrong kernel.
struct Evaluated {
  DenseTensor value;
  DenseTensor magnitude;
};

using Extents = std::map<std::string, std::int64_t>;  ///< of every index variable

/// The independent oracle: evaluates `statement` by definition, over all values of all index variables.
/// Shares no code with the compiler but the nodes of index notation. Exponential in the number of indices:
/// extents of a few.
Evaluated evaluate(const index_notation::Assignment& statement,
                   const std::map<std::string, DenseTensor>& operands, const Extents& extents);

/// Largest |got - want| / magnitude over all entries; 0/0 is 0, x/0 and NaN are infinite.
double relative_error(const DenseTensor& got, const Evaluated& want);

}  // namespace schaas::test_support
