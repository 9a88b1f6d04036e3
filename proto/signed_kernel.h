#pragma once
#include <cstdint>
#include <string>

/// The signed text of a kernel: part of the wire contract, made by the server when it stores a
/// kernel, made again by the client from what it was told.
namespace schaas {

/// The key stands for problem, schedule, instruction set, toolchain and version of the code generator
/// (docs/cache_key.md), so a signature cannot be moved to another kernel; the digest for the bytes.
inline std::string signed_text(const std::string& kernel_key, const std::string& isa,
                               std::uint32_t abi_version, const std::string& sha256, std::uint64_t bytes) {
  return "schaas-signed-kernel 1\nkernel " + kernel_key + "\nisa " + isa + "\nabi " +
         std::to_string(abi_version) + "\nsha256 " + sha256 + "\nbytes " + std::to_string(bytes) + "\n";
}

}  // namespace schaas
