#include "client/cpp/tensor/matrix_rows.h"

#include <algorithm>

// Rows of csr, csc, and dcsr are there already, as positions of the inner level. A coo matrix stores the row
// of each entry: its rows are the ranges of equal outer coordinates, found in one pass. It needs sorted
// entries, which has_rows() takes from the format; a locating level has no such ranges.
namespace schaas::client {

using format::LevelFormat;

bool has_rows(const format::TensorFormat& format) {
  const bool located = std::any_of(format.levels.begin(), format.levels.end(), format::is_located);
  return format.order() == 2 && format::is_sparse(format.levels[1]) && format::is_ordered(format.levels[1]) &&
         !located;
}

// Dense outer levels have no coordinates: `coordinate` is then null, and row k has coordinate k.
template <class Position>
MatrixRows<Position> rows_of(const PackedTensor& matrix) {
  const PackedTensor::Level &outer = matrix.levels()[0], &inner = matrix.levels()[1];
  MatrixRows<Position> rows;
  rows.inner = inner.crd.as<Position>();
  rows.entries = inner.entries;
  if (!format::is_singleton(matrix.format().levels[1])) {
    rows.count = outer.entries;
    rows.begin = inner.pos.as<Position>();
    rows.coordinate = outer.crd.as<Position>();
    return rows;
  }
  const Position* const crd = outer.crd.as<Position>();
  for (std::int64_t e = 0; e < rows.entries; ++e) {
    if (e > 0 && crd[e] == crd[e - 1]) continue;
    rows.own_begin.push_back(static_cast<Position>(e));
    rows.own_coordinate.push_back(crd[e]);
  }
  rows.count = static_cast<std::int64_t>(rows.own_begin.size());
  rows.own_begin.push_back(static_cast<Position>(rows.entries));
  rows.begin = rows.own_begin.data();
  rows.coordinate = rows.own_coordinate.data();
  return rows;
}

template MatrixRows<std::int32_t> rows_of(const PackedTensor&);
template MatrixRows<std::int64_t> rows_of(const PackedTensor&);

}  // namespace schaas::client
