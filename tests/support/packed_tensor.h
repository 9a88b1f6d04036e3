#pragma once
#include <cstdint>
#include <memory>
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
  /// Every value, through positions and coordinates. Independent of how it was packed.
  DenseTensor unpack() const;
  /// The values array as stored, for results that must not change.
  void fill(double value);

 private:
  friend PackedTensor pack(const RandomTensor&, const format::TensorFormat&, const problem::Problem&);
  struct Arrays;
  std::shared_ptr<Arrays> arrays_;
};

/// Value type and position width are the problem's.
PackedTensor pack(const RandomTensor& tensor, const format::TensorFormat& format,
                  const problem::Problem& problem);

/// A dense result, all zero.
PackedTensor zero_result(const problem::Problem& problem, const Extents& extents);

}  // namespace schaas::test_support
