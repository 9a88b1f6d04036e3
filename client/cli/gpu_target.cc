#include "client/cli/gpu_target.h"

#include "compiler/support/nearest_name.h"
#include "schaas/host.h"

// The target of a run. With `cuda` a missing device is an error; with `auto` the reason is kept, and the
// processor runs.
namespace schaas::cli {

const char* name(Target target) {
  switch (target) {
    case Target::cpu:
      return "cpu";
    case Target::cuda:
      return "cuda";
    case Target::automatic:
      break;
  }
  return "auto";
}

support::Result<Target> parse_target(const std::string& text) {
  std::vector<std::string> names;
  for (const Target target : {Target::cpu, Target::cuda, Target::automatic}) {
    if (text == name(target)) return target;
    names.emplace_back(name(target));
  }
  return support::invalid(
      "target", "`--target " + text + "`: expected cpu, cuda or auto" + support::did_you_mean(text, names));
}

support::Result<Devices> devices_for(Target target) {
  Devices devices;
  if (target == Target::cpu) return devices;
  client::GpuOptions options;
  options.rates_directory = client::default_data_directory();
  auto gpu = client::Gpu::open(options);
  if (gpu.ok()) {
    devices.gpu = std::move(gpu).value();
  } else if (target == Target::cuda) {
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
