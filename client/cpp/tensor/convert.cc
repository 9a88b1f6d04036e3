#include "schaas/convert.h"

#include <algorithm>
#include <cstring>

#include "client/cpp/platform/allocate.h"
#include "client/cpp/platform/team.h"
#include "client/cpp/tensor/matrix_rows.h"
#include "client/cpp/tensor/packed_tensor_builder.h"
#include "client/cpp/tensor/tensor_checks.h"
#include "client/cpp/tensor/typed.h"
#include "schaas/host.h"

// Conversion between formats. Matrices whose inner level is a list of coordinates (csr, csc, dcsr, coo) are
// seen as rows of entries, whatever their outer level is. In the same mode order the inner coordinates and
// values are copied; in the other one a stable counting sort by the inner coordinate transposes them (F. G.
// Gustavson, Two fast algorithms for sparse matrices, 1978). Both cost one pass over the entries and one over
// the extent of the outer mode.
// All other conversions go through a list of entries and pack(), whose sort costs several passes. Matrices go
// there, too, where the new outer extent exceeds the entries by far: counting would then cost more than
// sorting.
namespace schaas::client {
namespace {

using format::LevelFormat;
using support::Result;

// Above this many times the entries, an outer extent is too sparse to count by.
constexpr std::int64_t counted_extent = 16;
// A thread counts for itself: worth it when it has many more entries than columns to count.
constexpr std::int64_t entries_per_counter = 4;
constexpr std::int64_t min_converted_by_team = std::int64_t{1} << 16;

// Converts one matrix. `rows_` describes the entries in the order in which the new tensor has them: those of
// the original first, those of its transpose after transpose().
template <class Position, class Word>
class MatrixConversion {
 public:
  MatrixConversion(const PackedTensor& from, const format::TensorFormat& to, const ConvertOptions& options)
      : from_(from),
        name_(options.name),
        threads_(options.threads > 0 ? options.threads : host_threads()),
        rows_(rows_of<Position>(from)),
        builder_{to, from.extents(), from.value_type(), from.position_bits(), from.fill_value()} {
    builder_.levels.resize(2);
  }

  Result<PackedTensor> run() {
    SCHAAS_ASSIGN_OR_RETURN(builder_.values, array<Word>(rows_.entries, written));
    SCHAAS_ASSIGN_OR_RETURN(builder_.levels[1].crd, array<Position>(rows_.entries, written));
    if (builder_.format.mode_order == from_.format().mode_order) {
      copy(builder_.values, from_.values());
      copy(builder_.levels[1].crd, from_.levels()[1].crd);
    } else {
      SCHAAS_RETURN_IF_ERROR(transpose());
    }
    SCHAAS_RETURN_IF_ERROR(make_levels());
    return std::move(builder_).finish();
  }

 private:
  /// Contents of arrays whose every element is written.
  static constexpr auto written = Buffer::Contents::any;

  template <class T>
  Result<Buffer> array(std::int64_t count, Buffer::Contents contents = Buffer::Contents::zeros) const {
    return allocate(count, sizeof(T), "`" + name_ + "` converted to " + format::print(builder_.format),
                    contents);
  }
  static void copy(Buffer& to, const Buffer& from) {
    if (to.bytes() > 0) std::memcpy(to.data(), from.data(), to.bytes());
  }
  std::int64_t extent(int level) const { return builder_.extents[builder_.format.mode_order[level]]; }

  // Each thread has a counter for each column, and clearing and summing them costs `columns` per thread. The
  // threads are limited so that each has several entries per counter.
  int useful_threads() const {
    if (rows_.entries < min_converted_by_team) return 1;
    const std::int64_t counters = std::max<std::int64_t>(extent(0) * entries_per_counter, 1);
    return static_cast<int>(std::clamp<std::int64_t>(rows_.entries / counters, 1, threads_));
  }

  // The row at which a share of the entries begins.
  std::int64_t share(int part, int parts) const {
    const auto goal = static_cast<Position>(rows_.entries * part / parts);
    return part == parts ? rows_.count
                         : std::lower_bound(rows_.begin, rows_.begin + rows_.count, goal) - rows_.begin;
  }

