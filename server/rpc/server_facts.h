#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "server/answers/problem_limits.h"

namespace schaas::server {

/// Properties of a server, for ServerInfo and the status page.
struct ServerFacts {
  std::string version;
  std::uint32_t abi_version = 0;  ///< ABI version of its kernels: proto/kernel_abi.h
  std::string toolchain;          ///< identity for the default instruction set
  std::vector<std::string> isas;
  std::uint64_t frontiers = 0, kernels = 0, binary_bytes = 0;
  double uptime_seconds = 0;
  std::string data_directory;
  std::string public_key;      ///< verifies the signatures of kernels
  std::string isolation;       ///< isolation of child processes: toolchain::print
  std::string compiler_error;  ///< empty: kernels for CPUs are compiled
  std::string gpu_toolchain;   ///< identity for GPUs: "nvcc ...", "NVRTC ...", "no CUDA toolkit ..."
  ProblemLimits limits{};      ///< limits on accepted problems
};

}  // namespace schaas::server
