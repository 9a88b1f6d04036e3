#include "client/cpp/tensor/overlap.h"

#include <cstdint>
#include <new>
#include <utility>

#include "client/cpp/platform/allocate.h"
#include "client/cpp/tensor/packed_tensor_builder.h"

// Memory that a result and its operands have in common. A kernel writes its result while it reads operands,
// so common memory is wrong, but for an update of a dense tensor in place. Ranges of addresses are compared
// as integers: comparing pointers into different arrays is undefined.
namespace schaas::client {
namespace {

// Two ranges overlap when each begins before the other ends; empty ones overlap nothing.
bool share_memory(const Buffer& a, const Buffer& b) {
  const auto from = reinterpret_cast<std::uintptr_t>(a.data());
  const auto other = reinterpret_cast<std::uintptr_t>(b.data());
  return from < other + b.bytes() && other < from + a.bytes() && a.bytes() > 0 && b.bytes() > 0;
}

bool levels_have_memory_of(const PackedTensor& tensor, const Buffer& array) {
  for (const PackedTensor::Level& level : tensor.levels())
    if (share_memory(level.pos, array) || share_memory(level.crd, array)) return true;
  return false;
}

bool has_memory_of(const PackedTensor& tensor, const Buffer& array) {
  return share_memory(tensor.values(), array) || levels_have_memory_of(tensor, array);
}

// Copies positions and coordinates, and borrows the values, which a run reads as they are then.
PackedTensor with_own_levels(const PackedTensor& tensor) {
  return with_arrays(
      tensor, [](const Buffer& array) { return array.copy(); },
      [](const Buffer& values) { return Buffer::borrowed(values.data(), values.bytes()); });
}

bool share_memory(const PackedTensor& result, const PackedTensor& operand) {
  if (has_memory_of(operand, result.values())) return true;
  for (const PackedTensor::Level& level : result.levels())
    if (has_memory_of(operand, level.pos) || has_memory_of(operand, level.crd)) return true;
  return false;
}

}  // namespace

const std::string* overlapping_operand(const PackedTensor& result,
                                       const std::map<std::string, PackedTensor*>& operands,
                                       const PackedTensor* updated) {
  for (const auto& [name, operand] : operands) {
    // An update of a dense tensor in place is no overlap: kernels read each element before they write it.
    const bool is_update = operand == updated && operand->values().data() == result.values().data() &&
                           operand->format().all_dense();
    if (!is_update && share_memory(result, *operand)) return &name;
  }
  return nullptr;
}

support::Result<KeptLevels> KeptLevels::of(const std::map<std::string, PackedTensor*>& operands,
                                           const PackedTensor& result) {
  KeptLevels kept;
  for (const auto& [name, operand] : operands) {
    if (!levels_have_memory_of(*operand, result.values())) continue;
    if (operand->on_device())
      return support::unsupported("result-overlap",
                                  "the result has memory of the positions or coordinates of `" + name +
                                      "` on a device: give it memory of its own");
    // The list stays empty as long as no operand needs a copy.
    if (kept.own.empty()) kept.operands = operands;
    try {
      kept.own.push_back(std::make_unique<PackedTensor>(with_own_levels(*operand)));
    } catch (const std::bad_alloc&) {
      return too_large("a copy of the levels of `" + name + "`",
                       bytes_text(static_cast<double>(operand->bytes())));
    }
    kept.operands[name] = kept.own.back().get();
  }
  return kept;
}

}  // namespace schaas::client
