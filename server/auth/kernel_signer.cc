#include "server/auth/kernel_signer.h"

#include "proto/kernel_abi.h"
#include "proto/signed_kernel.h"

// Verified signatures are remembered by a digest over signature and text, in a direct-mapped table. A later
// one with the same slot replaces an earlier one, which is then verified again. Only whole digests are
// compared, so a collision of slots is never a wrong answer.
namespace schaas::server {
namespace {

std::string text_of(const SignedKernel& kernel) {
  return signed_text(kernel.problem_key, kernel.kernel_key, kernel.isa, SCHAAS_KERNEL_ABI_VERSION,
                     kernel.digest.sha256, kernel.digest.bytes);
}

}  // namespace

std::string KernelSigner::sign(const SignedKernel& kernel) const { return key_.sign(text_of(kernel)); }

bool KernelSigner::verifies(const SignedKernel& kernel, const std::string& signature) {
  const std::string text = text_of(kernel);
  const std::string seen = support::digest_of(signature + "\n" + text).sha256;
  {
    const std::lock_guard lock(mutex_);
    const Seen& last = slot_of(seen);
    if (std::string_view(last.data(), last.size()) == seen) return true;
  }
  if (!public_key_.verifies(text, signature)) return false;
  const std::lock_guard lock(mutex_);
  seen.copy(slot_of(seen).data(), Seen().size());
  return true;
}

}  // namespace schaas::server
