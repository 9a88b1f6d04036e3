#include "schaas/tensor.h"

#include <limits>

#include "client/cpp/platform/allocate.h"
#include "client/cpp/tensor/packed_tensor_builder.h"
#include "client/cpp/tensor/tensor_checks.h"
#include "client/cpp/tensor/typed.h"

// Tensors in memory. A PackedTensor owns or borrows its arrays and keeps the structs that kernels read,
// `level_views_`, which point into them. Each function that changes an array or a number of entries calls
// refresh_views(). Values are read and rounded by type here, so that callers compute in double.
namespace schaas::client {

std::optional<std::int64_t> checked_product(const std::vector<std::int64_t>& extents) {
  std::int64_t product = 1;
  bool overflow = false;
  for (const std::int64_t extent : extents) {
    // An extent of 0 ends the product: no elements, whatever the other extents are, even those behind an
    // overflow.
    if (extent == 0) return 0;
    overflow = overflow || __builtin_mul_overflow(product, extent, &product);
  }
  if (overflow) return std::nullopt;
  return product;
}

double rounded(double value, ValueType type) {
  // Infinity stands for the extremes of integers, so it stays.
  if (type == ValueType::bf16)
    return static_cast<double>(operators::of_bfloat16(operators::bfloat16_bits(static_cast<float>(value))));
  if (type == ValueType::f16) return static_cast<double>(operators::of_half(operators::half_bits(value)));
  return part_type(type) == ValueType::f32 ? static_cast<double>(static_cast<float>(value)) : value;
}

// A comma follows a single number, as in Python.
std::string tuple_text(const std::vector<std::int64_t>& extents) {
  std::string text = "(";
  for (std::size_t mode = 0; mode < extents.size(); ++mode)
    text += (mode > 0 ? ", " : "") + std::to_string(extents[mode]);
  return text + (extents.size() == 1 ? ",)" : ")");
}

std::int64_t DenseTensor::size() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : extents) product *= extent;
  return product;
}

double DenseTensor::at(std::int64_t linear) const {
  return for_type(value_type, [&](auto zero) { return real_part(values.as<decltype(zero)>()[linear]); });
}

std::complex<double> DenseTensor::complex_at(std::int64_t linear) const {
  return client::complex_at(values.data(), value_type, linear);
}

void DenseTensor::set(std::int64_t linear, std::complex<double> value) {
  for_type(value_type,
           [&](auto zero) { values.as<decltype(zero)>()[linear] = as_value<decltype(zero)>(value); });
}

std::int64_t DenseTensor::integer_at(std::int64_t linear) const {
  return for_type(value_type, [&](auto zero) {
    return static_cast<std::int64_t>(real_part_or_integer(values.as<decltype(zero)>()[linear]));
  });
}

void DenseTensor::set_integer(std::int64_t linear, std::int64_t value) {
  for_type(value_type,
           [&](auto zero) { values.as<decltype(zero)>()[linear] = integer_as<decltype(zero)>(value); });
}

support::Result<DenseTensor> zeros(std::vector<std::int64_t> extents, ValueType type) {
  const auto size = checked_product(extents);
  if (!size) return too_large("a dense tensor", "more than 2^63 elements");
  SCHAAS_ASSIGN_OR_RETURN(Buffer values,
                          allocate(*size, static_cast<std::int64_t>(bytes_of(type)), "a dense tensor"));
  DenseTensor tensor;
  tensor.extents = std::move(extents);
  tensor.value_type = type;
  tensor.values = std::move(values);
  return tensor;
}

DenseTensor copy(const DenseTensor& tensor) {
  DenseTensor result;
  result.extents = tensor.extents;
  result.value_type = tensor.value_type;
  result.values = tensor.values.copy();
  return result;
}

double PackedTensor::value(std::int64_t position) const {
  return for_type(value_type_, [&](auto zero) { return real_part(values_.as<decltype(zero)>()[position]); });
}

std::complex<double> PackedTensor::complex_value(std::int64_t position) const {
  return complex_at(values_.data(), value_type_, position);
}

std::int64_t PackedTensor::integer(std::int64_t position) const {
  return for_type(value_type_, [&](auto zero) {
    return static_cast<std::int64_t>(real_part_or_integer(values_.as<decltype(zero)>()[position]));
  });
}

std::size_t PackedTensor::bytes() const {
  std::size_t bytes = values_.bytes();
  for (const Level& level : levels_) bytes += level.pos.bytes() + level.crd.bytes();
  return bytes;
}

schaas_tensor PackedTensor::view() const {
  schaas_tensor view{};
  view.order = order();
  view.value_type = static_cast<std::int32_t>(value_type_);
  view.extents = extents_.data();
  view.mode_order = mode_order_.data();
  view.levels = level_views_.data();
  view.values = const_cast<void*>(values_.data());  // NOLINT: kernels write results through the same struct
  return view;
}

