#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "compiler/format/blocks.h"
#include "schaas/expression.h"
#include "schaas/tensor.h"

/// Arguments of kernels for programs with matrices in dense blocks, `bcsr(rows,columns)`. A kernel sees each
/// blocked matrix as a tensor of four modes. Every dense tensor over its indices has one more index for each
/// index that runs in blocks (compiler/format/blocks.h). Extents are rounded up to whole blocks; elements
/// beyond the user's extents are the semiring's zero.
namespace schaas::client {

class Blocks {
 public:
  /// `formats`: the user's texts; tensors without one are dense. Errors: those of format::blocking.
  static support::Result<Blocks> of(const Program& program,
                                    const std::map<std::string, std::string>& formats);

  bool empty() const { return blocking_.empty(); }

  /// Returns the user's extents with those of block indices and of indices inside blocks. Errors: invalid
  /// [block-extent]: an extent is no multiple of its block, and the program would read elements beyond it (a
  /// maximum over the index, a function of an element there). The remedy is another block.
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
  std::map<std::string, format::Reading> readings_;  ///< by tensor
};

/// Tensors in memory are not bound in blocks. Errors: unsupported [blocks].
support::Result<void> check_without_blocks(const std::string& tensor, const std::string& format);

}  // namespace schaas::client
