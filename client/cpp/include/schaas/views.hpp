#pragma once
#include <array>
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

/// A tensor that lies in arrays of the caller: nothing is copied, and the arrays must stay while anything is
/// bound to them. Arrays are whatever std::data and std::size take: std::span, std::vector, std::array, C
/// arrays. Values are double, float, std::int64_t or std::int32_t, positions and coordinates std::int32_t or
/// std::int64_t. Throws std::invalid_argument where an array has another length than the extents say.
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
    constexpr bool whole = std::is_integral_v<Value> && std::is_signed_v<Value>;
    constexpr bool wide = sizeof(Value) == 8;
    static_assert((std::is_floating_point_v<Value> || whole) && (wide || sizeof(Value) == 4),
                  "values are double, float, std::int64_t or std::int32_t");
    if (whole) return wide ? SCHAAS_I64 : SCHAAS_I32;
    return wide ? SCHAAS_F64 : SCHAAS_F32;
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
