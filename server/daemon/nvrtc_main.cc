// schaas-nvrtc: compiles one kernel for one generation of GPUs by the library NVRTC (toolchain/nvrtc.h).
// schaasd runs it, where there is no nvcc, as it runs compilers: in a child process with limits.
//
//     schaas-nvrtc --version                       says "NVRTC 13.0"
//     schaas-nvrtc ARCHITECTURE SOURCE MODULE      sm_80: a cubin; compute_90: PTX
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "compiler/toolchain/nvrtc.h"

namespace {

/// Prints the error for schaasd, which embeds it in a message of its own.
int fail(const schaas::support::Diagnostic& error) {
  std::cerr << error.message << "\n";
  for (const auto& note : error.notes) std::cerr << note << "\n";
  return schaas::support::exit_code(error.family);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace schaas;
  if (argc == 2 && std::string(argv[1]) == "--version") {
    const auto version = toolchain::nvrtc_version();
    if (!version.ok()) return fail(version.error());
    std::cout << *version << "\n";
    return 0;
  }
  if (argc != 4) {
    std::cerr << "usage: schaas-nvrtc ARCHITECTURE SOURCE MODULE\n";
    return 2;
  }
  std::ifstream file(argv[2], std::ios::binary);
  const std::string source{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto module = toolchain::nvrtc_compile(source, argv[1]);
  if (!module.ok()) return fail(module.error());
  std::ofstream out(argv[3], std::ios::binary);
  out << *module;
  return out.flush() ? 0 : 1;
}
