#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "compiler/format/blocks.h"
#include "schaas/expression.h"
#include "schaas/tensor.h"

/// Matrices in dense blocks, `bcsr(rows,columns)`: what kernels take of a program that has some. A kernel
/// sees each blocked matrix as a tensor of four modes and every dense tensor over its indices with an index
/// more for each that runs in blocks (compiler/format/blocks.h); extents are rounded up to whole blocks, and
/// what lies beyond is the semiring's zero.
namespace schaas::client {

class Blocks {
 public:
  /// `formats`: the user's texts; tensors without one are dense. Errors: those of format::blocking.
  static support::Result<Blocks> of(const Program& program,
                                    const std::map<std::string, std::string>& formats);

  bool empty() const { return blocking_.empty(); }

  /// Of the user's indices; with those of blocks and inside them beside them. Errors: invalid
  /// [block-extent]: an extent is no multiple of its block, and the program would see what is beyond (a
  /// maximum over the index, a function of what is read there): the way out is another block.
  support::Result<std::map<std::string, std::int64_t>> extents(
      const std::map<std::string, std::int64_t>& given) const;
  /// The format a kernel takes `tensor` in, which the user stores as `given`.
  format::TensorFormat format(const std::string& tensor, const format::TensorFormat& given) const;
  /// The extents a kernel takes `tensor` with.
  std::vector<std::int64_t> extents(const std::string& tensor, std::vector<std::int64_t> given) const;

  /// A tensor as a kernel takes it, before it is packed. Duplicates stay. Errors: exhausted [memory].
  CooTensor split(const std::string& tensor, const CooTensor& data) const;
  support::Result<DenseTensor> split(const std::string& tensor, const DenseTensor& data) const;
  /// The inverse for what a kernel wrote: without what lies beyond `extents`; stored as `format`, a blocked
  /// matrix as csr. Errors: exhausted [memory].
  support::Result<PackedTensor> joined(const std::string& tensor, const PackedTensor& result,
                                       const std::vector<std::int64_t>& extents,
                                       const format::TensorFormat& format) const;

 private:
  support::Result<void> check_beyond(const std::string& index, std::int64_t extent) const;

  Program program_;
  format::Blocking blocking_;
  std::map<std::string, format::Reading> readings_;  ///< of each tensor one
};

}  // namespace schaas::client
