#pragma once
#include <cstdint>
#include <vector>

#include "schaas/tensor.h"

namespace schaas::client {

/// A matrix whose inner level is a list of coordinates, seen as rows, ranges of entries, one for each
/// coordinate of the outer level: row k has coordinate outer(k) and the entries begin[k]..begin[k + 1] of
/// `inner`. Some may be empty. Points into the tensor it was made of.
template <class Position>
struct MatrixRows {
  std::int64_t count = 0;                ///< rows
  const Position* begin = nullptr;       ///< count + 1
  const Position* coordinate = nullptr;  ///< coordinate of each row; null: row k has coordinate k
  const Position* inner = nullptr;       ///< inner coordinates
  std::int64_t entries = 0;
  std::vector<Position> own_begin{}, own_coordinate{};

  Position outer(std::int64_t k) const {
    return coordinate == nullptr ? static_cast<Position>(k) : coordinate[k];
  }
};

/// The format is one of a matrix whose inner level is a list of coordinates.
bool has_rows(const format::TensorFormat& format);

template <class Position>
MatrixRows<Position> rows_of(const PackedTensor& matrix);

}  // namespace schaas::client
