#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/format/level_format.h"
#include "compiler/operators/value_type.h"
#include "compiler/support/result.h"

namespace schaas::format {

/// An ordered list of level formats. Level l stores mode `mode_order[l]`; `mode_order` is a permutation of
/// 0..levels-1. csr = {dense, compressed}, {0, 1}; csc = {dense, compressed}, {1, 0}; csf = all compressed;
/// coo = compressed(nonunique), singleton(nonunique), ..., singleton. A level that is not unique stands above
/// a singleton level, and a singleton level below one that is not unique; so the last level is unique, and
/// entries have distinct coordinates. No sparse level stands below an unordered one.
struct TensorFormat {
  std::vector<LevelFormat> levels;
  std::vector<int> mode_order;
  /// Type in which values of an operand are stored. None: the type in which kernels compute, else a narrower
  /// one.
  std::optional<operators::ValueType> values{};
  bool operator==(const TensorFormat&) const = default;

  int order() const { return static_cast<int>(levels.size()); }
  bool all_dense() const;
};

/// All modes dense in natural order (row major).
TensorFormat dense(int order);

/// By name (`dense`, `csr`, `csc`, `coo`, `dcsr`, `dcsc`, `csf`; `bitmap`, `banded`, `hashed`: such a level
/// below dense ones; `bcsr`: the blocks of a matrix, a tensor of 4 modes) or by levels with an optional mode
/// order (`dense,compressed:1,0`). `@` and the type of stored values may end it (`csr@bf16`). `order` is the
/// number of modes of the tensor, `tensor` its name for messages. Case and blanks are free; all but the names
/// of matrices may carry a mode order too. Errors: invalid [unknown-format] (with suggestion), [format-rank],
/// [mode-order], [format-syntax], [level-chain] (singleton and nonunique levels that do not fit each other);
/// unsupported [level-format] for names of levels we know of but do not implement yet (range, ...); invalid
/// [value-type] for an unknown type.
support::Result<TensorFormat> parse(std::string_view text, int order, const std::string& tensor);

/// Canonical text, by levels: "dense,compressed:1,0@bf16" (the mode order is always written; a scalar is
/// "dense").
/// parse(print(f)) == f.
std::string print(const TensorFormat& format);

/// Storage of a copy of a tensor with its levels in another order of modes. `locates`: a first level that
/// lists coordinates is dense in the copy, and its singleton levels are compressed. So the entries of one
/// coordinate are found without a walk; a copy of coo is csr.
TensorFormat copy_format(const TensorFormat& original, std::vector<int> mode_order, bool locates);

/// The first level lists its coordinates in order: an entry is found only by a walk over them.
bool lists_first(const TensorFormat& format);

/// Returns the pairs (earlier, later) of levels whose loops must be nested in that order. The later level
/// cannot be reached before the earlier one's coordinate is bound (a sparse level needs its parent's
/// position; dense levels below a sparse one need that one's position). SparseAuto section 2.3.
std::vector<std::pair<int, int>> access_order(const TensorFormat& format);

}  // namespace schaas::format
