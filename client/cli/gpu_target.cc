#include "client/cli/gpu_target.h"

#include "compiler/support/nearest_name.h"

namespace schaas::cli {

support::Result<Devices> devices_for(const std::string& target) {
  if (target != "cpu" && target != "cuda" && target != "auto") {
    return support::invalid("target", "`--target " + target + "`: expected cpu, cuda or auto" +
                                          support::did_you_mean(target, {"cpu", "cuda", "auto"}));
  }
  Devices devices;
  if (target == "cpu") return devices;
  auto gpu = client::Gpu::open();
  if (gpu.ok()) {
    devices.gpu = std::move(gpu).value();
  } else if (target == "cuda") {
    return gpu.error();
  } else {
    devices.why_none = gpu.error().message;
  }
  return devices;
}

client::GpuTarget gpu_target(const client::Gpu& gpu, const client::Packed& packed, int runs) {
  client::GpuTarget target;
  target.device = gpu.facts();
  target.runs = runs;
  for (const auto& [name, tensor] : packed.tensors) {
    const auto values = static_cast<double>(tensor.values().bytes());
    const auto all = static_cast<double>(tensor.bytes());
    target.tensor_bytes += all;
    target.level_bytes += all - values;
    (name == packed.result ? target.result_bytes : target.value_bytes) += values;
    if (!tensor.format().all_dense()) target.position_bits = tensor.position_bits();
  }
  return target;
}

}  // namespace schaas::cli
