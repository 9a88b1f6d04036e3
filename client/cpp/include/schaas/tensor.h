#pragma once
#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/format/tensor_format.h"
#include "compiler/operators/value_type.h"
#include "compiler/support/result.h"
#include "proto/kernel_abi.h"
#include "schaas/buffer.h"

/// The tensors of the client: coordinates as read, dense arrays, and packed storage as a kernel reads it.
/// All are values; concurrent reads of one tensor are fine, writes are the caller's to order.
namespace schaas::client {

using operators::arithmetic_type;
using operators::bytes_of;
using operators::is_complex;
using operators::is_integer;
using operators::name;
using operators::value_type_choices;
using operators::value_type_named;
using operators::value_type_names;
using operators::ValueType;

/// A tensor as a list of entries, in any order, duplicates allowed (they add up). `coordinates[m][e]` is the
/// 0-based coordinate of entry e in mode m; values[e] its value, or integers[e]. A scalar has no modes and
/// one value.
struct CooTensor {
  std::vector<std::int64_t> extents;                   ///< by mode
  std::vector<std::vector<std::int64_t>> coordinates;  ///< by mode, then entry
  std::vector<double> values;                          ///< by entry; none where the type is an integer's
  ValueType value_type = ValueType::f64;               ///< f32, i32: the values are such numbers
  std::vector<std::int64_t> integers{};                ///< by entry, of an integer type; the bits of u64
  std::vector<double> imaginary{};                     ///< by entry, of a complex type

  int order() const { return static_cast<int>(extents.size()); }
  std::size_t entries() const { return is_integer(value_type) ? integers.size() : values.size(); }
  /// The value of an entry; an integer beyond 2^53 is rounded.
  double at(std::size_t entry) const {
    return is_integer(value_type) ? operators::real_of(integers[entry], value_type) : values[entry];
  }
  std::complex<double> complex_at(std::size_t entry) const {
    return {at(entry), imaginary.empty() ? 0 : imaginary[entry]};
  }
  /// Appends the value of an entry; not of integer types.
  void add_value(std::complex<double> value) {
    values.push_back(value.real());
    if (is_complex(value_type)) imaginary.push_back(value.imag());
  }
};

/// Every value of a tensor, row major (the last mode is contiguous).
struct DenseTensor {
  std::vector<std::int64_t> extents;  ///< by mode; none for a scalar
  ValueType value_type = ValueType::f64;
  Buffer values;  ///< size() elements of value_type

  int order() const { return static_cast<int>(extents.size()); }
  std::int64_t size() const;             ///< product of the extents
  double at(std::int64_t linear) const;  ///< real part by row-major index; large integers are rounded
  std::complex<double> complex_at(std::int64_t linear) const;
  void set(std::int64_t linear, std::complex<double> value);
  std::int64_t integer_at(std::int64_t linear) const;  ///< element of an integer type
  void set_integer(std::int64_t linear, std::int64_t value);
};

/// Product of extents, or nothing when it does not fit in 63 bits.
std::optional<std::int64_t> checked_product(const std::vector<std::int64_t>& extents);

/// All zeros. Errors: exhausted [memory] when the elements cannot be counted in 63 bits or not be allocated.
support::Result<DenseTensor> zeros(std::vector<std::int64_t> extents, ValueType type);
DenseTensor copy(const DenseTensor& tensor);

/// A tensor in the levels of a format (proto/kernel_abi.h says what the arrays mean). Move-only; the arrays
/// keep their addresses when it moves.
class PackedTensor {
 public:
  struct Level {
    Buffer pos, crd;           ///< as in schaas_level; empty where that has null
    std::int64_t entries = 0;  ///< positions of this level
  };

  const format::TensorFormat& format() const { return format_; }
  const std::vector<std::int64_t>& extents() const { return extents_; }  ///< by mode
  ValueType value_type() const { return value_type_; }
  int position_bits() const { return position_bits_; }  ///< 32 or 64
  int order() const { return static_cast<int>(extents_.size()); }
  const std::vector<Level>& levels() const { return levels_; }  ///< by level
  /// Elements of the value array: entries of the last level, 1 for a scalar.
  std::int64_t stored() const { return levels_.empty() ? 1 : levels_.back().entries; }
  double fill_value() const { return fill_value_; }  ///< value of elements that are not stored
  const Buffer& values() const { return values_; }
  Buffer& values() { return values_; }
  double value(std::int64_t position) const;  ///< real part; large integers are rounded
  std::complex<double> complex_value(std::int64_t position) const;
  std::int64_t integer(std::int64_t position) const;  ///< for an integer type
  std::size_t bytes() const;                          ///< bytes of all arrays
  /// Its arrays lie on a GPU: they are addresses there, nothing of the host may read them.
  /// `borrow_on_device`.
  bool on_device() const { return on_device_; }

  /// Pointers into this tensor, valid while it lives (moving it keeps them valid).
  schaas_tensor view() const;

