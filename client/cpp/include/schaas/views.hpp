#pragma once
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "schaas/schaas.h"

namespace schaas {

/// The bits of a number of IEEE 754's binary16, and of bf16, the upper half of a float.
struct Half {
  std::uint16_t bits = 0;
};
struct Bfloat16 {
  std::uint16_t bits = 0;
};

/// Returns the value type in which numpy would compute with two (numbers of kernel_abi.h): Problem::value_type
/// for operands of these. bf16 counts as f32, and so do two operands of f16, whose arithmetic that is. Operands of
/// narrower types are bound as they are where their format has the type ("csr@i8"); others must be converted.
constexpr std::int32_t promoted(std::int32_t a, std::int32_t b) {
  constexpr auto is_complex = [](std::int32_t type) { return type == SCHAAS_C64 || type == SCHAAS_C128; };
  constexpr auto part = [](std::int32_t type) {
    return type == SCHAAS_C64 ? SCHAAS_F32 : type == SCHAAS_C128 ? SCHAAS_F64 : type;
  };
  if (is_complex(a) || is_complex(b)) {
    // Beside a part of 32 bits, integers of 32 bits or more ask for one of 64.
    return promoted(promoted(part(a), SCHAAS_F32), promoted(part(b), SCHAAS_F32)) == SCHAAS_F32 ? SCHAAS_C64 : SCHAAS_C128;
  }
  struct Kind {
    bool real, has_sign;
    int bytes;
  };
  constexpr Kind kinds[] = {{true, true, 8},  {true, true, 4},  {false, true, 8},  {false, true, 4},  {true, true, 4},
                            {true, true, 2},  {false, true, 1}, {false, true, 2},  {false, false, 1}, {false, false, 2},
                            {false, false, 4}, {false, false, 8}, {false, false, 0}};
  const Kind x = kinds[a], y = kinds[b];
  if (x.real || y.real) {
    // An integer of n bytes is a real number of 2 n, of 8 at most.
    const int of_x = x.real ? x.bytes : 2 * x.bytes, of_y = y.real ? y.bytes : 2 * y.bytes;
    return of_x > 4 || of_y > 4 ? SCHAAS_F64 : SCHAAS_F32;
  }
  const Kind& wide = x.bytes >= y.bytes ? x : y;
  const Kind& other = x.bytes >= y.bytes ? y : x;
  const bool has_sign = x.has_sign || y.has_sign;
  // Beside a sign, an integer without one needs a wider type.
  const bool doubled = has_sign && other.bytes > 0 && (!wide.has_sign || (!other.has_sign && other.bytes == wide.bytes));
  const int bytes = doubled ? 2 * wide.bytes : wide.bytes;
  switch (bytes) {
    case 0:
      return SCHAAS_BOOL;
    case 1:
      return has_sign ? SCHAAS_I8 : SCHAAS_U8;
    case 2:
      return has_sign ? SCHAAS_I16 : SCHAAS_U16;
    case 4:
      return has_sign ? SCHAAS_I32 : SCHAAS_U32;
    case 8:
      return has_sign ? SCHAAS_I64 : SCHAAS_U64;
    default:
      return SCHAAS_F64;
  }
}

/// A tensor that lies in arrays of the caller: nothing is copied, and the arrays must stay while anything is
/// bound to them. Arrays are whatever std::data and std::size take: std::span, std::vector, std::array, C
/// arrays. Values are double, float, std::complex of these, bool or integers of 8 to 64 bits, positions and coordinates std::int32_t
/// or std::int64_t; floating point of 16 bits is `Half` and `Bfloat16`. Throws std::invalid_argument where an
/// array has another length than the extents say.
///
///     schaas::View b = schaas::View::csr({rows, columns}, positions, coordinates, values);
///     auto product = kernels.bind({{"B", b}, {"x", schaas::View::dense({columns}, x)}});
class View {
 public:
  /// Elements in row-major order.
  template <class Values>
  static View dense(std::vector<std::int64_t> extents, Values&& values) {
    View view(std::move(extents), value_type_of<Values>(), values_of(values));
    std::int64_t entries = 1;
    for (const std::int64_t extent : view.parts_->extents) {
      entries *= extent;
      view.parts_->levels.push_back({SCHAAS_LEVEL_DENSE, 0, nullptr, nullptr, entries});
    }
    require("values", std::size(values), entries);
    return view.finished();
  }

  /// A matrix by rows: row i has the entries [positions[i], positions[i + 1]).
  template <class Positions, class Coordinates, class Values>
  static View csr(std::array<std::int64_t, 2> extents, Positions&& positions, Coordinates&& coordinates,
                  Values&& values) {
    return compressed(extents, {0, 1}, positions, coordinates, values);
  }

  /// A matrix by columns.
  template <class Positions, class Coordinates, class Values>
  static View csc(std::array<std::int64_t, 2> extents, Positions&& positions, Coordinates&& coordinates,
                  Values&& values) {
    return compressed(extents, {1, 0}, positions, coordinates, values);
  }