  // Transposes by a parallel counting sort by the inner coordinate. The rows of each share are counted; the
  // counters become the positions that the share writes, column by column after those of the shares before
  // it: rows ascend within a column. Shares are written without synchronisation, as no two have a position in
  // common.
  Result<void> transpose() {
    Team team = Team::at_most(useful_threads());
    const int threads = team.threads();
    const std::int64_t columns = extent(0);
    SCHAAS_ASSIGN_OR_RETURN(Buffer counters, array<Position>(columns * threads));
    SCHAAS_ASSIGN_OR_RETURN(column_begin_, array<Position>(columns + 1, written));
    auto* const offset = counters.template as<Position>();
    auto* const begin = column_begin_.template as<Position>();
    team.run_shares([&](int part, int parts) {
      count(offset + part * columns, share(part, parts), share(part + 1, parts));
    });
    set_offsets(offset, begin, columns, threads);
    team.run_shares([&](int part, int parts) {
      scatter(offset + part * columns, share(part, parts), share(part + 1, parts));
    });
    // From here on the columns are the rows, and their coordinates are their numbers.
    rows_ = {};
    rows_.count = columns;
    rows_.begin = begin;
    rows_.entries = begin[columns];
    rows_.inner = builder_.levels[1].crd.template as<Position>();
    return {};
  }

  void count(Position* counter, std::int64_t first, std::int64_t last) const {
    for (Position q = rows_.begin[first]; q < rows_.begin[last]; ++q) ++counter[rows_.inner[q]];
  }
  // Turns the counters into an exclusive prefix sum in the order (column, share).
  static void set_offsets(Position* offset, Position* begin, std::int64_t columns, int parts) {
    Position next = 0;
    for (std::int64_t c = 0; c < columns; ++c) {
      begin[c] = next;
      for (int part = 0; part < parts; ++part) {
        const Position here = offset[part * columns + c];
        offset[part * columns + c] = next;
        next += here;
      }
    }
    begin[columns] = next;
  }
  void scatter(Position* offset, std::int64_t first, std::int64_t last) {
    const Word* const from = from_.values().template as<Word>();
    auto* const to = builder_.values.template as<Word>();
    auto* const crd = builder_.levels[1].crd.template as<Position>();
    for (std::int64_t k = first; k < last; ++k) {
      const Position row = rows_.outer(k);
      for (Position q = rows_.begin[k]; q < rows_.begin[k + 1]; ++q) {
        const Position at = offset[rows_.inner[q]]++;
        crd[at] = row;
        to[at] = from[q];
      }
    }
  }

  // Makes the outer levels, and the positions of the inner one, from the rows.
  Result<void> make_levels() {
    builder_.levels[1].entries = rows_.entries;
    for (int l = 0; l < 2; ++l) {
      if (!format::is_sparse(builder_.format.levels[l])) continue;
      // Positions and coordinates keep their width; the mode that is now stored in level l may have too large
      // an extent for it.
      SCHAAS_RETURN_IF_ERROR(check_positions_fit(from_.position_bits(), extent(l), rows_.entries, l, name_));
    }
    switch (builder_.format.levels[0]) {
      case LevelFormat::dense:
        return dense_outer();
      case LevelFormat::compressed:
        return compressed_outer();
      default:
        return coordinates_outer();
    }
  }

  // Rows that have no entries begin where the next one does.
  Result<void> dense_outer() {
    PackedTensor::Level& inner = builder_.levels[1];
    builder_.levels[0].entries = extent(0);
    // The rows of a transpose are all columns, in order.
    if (column_begin_.data() != nullptr) {
      inner.pos = std::move(column_begin_);
      return {};
    }
    SCHAAS_ASSIGN_OR_RETURN(inner.pos, array<Position>(extent(0) + 1, written));
    auto* const pos = inner.pos.template as<Position>();
    std::int64_t next = 0;
    for (std::int64_t k = 0; k < rows_.count; ++k) {
      for (; next <= rows_.outer(k); ++next) pos[next] = rows_.begin[k];
    }
    for (; next <= extent(0); ++next) pos[next] = static_cast<Position>(rows_.entries);
    return {};
  }

  // Stores rows with entries alone, as each entry of a compressed level has one below it.
  Result<void> compressed_outer() {
    PackedTensor::Level &outer = builder_.levels[0], &inner = builder_.levels[1];
    for (std::int64_t k = 0; k < rows_.count; ++k) outer.entries += rows_.begin[k] < rows_.begin[k + 1];
    SCHAAS_ASSIGN_OR_RETURN(outer.pos, array<Position>(2));
    SCHAAS_ASSIGN_OR_RETURN(outer.crd, array<Position>(outer.entries));
    SCHAAS_ASSIGN_OR_RETURN(inner.pos, array<Position>(outer.entries + 1));
    outer.pos.template as<Position>()[1] = static_cast<Position>(outer.entries);
    auto* crd = outer.crd.template as<Position>();
    auto* pos = inner.pos.template as<Position>();
    // The arrays are zeroed: the first position of the inner level is 0 already.
    for (std::int64_t k = 0; k < rows_.count; ++k) {
      if (rows_.begin[k] == rows_.begin[k + 1]) continue;
      *crd++ = rows_.outer(k);
      *++pos = rows_.begin[k + 1];
    }
    return {};
  }

