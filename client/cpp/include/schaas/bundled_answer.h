#pragma once
#include <string>
#include <vector>

#include "schaas/kernel_source.h"

namespace schaas::client {

/// The kernels of one problem for one instruction set.
struct BundledAnswer {
  ProblemText problem;  ///< position_bits is "32" or "64"
  std::string isa;
  Frontier frontier;
  std::vector<KernelInfo> kernels;
  std::string public_key;  ///< key of the server that signed the kernels
};

}  // namespace schaas::client
