#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "server/problem_limits.h"

namespace schaas::server {

/// What a server says of itself.
struct ServerFacts {
  std::string version;
  std::uint32_t abi_version = 0;  ///< of the kernels it makes: proto/kernel_abi.h
  std::string toolchain;          ///< identity for the default instruction set
  std::vector<std::string> isas;
  std::uint64_t frontiers = 0, kernels = 0, binary_bytes = 0;
  double uptime_seconds = 0;
  std::string data_directory;
  std::string public_key;     ///< kernels are signed with its other half
  std::string isolation;      ///< of children: toolchain::print
  std::string gpu_toolchain;  ///< identity for GPUs: "nvcc ...", "NVRTC ...", "no CUDA toolkit ..."
  ProblemLimits limits{};     ///< of what it takes
};

}  // namespace schaas::server
