#pragma once
#include "compiler/support/signature.h"
#include "proto/kernel_abi.h"
#include "proto/signed_kernel.h"
#include "schaas/frontier.h"

namespace schaas::client {

/// The owner of the key has signed this kernel for this version of the ABI.
inline bool is_signed(const KernelInfo& kernel, const support::PublicKey& key) {
  return key.verifies(signed_text(kernel.kernel_key, kernel.isa, SCHAAS_KERNEL_ABI_VERSION,
                                  kernel.digest.sha256, kernel.digest.bytes),
                      kernel.signature);
}

}  // namespace schaas::client
