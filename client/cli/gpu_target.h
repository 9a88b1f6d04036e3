#pragma once
#include <optional>
#include <string>

#include "schaas/gpu.h"
#include "schaas/operands.h"

namespace schaas::cli {

/// Value of `--target`: the processor, a GPU, or the faster of both where there is a GPU.
enum class Target { cpu, cuda, automatic };
const char* name(Target target);  ///< "cpu", "cuda", "auto"
/// Errors: invalid [target].
support::Result<Target> parse_target(const std::string& text);

/// Devices on which kernels may run.
struct Devices {
  std::optional<client::Gpu> gpu;
  std::string why_none;  ///< with Target::automatic: why no GPU competes
};
/// Opens the devices of a target. Errors: with Target::cuda those of Gpu::open.
support::Result<Devices> devices_for(Target target);

/// Returns the device and the transfers for these tensors, which lie on the host; `runs` share one transfer.
client::GpuTarget gpu_target(const client::Gpu& gpu, const client::Packed& packed, int runs);

}  // namespace schaas::cli
