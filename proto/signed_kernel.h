#pragma once
#include <cstdint>
#include <string>

/// The signed text of a kernel: part of the wire contract, made by the server when it stores a
/// kernel, made again by the client from the problem that it asked and from what it was told.
namespace schaas {

/// The problem key is the client's own, so a signature holds for kernels of no other problem. The kernel key
/// stands for problem, schedule, instruction set, toolchain and version of the code generator
/// (docs/cache_key.md); the digest for the bytes.
inline std::string signed_text(const std::string& problem_key, const std::string& kernel_key,
                               const std::string& isa, std::uint32_t abi_version, const std::string& sha256,
                               std::uint64_t bytes) {
  return "schaas-signed-kernel 2\nproblem " + problem_key + "\nkernel " + kernel_key + "\nisa " + isa +
         "\nabi " + std::to_string(abi_version) + "\nsha256 " + sha256 + "\nbytes " + std::to_string(bytes) +
         "\n";
}

}  // namespace schaas
