#include <optional>

#include "client/cpp/tensor/packed_tensor_builder.h"
#include "client/cpp/tensor/struct_check.h"
#include "schaas/tensor.h"

// Tensors over arrays of the caller: nothing is copied, and the caller keeps the arrays alive and at their
// addresses. The struct is always checked, the contents of its arrays as `Trust` says. All arrays have
// lengths that follow from the struct: parents + 1 positions, one coordinate per entry, and of a band one per
// parent.
namespace schaas::client {
namespace {

support::Result<format::TensorFormat> format_of(const schaas_tensor& view, const std::string& name) {
  format::TensorFormat format;
  for (std::int32_t l = 0; l < view.order; ++l) {
    const auto level = format::level_of(view.levels[l].format);
    if (!level) return broken(name, "has the unknown level format " + std::to_string(view.levels[l].format));
    format.levels.push_back(*level);
    format.mode_order.push_back(view.mode_order[l]);
  }
  if (view.order == 0) return format;
  return format::parse(format::print(format), view.order, name);  // checks that the levels fit each other
}

/// Returns the width of positions of all sparse levels; 32 when there is none.
support::Result<int> position_bits(const schaas_tensor& view, const format::TensorFormat& format,
                                   const std::string& name) {
  int bits = 0;
  for (std::int32_t l = 0; l < view.order; ++l) {
    // Dense levels and bitmaps have no positions; their `index_bits` do not count.
    if (format::computes_positions(format.levels[l])) continue;
    if (bits != 0 && bits != view.levels[l].index_bits)
      return broken(name, "has levels of " + std::to_string(bits) + " and of " +
                              std::to_string(view.levels[l].index_bits) + " bits");
    bits = view.levels[l].index_bits;
  }
  return bits == 0 ? 32 : bits;
}

// Returns a level over the arrays of the caller. `parents`: entries of the level above, 1 above the first
// one.
PackedTensor::Level borrow_level(const schaas_level& level, format::LevelFormat kind, std::int64_t parents) {
  const auto width = static_cast<std::size_t>(level.index_bits / 8);
  const std::int64_t coordinates =
      format::coordinates(kind) == format::Coordinates::first ? parents : level.entries;
  PackedTensor::Level out;
  if (!format::computes_positions(kind) && !format::is_singleton(kind))
    out.pos = Buffer::borrowed(level.pos, width * static_cast<std::size_t>(parents + 1));
  if (format::is_sparse(kind))
    out.crd = Buffer::borrowed(level.crd, width * static_cast<std::size_t>(coordinates));
  out.entries = level.entries;
  return out;
}

/// Everything but the contents of the arrays.
support::Result<PackedTensorBuilder> described(const schaas_tensor& view, const std::string& name,
                                               double fill_value) {
  PackedTensorBuilder builder;
  SCHAAS_ASSIGN_OR_RETURN(builder.format, format_of(view, name));
  SCHAAS_ASSIGN_OR_RETURN(builder.position_bits, position_bits(view, builder.format, name));
  builder.extents.assign(view.extents, view.extents + view.order);
  builder.value_type = static_cast<ValueType>(view.value_type);
  builder.fill_value = fill_value;
  std::int64_t parents = 1;
  for (std::int32_t l = 0; l < view.order; ++l) {
    builder.levels.push_back(borrow_level(view.levels[l], builder.format.levels[l], parents));
    parents = view.levels[l].entries;
  }
  builder.values =
      Buffer::borrowed(view.values, static_cast<std::size_t>(parents) * bytes_of(builder.value_type));
  return builder;
}

}  // namespace

// Checks the struct alone: arrays in device memory cannot be read here.
support::Result<PackedTensor> borrow_on_device(const schaas_tensor& view, const std::string& name,
                                               double fill_value) {
  SCHAAS_RETURN_IF_ERROR(check_struct(view, name));
  SCHAAS_ASSIGN_OR_RETURN(PackedTensorBuilder builder, described(view, name, fill_value));
  builder.on_device = true;
  return std::move(builder).finish();
}

namespace {

support::Result<void> check(const schaas_tensor& view, const std::string& name, Trust trust, int threads) {
  return trust == Trust::trusted ? check_struct(view, name) : validate(view, name, threads, trust);
}

}  // namespace

support::Result<PackedTensor> borrow(const schaas_tensor& view, const std::string& name, double fill_value,
                                     Trust trust, int threads) {
  SCHAAS_RETURN_IF_ERROR(check(view, name, trust, threads));
  SCHAAS_ASSIGN_OR_RETURN(PackedTensorBuilder builder, described(view, name, fill_value));
  return std::move(builder).finish();
}

namespace {

/// The tensor is over these arrays already. Entries follow from the extents where levels have no arrays.
bool has_arrays(const PackedTensor& tensor, const schaas_tensor& view) {
  for (std::int32_t l = 0; l < view.order; ++l) {
    const PackedTensor::Level& own = tensor.levels()[static_cast<std::size_t>(l)];
    const schaas_level& level = view.levels[l];
    const bool is_sparse = format::is_sparse(tensor.format().levels[static_cast<std::size_t>(l)]);
    if (own.entries != level.entries) return false;
    if (is_sparse && (own.pos.data() != level.pos || own.crd.data() != level.crd)) return false;
  }
  return tensor.values().data() == view.values;
}

}  // namespace

// Keeps format, extents, and value type of `tensor`; arrays and numbers of entries may be other ones.
support::Result<void> borrow_again(PackedTensor& tensor, const schaas_tensor& view, const std::string& name,
                                   Trust trust, int threads) {
  SCHAAS_RETURN_IF_ERROR(check(view, name, trust, threads));
  if (has_arrays(tensor, view)) return {};
  PackedTensorBuilder builder = PackedTensorBuilder::of(std::move(tensor));
  std::int64_t parents = 1;
  for (std::int32_t l = 0; l < view.order; ++l) {
    const auto at = static_cast<std::size_t>(l);
    builder.levels[at] = borrow_level(view.levels[l], builder.format.levels[at], parents);
    parents = view.levels[l].entries;
  }
  builder.values =
      Buffer::borrowed(view.values, static_cast<std::size_t>(parents) * bytes_of(builder.value_type));
  tensor = std::move(builder).finish();
  return {};
}

}  // namespace schaas::client
