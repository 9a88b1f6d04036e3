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
  std::vector<const client::PackedTensor*> operands;
  for (const auto& [name, tensor] : packed.tensors)
    if (name != packed.result) operands.push_back(&tensor);
  return client::target_for(gpu.facts(), operands, packed.tensors.at(packed.result), runs);
}

}  // namespace schaas::cli
