#pragma once
#include <optional>
#include <string>

#include "schaas/gpu.h"
#include "schaas/operands.h"

namespace schaas::cli {

/// Devices on which kernels may run.
struct Devices {
  std::optional<client::Gpu> gpu;
  std::string why_none;  ///< with `--target auto`: why no GPU competes
};
/// "cpu", "cuda" (a GPU, or an error) or "auto" (a GPU where there is one, beside the processor). Errors:
/// invalid [target]; with "cuda" those of Gpu::open.
support::Result<Devices> devices_for(const std::string& target);

/// Returns the device and the transfers for these tensors, which lie on the host; `runs` share one transfer.
client::GpuTarget gpu_target(const client::Gpu& gpu, const client::Packed& packed, int runs);

}  // namespace schaas::cli