  /// A compressed matrix of Eigen (Eigen::SparseMatrix, Eigen::Map of one) by rows or columns, as it is
  /// stored: the format to tell Problem is "csr" where Matrix::IsRowMajor, else "csc".
  template <class Matrix>
  static View eigen_sparse(Matrix& matrix) {
    if (!matrix.isCompressed())
      throw std::invalid_argument("the matrix is not compressed: call makeCompressed()");
    const auto outer = static_cast<std::size_t>(matrix.outerSize());
    const auto entries = static_cast<std::size_t>(matrix.nonZeros());
    return compressed(
        {matrix.rows(), matrix.cols()},
        Matrix::IsRowMajor ? std::array<std::int32_t, 2>{0, 1} : std::array<std::int32_t, 2>{1, 0},
        Pointed{matrix.outerIndexPtr(), outer + 1}, Pointed{matrix.innerIndexPtr(), entries},
        Pointed{matrix.valuePtr(), entries});
  }

  const schaas_tensor& tensor() const { return parts_->tensor; }
  operator const schaas_tensor*() const {
    return &parts_->tensor;
  }  // NOLINT: an operand is a name and a view

 private:
  struct Parts {
    std::vector<std::int64_t> extents;
    std::vector<std::int32_t> order;
    std::vector<schaas_level> levels;
    schaas_tensor tensor;
  };

  template <class Element>
  struct Pointed {
    Element* first;
    std::size_t count;
    Element* data() const { return first; }
    std::size_t size() const { return count; }
  };
  template <class Element>
  Pointed(Element*, std::size_t) -> Pointed<Element>;

  View(std::vector<std::int64_t> extents, std::int32_t value_type, void* values)
      : parts_(std::make_unique<Parts>()) {
    parts_->extents = std::move(extents);
    for (std::size_t mode = 0; mode < parts_->extents.size(); ++mode)
      parts_->order.push_back(static_cast<std::int32_t>(mode));
    parts_->tensor = {
        static_cast<std::int32_t>(parts_->extents.size()), value_type, nullptr, nullptr, nullptr, values};
  }

  template <class Positions, class Coordinates, class Values>
  static View compressed(std::array<std::int64_t, 2> extents, std::array<std::int32_t, 2> order,
                         Positions&& positions, Coordinates&& coordinates, Values&& values) {
    static_assert(std::is_same_v<Element<Positions>, Element<Coordinates>>,
                  "positions and coordinates have one type");
    View view({extents[0], extents[1]}, value_type_of<Values>(), values_of(values));
    const std::int64_t outer = extents[order[0]];
    const auto entries = static_cast<std::int64_t>(std::size(values));
    require("positions", std::size(positions), outer + 1);
    require("coordinates", std::size(coordinates), entries);
    view.parts_->order.assign(order.begin(), order.end());
    view.parts_->levels = {{SCHAAS_LEVEL_DENSE, 0, nullptr, nullptr, outer},
                           {SCHAAS_LEVEL_COMPRESSED, index_bits_of<Positions>(), values_of(positions),
                            values_of(coordinates), entries}};
    return view.finished();
  }

  template <class Array>
  using Element = std::remove_cv_t<std::remove_reference_t<decltype(*std::data(std::declval<Array&>()))>>;

  template <class Values>
  static constexpr std::int32_t value_type_of() {
    using Value = Element<Values>;
    if (std::is_same_v<Value, Half>) return SCHAAS_F16;
    if (std::is_same_v<Value, Bfloat16>) return SCHAAS_BF16;
    if (std::is_same_v<Value, bool>) return SCHAAS_BOOL;
    if (std::is_same_v<Value, std::complex<float>>) return SCHAAS_C64;
    if (std::is_same_v<Value, std::complex<double>>) return SCHAAS_C128;
    static_assert(std::is_same_v<Value, double> || std::is_same_v<Value, float> ||
                      std::is_integral_v<Value> || std::is_same_v<Value, Half> ||
                      std::is_same_v<Value, Bfloat16> || std::is_same_v<Value, std::complex<float>> ||
                      std::is_same_v<Value, std::complex<double>>,
                  "values are double, float, std::complex of these, bool, integers, Half or Bfloat16");
    constexpr bool has_sign = std::is_signed_v<Value>;
    switch (sizeof(Value)) {
      case 1:
        return has_sign ? SCHAAS_I8 : SCHAAS_U8;
      case 2:
        return has_sign ? SCHAAS_I16 : SCHAAS_U16;
      case 4:
        return std::is_floating_point_v<Value> ? SCHAAS_F32 : has_sign ? SCHAAS_I32 : SCHAAS_U32;
      default:
        return std::is_floating_point_v<Value> ? SCHAAS_F64 : has_sign ? SCHAAS_I64 : SCHAAS_U64;
    }
  }
  template <class Positions>
  static constexpr std::int32_t index_bits_of() {
    static_assert(std::is_integral_v<Element<Positions>> &&
                      (sizeof(Element<Positions>) == 4 || sizeof(Element<Positions>) == 8),
                  "positions and coordinates have 32 or 64 bits");
    return 8 * static_cast<std::int32_t>(sizeof(Element<Positions>));
  }
  /// The C structs point to what may be written, since results do; operands are read.
  template <class Array>
  static void* values_of(Array& array) {
    return const_cast<void*>(static_cast<const void*>(std::data(array)));
  }
  static void require(const char* what, std::size_t found, std::int64_t expected) {
    if (static_cast<std::int64_t>(found) == expected) return;
    throw std::invalid_argument("there are " + std::to_string(found) + " " + what + ", the extents ask for " +
                                std::to_string(expected));
  }

  View finished() {
    parts_->tensor.extents = parts_->extents.data();
    parts_->tensor.mode_order = parts_->order.data();
    parts_->tensor.levels = parts_->levels.data();
    return std::move(*this);
  }

  std::unique_ptr<Parts> parts_;
};

}  // namespace schaas
