#include <algorithm>

#include "client/cpp/gpu/gpu_arrays.h"
#include "client/cpp/platform/allocate.h"
#include "client/cpp/tensor/packed_tensor_builder.h"

// Tensors that lie on a device, as far as the host has to do with them. It checks their addresses, copies
// their levels and values, and counts the bytes for the choice between processor and device.
namespace schaas::client {
namespace {

using support::Result;

/// CU_POINTER_ATTRIBUTE_MEMORY_TYPE and _DEVICE_ORDINAL; CU_MEMORYTYPE_HOST is 1.
constexpr int memory_type = 2, device_ordinal = 9, of_host = 1;

/// As many bytes of the host.
Result<Buffer> like(const Buffer& array, const std::string& name) {
  return allocate(static_cast<std::int64_t>(array.bytes()), 1, "`" + name + "`");
}

/// A tensor of the host with the positions of one that lies there; with its coordinates too, if wanted. They
/// are here once what is on the stream has run.
Result<PackedTensorBuilder> begin_twin(const PackedTensor& tensor, const std::string& name, bool coordinates,
                                       const GpuArrays& arrays) {
  PackedTensorBuilder twin;
  twin.format = tensor.format();
  twin.extents = tensor.extents();
  twin.value_type = tensor.value_type();
  twin.position_bits = tensor.position_bits();
  twin.fill_value = tensor.fill_value();
  for (const auto& level : tensor.levels()) {
    auto& to = twin.levels.emplace_back();
    to.entries = level.entries;
    SCHAAS_ASSIGN_OR_RETURN(to.pos, like(level.pos, name));
    SCHAAS_RETURN_IF_ERROR(arrays.copy(to.pos.data(), level.pos.data(), level.pos.bytes()));
    if (!coordinates) continue;
    SCHAAS_ASSIGN_OR_RETURN(to.crd, like(level.crd, name));
    SCHAAS_RETURN_IF_ERROR(arrays.copy(to.crd.data(), level.crd.data(), level.crd.bytes()));
  }
  return twin;
}

}  // namespace

Result<void> Gpu::check_is_there(const PackedTensor& tensor, const std::string& name) const {
  const GpuContext context(*state_);
  SCHAAS_RETURN_IF_ERROR(context.entered());
  const auto check = [&](const Buffer& array, const char* what) -> Result<void> {
    if (array.bytes() == 0) return {};
    const auto address = reinterpret_cast<GpuDriver::Address>(array.data());
    const std::string said = "`" + name + "` is said to lie on " + state_->facts.name + ", but its " + what;
    unsigned type = 0;
    // Memory that the driver does not know is the host's.
    if (state_->driver.pointer_attribute(&type, memory_type, address) != 0 || type == of_host)
      return support::invalid("not-on-device", said + " lie in the host's memory");
    int device = 0;
    if (state_->driver.pointer_attribute(&device, device_ordinal, address) != 0 || device == state_->device)
      return {};
    return support::invalid("not-on-device", said + " lie on device " + std::to_string(device) +
                                                 ", and the kernels run on device " +
                                                 std::to_string(state_->device));
  };
  for (const auto& level : tensor.levels()) {
    SCHAAS_RETURN_IF_ERROR(check(level.pos, "positions"));
    SCHAAS_RETURN_IF_ERROR(check(level.crd, "coordinates"));
  }
  return check(tensor.values(), "values");
}

Result<PackedTensor> Gpu::levels_on_host(const PackedTensor& tensor, const std::string& name,
                                         void* stream) const {
  const GpuContext context(*state_);
  SCHAAS_RETURN_IF_ERROR(context.entered());
  const GpuArrays arrays(state_, stream);
  SCHAAS_ASSIGN_OR_RETURN(PackedTensorBuilder twin, begin_twin(tensor, name, true, arrays));
  SCHAAS_ASSIGN_OR_RETURN(twin.values, like(tensor.values(), name));
  SCHAAS_RETURN_IF_ERROR(arrays.wait());
  return std::move(twin).finish();
}

Result<std::vector<Spread>> Gpu::spreads(const PackedTensor& tensor, void* stream) const {
  if (!tensor.on_device()) return spreads_of(tensor);
  const GpuContext context(*state_);
  SCHAAS_RETURN_IF_ERROR(context.entered());
  const GpuArrays arrays(state_, stream);
  SCHAAS_ASSIGN_OR_RETURN(PackedTensorBuilder twin, begin_twin(tensor, "positions", false, arrays));
  SCHAAS_RETURN_IF_ERROR(arrays.wait());
  return spreads_of(std::move(twin).finish());
}

Result<void> Gpu::copy_values(const PackedTensor& from, PackedTensor& to, void* stream) const {
  const GpuContext context(*state_);
  SCHAAS_RETURN_IF_ERROR(context.entered());
  const GpuArrays arrays(state_, stream);
  // Both have the same entries; a difference could come from a caller's struct alone.
  SCHAAS_RETURN_IF_ERROR(arrays.copy(to.values().data(), from.values().data(),
                                     std::min(to.values().bytes(), from.values().bytes())));
  return arrays.wait();
}

GpuTarget target_for(const GpuFacts& device, const std::vector<const PackedTensor*>& operands,
                     const PackedTensor& result, int runs) {
  // Tensors on the device count for a run on the processor, those on the host for a run on the device.
  GpuTarget target;
  target.device = device;
  target.runs = runs;
  const auto add = [&](const PackedTensor& tensor, double& values_moved) {
    const auto values = static_cast<double>(tensor.values().bytes());
    const auto all = static_cast<double>(tensor.bytes());
    if (!tensor.format().all_dense()) target.position_bits = tensor.position_bits();
    if (tensor.on_device()) {
      target.host_bytes += values;
      ++target.host_copies;
      target.host_level_bytes += all - values;
      return;
    }
    target.tensor_bytes += all;
    target.level_bytes += all - values;
    values_moved += values;
    ++target.copies;
  };
  for (const PackedTensor* operand : operands) add(*operand, target.value_bytes);
  add(result, target.result_bytes);
  return target;
}

namespace {

// Levels are brought once for all runs, values with each one.
double way_seconds(const GpuTarget& target, double once_bytes, double bytes, int copies) {
  return (once_bytes / std::max(target.runs, 1) + bytes) / target.device.transferred_bytes_per_second +
         copies * target.device.transfer_seconds;
}

}  // namespace

double GpuTarget::seconds_there() const {
  return way_seconds(*this, level_bytes, value_bytes + result_bytes, copies);
}
double GpuTarget::seconds_here() const {
  return way_seconds(*this, host_level_bytes, host_bytes, host_copies);
}

std::string GpuTarget::class_text() const {
  if (host_bytes + host_level_bytes == 0) return device.name;
  // Measurements are compared only where the tensors lay alike.
  const bool all = level_bytes + value_bytes + result_bytes == 0;
  return device.name + (all ? ", all tensors there" : ", some tensors there");
}

}  // namespace schaas::client
