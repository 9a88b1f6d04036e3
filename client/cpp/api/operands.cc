#include "schaas/operands.h"

#include <algorithm>
#include <cstring>
#include <variant>

#include "client/cpp/selection/list_statistics.h"
#include "compiler/format/assembled_format.h"

// Operands that were read from files, packed as kernels take them: in the formats of the problem, in blocks
// where it has some. Packed tensors are validated once more, as kernels check nothing. The values that an
// update starts from are kept, so that runs can be repeated.
namespace schaas::client {

// The order of arguments is the server's; names that the expression lacks are a fault of its answer.
std::vector<PackedTensor*> Packed::arguments(const std::vector<std::string>& order) {
  std::vector<PackedTensor*> pointers;
  for (const auto& name : order) {
    const auto found = tensors.find(name);
    SCHAAS_CHECK(found != tensors.end(),
                 "the server names an argument `" + name + "` that the expression does not have");
    pointers.push_back(&found->second);
  }
  return pointers;
}

void Packed::restart() {
  if (before.bytes() == 0) return;
  Buffer& values = tensors.at(result).values();
  std::memcpy(values.data(), before.data(), before.bytes());
}

namespace {

/// Packs an operand in the form that the kernel takes.
support::Result<PackedTensor> pack_one(const Operand& operand, const Blocks& blocks,
                                       const PackOptions& options) {
  const auto format = blocks.format(operand.name, operand.format);
  if (const auto* entries = std::get_if<CooTensor>(&operand.data)) {
    if (blocks.empty()) return pack(*entries, format, options);
    return pack(blocks.split(operand.name, *entries), format, options);
  }
  const auto& dense = std::get<DenseTensor>(operand.data);
  if (blocks.empty()) return pack(dense, format, options);
  if (!operand.format.all_dense())
    return pack(blocks.split(operand.name, to_coo(dense, options.fill_value)), format, options);
  SCHAAS_ASSIGN_OR_RETURN(const DenseTensor split, blocks.split(operand.name, dense));
  return pack(split, format, options);
}

}  // namespace

support::Result<Packed> pack_all(const Operands& operands, const Program& program, ValueType type,
                                 const PackListener& listener) {
  Packed packed;
  packed.result = program.result().tensor;
  packed.value_type = type;
  for (const auto& operand : operands.tensors) {
    if (listener) listener(operand.name);
    const bool updated = operand.name == packed.result;
    const PackOptions options{operand.name, updated ? arithmetic_type(type) : type, operands.position_bits,
                              program.semiring->zero};
    auto one = pack_one(operand, operands.blocks, options);
    if (!one.ok()) return one.error();
    SCHAAS_RETURN_IF_ERROR(validate(one->view(), operand.name));
    packed.tensors.emplace(operand.name, std::move(one).value());
  }
  if (const auto updated = packed.tensors.find(packed.result); updated != packed.tensors.end()) {
    packed.before = updated->second.values().copy();
    return packed;
  }
  std::vector<std::int64_t> extents;
  for (const auto& index : program.result().indices) extents.push_back(operands.extents.at(index));
  SCHAAS_ASSIGN_OR_RETURN(
      auto result,
      zeros(operands.blocks.extents(packed.result, extents),
            format::assembled_format(operands.blocks.format(packed.result, operands.result_format)),
            {packed.result, arithmetic_type(type), operands.position_bits, program.semiring->zero}));
  packed.tensors.emplace(packed.result, std::move(result));
  return packed;
}

// Sizes as kernels see them: where formats are in blocks, those of the split tensors.
Sizes all_sizes(const Operands& operands, const Packed& packed, const Program& program) {
  Sizes sizes;
  sizes.extents = operands.kernel_extents;
  for (const auto& [name, tensor] : packed.tensors) {
    sizes.entries[name] = entries_of(tensor);
    sizes.occupied[name] = occupied_coordinates(tensor, true);
  }
  sizes.lists = list_statistics(program, [&](const std::string& name) {
    const auto found = packed.tensors.find(name);
    return found == packed.tensors.end() ? nullptr : &found->second;
  });
  return sizes;
}

// Sizes as people are told them: entries of dense tensors follow from the extents.
Sizes reported_sizes(Sizes sizes, const Packed& packed) {
  for (const auto& [name, tensor] : packed.tensors) {
    if (tensor.format().all_dense()) sizes.entries.erase(name);
  }
  return sizes;
}

}  // namespace schaas::client
