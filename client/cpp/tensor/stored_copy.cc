#include "client/cpp/tensor/stored_copy.h"

#include <cstring>
#include <utility>

#include "client/cpp/platform/allocate.h"
#include "client/cpp/tensor/packed_tensor_builder.h"
#include "client/cpp/tensor/typed.h"

// A copy in another storage that can be refreshed. Converting a tensor whose values are their own positions
// gives, for each value of the copy, the position in the original. A refresh is then one gather over that
// list, without any look at the structure. It takes 8 bytes per value of the copy and works for every pair of
// formats that convert() knows.
namespace schaas::client {
namespace {

using support::Result;

// The same structure, whose values are their positions, counted from 1: what a conversion makes of it says
// where each value comes from. Doubles count exactly far beyond what memory holds.
Result<PackedTensor> numbered(const PackedTensor& tensor, const std::string& name) {
  PackedTensorBuilder builder;
  builder.format = tensor.format();
  builder.extents = tensor.extents();
  builder.position_bits = tensor.position_bits();
  for (const auto& level : tensor.levels())
    builder.levels.push_back({level.pos.copy(), level.crd.copy(), level.entries});
  SCHAAS_ASSIGN_OR_RETURN(builder.values, allocate(tensor.stored(), 8, "a copy of `" + name + "`"));
  auto* const numbers = builder.values.as<double>();
  for (std::int64_t position = 0; position < tensor.stored(); ++position)
    numbers[position] = static_cast<double>(position + 1);
  return std::move(builder).finish();
}

}  // namespace

Result<StoredCopy> StoredCopy::make(const PackedTensor& original, const format::TensorFormat& format,
                                    const ConvertOptions& options) {
  SCHAAS_ASSIGN_OR_RETURN(const PackedTensor from, numbered(original, options.name));
  SCHAAS_ASSIGN_OR_RETURN(PackedTensor to, convert(from, format, options));
  const std::int64_t count = to.stored();
  PackedTensorBuilder builder = PackedTensorBuilder::of(std::move(to));
  Buffer positions = std::move(builder.values);  // numbers become positions where they stand
  // memcpy avoids reading one type through a pointer to another; compilers make moves of it.
  for (std::int64_t n = 0; n < count; ++n) {
    char* const at = positions.as<char>() + 8 * n;
    double number = 0;
    std::memcpy(&number, at, sizeof number);
    // Slots that no entry of the original fills hold 0 and get position -1.
    const auto position = static_cast<std::int64_t>(number) - 1;
    std::memcpy(at, &position, sizeof position);
  }
  SCHAAS_ASSIGN_OR_RETURN(Buffer values,
                          allocate(count, static_cast<std::int64_t>(bytes_of(original.value_type())),
                                   "a copy of `" + options.name + "`"));
  builder.value_type = original.value_type();
  builder.fill_value = original.fill_value();
  builder.values = std::move(values);
  return StoredCopy(original, std::move(builder).finish(), std::move(positions));
}

template <class Value>
void StoredCopy::bring(std::int64_t begin, std::int64_t end) {
  const auto* const position = std::as_const(positions_).as<std::int64_t>();
  const auto* const from = original_->values().as<Value>();
  const auto fill = as_value<Value>(original_->fill_value());
  auto* const to = copy_.values().as<Value>();
  for (std::int64_t n = begin; n < end; ++n) to[n] = position[n] < 0 ? fill : from[position[n]];
}

// Parts are disjoint ranges of the copy's values: threads need no synchronisation.
void StoredCopy::refresh(int thread, int team) {
  const std::int64_t count = copy_.stored();
  const std::int64_t begin = count * thread / team, end = count * (thread + 1) / team;
  for_type(copy_.value_type(), [&](auto zero) { bring<decltype(zero)>(begin, end); });
}

void StoredCopy::guard() { copy_ = guarded(copy_); }

std::int64_t StoredCopy::bytes() const {
  return static_cast<std::int64_t>(copy_.bytes()) + static_cast<std::int64_t>(positions_.bytes());
}

}  // namespace schaas::client
