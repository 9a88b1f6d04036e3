#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/format/tensor_format.h"
#include "compiler/support/result.h"

/// Matrices stored in dense blocks, `bcsr(rows,columns)`. A program that reads or computes one is a program
/// over tensors with more modes. Index i of a blocked mode becomes two, the block and the offset in it:
///     y(i) = B(i,j) * x(j)                                    B bcsr(4,2)
///     y(i_block,i_in) = B(i_block,j_block,i_in,j_in) * x(j_block,j_in)       |i_in| == 4, |j_in| == 2
/// B is then stored dense, compressed, dense, dense. A dense tensor lies in memory as before, its rows
/// counted in blocks. Compiler and client both see programs so and must agree on the names (docs/formats.md).
namespace schaas::format {

/// The extents of a block: of one mode of the matrix each.
struct BlockSizes {
  int rows = 1;
  int columns = 1;
  bool operator==(const BlockSizes&) const = default;
};

/// One access of the program.
struct Reading {
  std::string tensor;
  std::vector<std::string> indices;
};

/// The two indices that an index becomes.
struct SplitIndex {
  int size = 1;  ///< values in a block
  std::string block, inside;
  bool operator==(const SplitIndex&) const = default;
};

/// Indices and formats of a program after its blocked matrices are split.
struct Blocking {
  std::map<std::string, BlockSizes> matrices;  ///< by tensor
  std::map<std::string, SplitIndex> indices;   ///< by index; those of one extent are split alike

  bool empty() const { return matrices.empty(); }
  /// Splits an access: the blocks' indices before those inside for a blocked matrix, else each index in its
  /// position.
  Reading of(const Reading& reading) const;
  /// `i` becomes `i_block`, `i_in`; others stay.
  std::vector<std::string> of(const std::vector<std::string>& indices) const;
  /// Returns the storage of a tensor with the format `given` (of a blocked matrix: without_blocks) that is
  /// read like this.
  TensorFormat of(const Reading& reading, const TensorFormat& given) const;
};

/// Returns `csr` for `bcsr(4,4)`; other formats as they are.
std::string without_blocks(const std::string& format);

/// `readings`: every access of the program, results and intermediates included, in order; `formats`: the
/// user's texts, tensors without one are dense. Empty when no format is blocked. Errors: invalid
/// [format-syntax], [block-size] (not 1 to 256), [format-rank] (no matrix), [block-conflict] (an index in
/// blocks of two sizes); unsupported [block-format] (a sparse tensor that is not blocked has a split index),
/// [too-many-indices]; those of parse.
support::Result<Blocking> blocking(const std::vector<Reading>& readings,
                                   const std::map<std::string, std::string>& formats);

}  // namespace schaas::format