static_assert(static_cast<int>(ValueType::f64) == SCHAAS_F64);
static_assert(static_cast<int>(ValueType::f32) == SCHAAS_F32);
static_assert(static_cast<int>(ValueType::i64) == SCHAAS_I64);
static_assert(static_cast<int>(ValueType::i32) == SCHAAS_I32);
static_assert(static_cast<int>(ValueType::bf16) == SCHAAS_BF16);
static_assert(static_cast<int>(ValueType::f16) == SCHAAS_F16);
static_assert(static_cast<int>(ValueType::i8) == SCHAAS_I8);
static_assert(static_cast<int>(ValueType::i16) == SCHAAS_I16);
static_assert(static_cast<int>(ValueType::u8) == SCHAAS_U8);
static_assert(static_cast<int>(ValueType::u16) == SCHAAS_U16);
static_assert(static_cast<int>(ValueType::u32) == SCHAAS_U32);
static_assert(static_cast<int>(ValueType::u64) == SCHAAS_U64);
static_assert(static_cast<int>(ValueType::boolean) == SCHAAS_BOOL);
static_assert(static_cast<int>(ValueType::c64) == SCHAAS_C64);
static_assert(static_cast<int>(ValueType::c128) == SCHAAS_C128);

std::int32_t abi_number(format::LevelFormat level) { return static_cast<std::int32_t>(level); }

static_assert(static_cast<int>(format::LevelFormat::dense) == SCHAAS_LEVEL_DENSE);
static_assert(static_cast<int>(format::LevelFormat::compressed) == SCHAAS_LEVEL_COMPRESSED);
static_assert(static_cast<int>(format::LevelFormat::compressed_nonunique) ==
              SCHAAS_LEVEL_COMPRESSED_NONUNIQUE);
static_assert(static_cast<int>(format::LevelFormat::singleton) == SCHAAS_LEVEL_SINGLETON);
static_assert(static_cast<int>(format::LevelFormat::singleton_nonunique) == SCHAAS_LEVEL_SINGLETON_NONUNIQUE);
static_assert(static_cast<int>(format::LevelFormat::bitmap) == SCHAAS_LEVEL_BITMAP);
static_assert(static_cast<int>(format::LevelFormat::banded) == SCHAAS_LEVEL_BANDED);
static_assert(static_cast<int>(format::LevelFormat::hashed) == SCHAAS_LEVEL_HASHED);
static_assert(static_cast<int>(format::LevelFormat::compressed_unordered) ==
              SCHAAS_LEVEL_COMPRESSED_UNORDERED);

std::int32_t index_bits(format::LevelFormat level, int position_bits) {
  switch (format::coordinates(level)) {
    case format::Coordinates::none:
      return 0;
    case format::Coordinates::presence:
      return 8;
    default:
      return position_bits;
  }
}

// Structs are rebuilt whole: a moved Buffer keeps its address, a replaced one does not.
void PackedTensor::refresh_views() {
  level_views_.clear();
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const Level& level = levels_[l];
    schaas_level view{};
    view.format = abi_number(format_.levels[l]);
    view.index_bits = index_bits(format_.levels[l], position_bits_);
    view.pos = level.pos.data();
    view.crd = level.crd.data();
    view.entries = level.entries;
    level_views_.push_back(view);
  }
}

PackedTensor PackedTensorBuilder::finish() && {
  PackedTensor tensor;
  tensor.format_ = std::move(format);
  tensor.format_.values.reset();
  tensor.extents_ = std::move(extents);
  tensor.value_type_ = value_type;
  tensor.position_bits_ = position_bits;
  // The fill value is compared with stored values, so it is rounded as they are.
  tensor.fill_value_ = rounded(fill_value, value_type);
  tensor.levels_ = std::move(levels);
  tensor.values_ = std::move(values);
  tensor.on_device_ = on_device;
  tensor.mode_order_.assign(tensor.format_.mode_order.begin(), tensor.format_.mode_order.end());
  tensor.refresh_views();
  return tensor;
}

PackedTensorBuilder PackedTensorBuilder::of(PackedTensor tensor) {
  return {std::move(tensor.format_), std::move(tensor.extents_), tensor.value_type_,
          tensor.position_bits_,     tensor.fill_value_,         std::move(tensor.levels_),
          std::move(tensor.values_), tensor.on_device_};
}

PackedTensor with_arrays(const PackedTensor& tensor, const std::function<Buffer(const Buffer&)>& of_levels,
                         const std::function<Buffer(const Buffer&)>& of_values) {
  PackedTensorBuilder builder;
  builder.format = tensor.format();
  builder.extents = tensor.extents();
  builder.value_type = tensor.value_type();
  builder.position_bits = tensor.position_bits();
  builder.fill_value = tensor.fill_value();
  for (const auto& level : tensor.levels())
    builder.levels.push_back({of_levels(level.pos), of_levels(level.crd), level.entries});
  builder.values = of_values(tensor.values());
  return std::move(builder).finish();
}

PackedTensor guarded(const PackedTensor& tensor) {
  const auto guard = [](const Buffer& array) { return array.guarded(); };
  return with_arrays(tensor, guard, guard);
}

}  // namespace schaas::client
