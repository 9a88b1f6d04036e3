#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/format/tensor_format.h"
#include "compiler/problem/problem.h"
#include "proto/kernel_abi.h"
#include "tests/support/random_tensor.h"

namespace schaas::test_support {

/// A tensor in the arrays of the kernel ABI, which it owns. Every array has exactly the size the ABI demands.
/// Moving keeps `abi()` valid; there are no copies.
class PackedTensor {
 public:
  const schaas_tensor* abi() const;
  /// The same operand, whose values begin one element after an aligned address; it lives no longer than this.
  PackedTensor shifted() const;
  /// Every value, through positions and coordinates; `fill` where nothing is stored. Independent of how it
  /// was packed.
  DenseTensor unpack(double fill = 0) const;
  /// Gives a result with compressed levels its arrays, as the client does between counting and computing:
  /// `entries` of each compressed level, values `fill`. What the kernel has to write holds numbers that no
  /// tensor holds.
  void allocate(const std::vector<std::int64_t>& entries, double fill);
  /// Returns the error of positions and coordinates: not written, not ascending, out of range; "" when all is
  /// well.
  std::string structure_error() const;
  /// The values array as stored, for results that must not change.
  void fill(double value);

 private:
  friend PackedTensor pack(const RandomTensor&, const format::TensorFormat&, const problem::Problem&);
  friend PackedTensor empty_result(const problem::Problem&, const Extents&);
  struct Arrays;
  std::string unordered_error(std::size_t level, std::int64_t begin, std::int64_t end) const;
  std::string fiber_error(std::size_t level, std::int64_t begin, std::int64_t end) const;
  std::shared_ptr<Arrays> arrays_;
};

/// Value type and position width are the problem's; elements of dense levels of which nothing is stored hold
/// its semiring's zero.
PackedTensor pack(const RandomTensor& tensor, const format::TensorFormat& format,
                  const problem::Problem& problem);

/// A result before it is allocated: of compressed levels and what is below them the sizes are not known yet.
/// A dense one is all zero.
PackedTensor empty_result(const problem::Problem& problem, const Extents& extents);
/// A result that stores nothing but what dense levels store, all zero.
PackedTensor zero_result(const problem::Problem& problem, const Extents& extents);

}  // namespace schaas::test_support
