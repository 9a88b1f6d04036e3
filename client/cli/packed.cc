#include "client/cli/packed.h"

#include <algorithm>
#include <cstring>
#include <variant>

namespace schaas::cli {

std::vector<client::PackedTensor*> Packed::arguments(const std::vector<std::string>& order) {
  std::vector<client::PackedTensor*> pointers;
  for (const auto& name : order) {
    const auto place = tensors.find(name);
    SCHAAS_CHECK(place != tensors.end(),
                 "the server names an argument `" + name + "` that the expression does not have");
    pointers.push_back(&place->second);
  }
  return pointers;
}

void Packed::restart() {
  if (before.bytes() == 0) return;
  client::Buffer& values = tensors.at(result).values();
  std::memcpy(values.data(), before.data(), before.bytes());
}

namespace {

/// What a kernel takes of an operand.
support::Result<client::PackedTensor> pack_one(const Operand& operand, const client::Blocks& blocks,
                                               const client::PackOptions& options) {
  const auto format = blocks.format(operand.name, operand.format);
  if (const auto* entries = std::get_if<client::CooTensor>(&operand.data)) {
    if (blocks.empty()) return client::pack(*entries, format, options);
    return client::pack(blocks.split(operand.name, *entries), format, options);
  }
  const auto& dense = std::get<client::DenseTensor>(operand.data);
  if (blocks.empty()) return client::pack(dense, format, options);
  if (!operand.format.all_dense())
    return client::pack(blocks.split(operand.name, client::to_coo(dense, options.fill_value)), format,
                        options);
  SCHAAS_ASSIGN_OR_RETURN(const client::DenseTensor split, blocks.split(operand.name, dense));
  return client::pack(split, format, options);
}

}  // namespace

support::Result<Packed> pack_all(const Operands& operands, const client::Program& program,
                                 client::ValueType type, ProgressLine& progress) {
  Packed packed;
  packed.result = program.result().tensor;
  for (const auto& operand : operands.tensors) {
    progress.show("packing " + operand.name);
    const client::PackOptions options{operand.name, type, operands.position_bits, program.semiring->zero};
    auto one = pack_one(operand, operands.blocks, options);
    if (!one.ok()) return one.error();
    SCHAAS_RETURN_IF_ERROR(client::validate(one->view(), operand.name));
    packed.tensors.emplace(operand.name, std::move(one).value());
  }
  if (const auto updated = packed.tensors.find(packed.result); updated != packed.tensors.end()) {
    packed.before = updated->second.values().copy();
    return packed;
  }
  std::vector<std::int64_t> extents;
  for (const auto& index : program.result().indices) extents.push_back(operands.extents.at(index));
  SCHAAS_ASSIGN_OR_RETURN(
      auto result, client::zeros(operands.blocks.extents(packed.result, extents),
                                 operands.blocks.format(packed.result, operands.result_format),
                                 {packed.result, type, operands.position_bits, program.semiring->zero}));
  packed.tensors.emplace(packed.result, std::move(result));
  progress.clear();
  return packed;
}

client::Sizes all_sizes(const Operands& operands, const Packed& packed) {
  client::Sizes sizes;
  sizes.extents = operands.kernel_extents;
  for (const auto& [name, tensor] : packed.tensors) sizes.entries[name] = client::entries_of(tensor);
  return sizes;
}

client::Sizes reported_sizes(client::Sizes sizes, const Packed& packed) {
  for (const auto& [name, tensor] : packed.tensors) {
    if (tensor.format().all_dense()) sizes.entries.erase(name);
  }
  return sizes;
}

}  // namespace schaas::cli