  Result<void> coordinates_outer() {
    PackedTensor::Level& outer = builder_.levels[0];
    outer.entries = rows_.entries;
    SCHAAS_ASSIGN_OR_RETURN(outer.pos, array<Position>(2));
    SCHAAS_ASSIGN_OR_RETURN(outer.crd, array<Position>(outer.entries, written));
    outer.pos.template as<Position>()[1] = static_cast<Position>(outer.entries);
    auto* const crd = outer.crd.template as<Position>();
    for (std::int64_t k = 0; k < rows_.count; ++k) {
      for (Position q = rows_.begin[k]; q < rows_.begin[k + 1]; ++q) crd[q] = rows_.outer(k);
    }
    return {};
  }

  const PackedTensor& from_;
  std::string name_;
  int threads_;
  MatrixRows<Position> rows_;
  PackedTensorBuilder builder_;
  Buffer column_begin_;
};

template <class Position>
Result<PackedTensor> convert_matrix(const PackedTensor& tensor, const format::TensorFormat& format,
                                    const ConvertOptions& options) {
  return for_width(tensor.value_type(), [&](auto word) {
    return MatrixConversion<Position, decltype(word)>(tensor, format, options).run();
  });
}

int position_bits(const PackedTensor& tensor, const ConvertOptions& options) {
  return options.position_bits != 0 ? options.position_bits : tensor.position_bits();
}

bool is_stored_so(const PackedTensor& tensor, const format::TensorFormat& format,
                  const ConvertOptions& options) {
  return tensor.format().levels == format.levels && tensor.format().mode_order == format.mode_order &&
         format.values.value_or(tensor.value_type()) == tensor.value_type() &&
         position_bits(tensor, options) == tensor.position_bits();
}

// Counting costs the extent of the new outer mode.
bool worth_counting(const PackedTensor& tensor, const format::TensorFormat& format) {
  return format.mode_order == tensor.format().mode_order ||
         tensor.extents()[format.mode_order[0]] / counted_extent <= tensor.stored() + min_converted_by_team;
}

}  // namespace

Result<PackedTensor> convert(const PackedTensor& tensor, const format::TensorFormat& format,
                             const ConvertOptions& options) {
  SCHAAS_RETURN_IF_ERROR(check_format(tensor.order(), format, options.name));
  const int bits = position_bits(tensor, options);
  if (is_stored_so(tensor, format, options)) {
    const auto copied = [](const Buffer& array) { return array.copy(); };
    try {
      return with_arrays(tensor, copied, copied);
    } catch (const std::bad_alloc&) {
      return too_large("a copy of `" + options.name + "`", bytes_text(static_cast<double>(tensor.bytes())));
    }
  }
  // Dense tensors may differ in mode order alone; entries would lose values that equal the fill value.
  if (tensor.format().all_dense() && format.all_dense()) {  // every value as it is, -0 and fill values too
    SCHAAS_ASSIGN_OR_RETURN(const DenseTensor values, to_dense(tensor));
    return pack(values, format, {options.name, tensor.value_type(), bits, tensor.fill_value()});
  }
  // A change of the position width goes through entries, and so does every format with located levels.
  const bool direct = bits == tensor.position_bits() && has_rows(tensor.format()) && has_rows(format);
  if (!direct || !worth_counting(tensor, format)) return convert_by_entries(tensor, format, options);
  try {
    return tensor.position_bits() == 32 ? convert_matrix<std::int32_t>(tensor, format, options)
                                        : convert_matrix<std::int64_t>(tensor, format, options);
  } catch (const std::bad_alloc&) {
    return too_large("converting `" + options.name + "`", bytes_text(static_cast<double>(tensor.bytes())));
  }
}

Result<PackedTensor> convert_by_entries(const PackedTensor& tensor, const format::TensorFormat& format,
                                        const ConvertOptions& options) {
  SCHAAS_RETURN_IF_ERROR(check_format(tensor.order(), format, options.name));
  try {
    return pack(unpack(tensor), format,
                {options.name, tensor.value_type(), position_bits(tensor, options), tensor.fill_value()});
  } catch (const std::bad_alloc&) {
    return too_large("the entries of `" + options.name + "`",
                     bytes_text(static_cast<double>(tensor.bytes())));
  }
}

}  // namespace schaas::client