 private:
  friend struct PackedTensorBuilder;
  friend class ResultStorage;
  void refresh_views();
  format::TensorFormat format_;
  std::vector<std::int64_t> extents_;
  ValueType value_type_ = ValueType::f64;
  int position_bits_ = 64;
  double fill_value_ = 0;
  bool on_device_ = false;
  std::vector<Level> levels_;
  std::vector<std::int32_t> mode_order_;
  std::vector<schaas_level> level_views_;
  Buffer values_;
};

struct PackOptions {
  std::string name;                       ///< name of the tensor, for messages
  ValueType value_type = ValueType::f64;  ///< unless the format has a type of values
  int position_bits = 64;                 ///< width of positions and coordinates: 32 or 64
  /// Value of elements that are not stored and of slots of dense levels without an entry: the zero of the
  /// semiring (0; for min-plus +infinity). Infinity stands for the largest or the smallest integer.
  double fill_value = 0;
};

/// Sorts, adds up duplicates and stores by levels. Explicit zeros are kept; order, extents and coordinates
/// are checked. Integers are added up with wrap-around. Errors: invalid [format-rank] (order differs from the
/// format's), [coordinate-range], [value-type] (a value that the integer type does not have),
/// [position-overflow] (32 bits do not suffice: says that 64 would), exhausted [memory].
support::Result<PackedTensor> pack(const CooTensor& tensor, const format::TensorFormat& format,
                                   const PackOptions& options);
/// The same; compressed levels keep only what is not the fill value.
support::Result<PackedTensor> pack(const DenseTensor& tensor, const format::TensorFormat& format,
                                   const PackOptions& options);
/// A tensor that holds its fill value everywhere: where a kernel writes its result. Compressed levels are
/// empty; the kernel's structure replaces them. Errors: [format-rank], [position-overflow], exhausted
/// [memory].
support::Result<PackedTensor> zeros(std::vector<std::int64_t> extents, const format::TensorFormat& format,
                                    const PackOptions& options);

/// Extent of the checks of arrays. `bounds`: coordinates lie inside their extents, but may come in any order,
/// and repeatedly, below a parent.
enum class Trust { check, bounds, trusted };
/// A tensor that reads, and as a result writes, the arrays that `view` points to; they must stay while it
/// lives. They are checked as `validate` does, by so many threads, unless they are trusted. Errors: invalid
/// [tensor-structure], [format-rank].
support::Result<PackedTensor> borrow(const schaas_tensor& view, const std::string& name, double fill_value,
                                     Trust trust = Trust::check, int threads = 1);
/// Gives a borrowed tensor the arrays of another view, which differs from the one before in them alone.
/// Checks and errors: as of borrow.
support::Result<void> borrow_again(PackedTensor& tensor, const schaas_tensor& view, const std::string& name,
                                   Trust trust, int threads);

/// Borrows arrays on a GPU, whose contents are not checked: only the counts of the levels and the presence of
/// each array. Errors: those of borrow.
support::Result<PackedTensor> borrow_on_device(const schaas_tensor& view, const std::string& name,
                                               double fill_value);

/// Returns the stored entries in storage order, coordinates by mode. Fill values in dense levels are left
/// out. Those that a sparse last level holds are kept, except in a band, where they may lie between entries.
CooTensor unpack(const PackedTensor& tensor);
/// The same with all values that are stored: what a kernel takes for entries.
CooTensor all_stored(const PackedTensor& tensor);
/// Every value, row major in mode order 0, 1, ... Errors: exhausted [memory].
support::Result<DenseTensor> to_dense(const PackedTensor& tensor);
/// Every value of a list of entries, `fill_value` elsewhere; the same errors as pack.
support::Result<DenseTensor> to_dense(const CooTensor& tensor, const std::string& name,
                                      double fill_value = 0);
/// Returns the elements other than `fill_value`, sorted.
CooTensor to_coo(const DenseTensor& tensor, double fill_value = 0);

/// 32 when every extent and entry count of the tensor in that format is below 2^31, else 64.
int position_bits_for(const CooTensor& tensor, const format::TensorFormat& format);

/// Checks the structure that the kernel ABI promises. Counts agree, and positions ascend from 0 to the number
/// of coordinates. Coordinates are inside the extent and strictly ascending within a fiber; those of a
/// nonunique level are compared with the singleton levels below. Bytes of bitmaps are 0 or 1, bands end
/// inside the extent, tables lead to each of their coordinates. Tensors made by pack always pass; call it on
/// arrays that came from elsewhere, before the first call. A pass over the arrays, at the speed of memory;
/// `threads` share what is large. Errors: invalid [tensor-structure] naming the tensor, level and position.
support::Result<void> validate(const schaas_tensor& tensor, const std::string& name, int threads = 1,
                               Trust trust = Trust::check);

}  // namespace schaas::client
