#include "schaas/kernel.h"

#include <utility>

#include "client/cpp/platform/shared_object.h"
#include "client/cpp/runtime/kernel_problem.h"
#include "schaas/host.h"

// Loading of kernels. The bytes are hashed before they are mapped; then the descriptor is checked as data
// from elsewhere: counts, indices, and pointers that later code relies on. A kernel for other instructions
// than this processor has is refused before anything of it runs. The library stays mapped as long as a copy
// of the kernel lives.
namespace schaas::client {

struct Kernel::Library {
  SharedObject object;
  const schaas_kernel_descriptor* descriptor;
  support::Result<KernelProblem> problem;
};

namespace {

// Checks how shared arrays begin. A list of stored coordinates needs an operand (argument 0 is the result).
support::Result<void> check_shared(const schaas_kernel_descriptor& d) {
  for (std::int32_t s = 0; d.shared != nullptr && s < d.shared_count; ++s) {
    const schaas_shared& array = d.shared[s];
    const bool known = array.start >= SCHAAS_SHARED_ZERO && array.start <= SCHAAS_SHARED_MET;
    const bool operand = array.argument >= 1 && array.argument < d.argument_count && array.level >= 0;
    if (!known || (array.start == SCHAAS_SHARED_MET && !operand))
      return bad_binary("a shared array that begins as none can");
  }
  return {};
}

support::Result<void> check_phases(const schaas_kernel_descriptor& d) {
  if (d.argument_count < 1 || d.phase_count < 0 || d.shared_count < 0) return bad_binary("negative counts");
  if (d.phase_count > 0 && d.phases == nullptr) return bad_binary("no phases");
  SCHAAS_RETURN_IF_ERROR(check_shared(d));
  for (std::int32_t p = 0; p < d.phase_count; ++p) {
    const schaas_phase& phase = d.phases[p];
    if (phase.run == nullptr || phase.range == nullptr) return bad_binary("an empty phase");
    if (phase.balance_arg >= d.argument_count)
      return bad_binary("balance by an argument that does not exist");
    const bool folds = phase.fold >= SCHAAS_FOLD_NONE && phase.fold <= SCHAAS_FOLD_AND;
    // `over` counts lists from 1; 0 says that the phase has a range of its own.
    if (phase.over < 0 || phase.over > d.shared_count ||
        (phase.over > 0 && (d.shared == nullptr || d.shared[phase.over - 1].start != SCHAAS_SHARED_MET)))
      return bad_binary("a phase over a list that is none");
    if (!folds || (phase.fold != SCHAAS_FOLD_NONE && phase.fold_target >= d.shared_count))
      return bad_binary("a phase that folds into nothing");
    // Partial results need a function that combines them, and one that computes parts.
    const bool carries = phase.carry_elements != nullptr;
    if (carries != (phase.combine != nullptr) || (carries && phase.part == nullptr))
      return bad_binary("parts that nothing combines");
  }
  const std::int32_t originals = d.argument_count - d.copy_count;
  if (d.copy_count < 0 || originals < 1 || (d.copy_count > 0 && d.copies == nullptr))
    return bad_binary("copies that are none");
  for (std::int32_t c = 0; c < d.copy_count; ++c) {
    const schaas_copy& copy = d.copies[c];
    if (copy.argument < 1 || copy.argument >= originals || copy.mode_order == nullptr)
      return bad_binary("a copy of an argument that is no operand");
  }
  if (d.shared_count > 0 && d.shared_bytes == nullptr) return bad_binary("shared arrays without sizes");
  if (d.fixed_count < 0 || (d.fixed_count > 0 && d.fixed == nullptr))
    return bad_binary("fixed extents that are none");
  if (d.key == nullptr || d.problem == nullptr || d.schedule == nullptr || d.isa == nullptr) {
    return bad_binary("no description");
  }
  return {};
}

// The version decides whether other fields can be read at all, so it is checked first.
support::Result<void> check_descriptor(const schaas_kernel_descriptor& d) {
  if (d.abi_version != SCHAAS_KERNEL_ABI_VERSION) {
    return support::noting(
        support::invalid("kernel-abi", "the kernel has ABI version " + std::to_string(d.abi_version) +
                                           ", this client runs version " +
                                           std::to_string(SCHAAS_KERNEL_ABI_VERSION)),
        "install client and server of one version");
  }
  SCHAAS_RETURN_IF_ERROR(check_phases(d));
  if (!host_runs(d.isa)) {
    return support::unsupported("kernel-isa", std::string("the kernel is compiled for ") + d.isa +
                                                  ", this processor runs " + host_isa());
  }
  return {};
}

}  // namespace

support::Result<Kernel> Kernel::load(std::string_view bytes, const support::Digest& expected) {
  SCHAAS_ASSIGN_OR_RETURN(SharedObject object, SharedObject::load(bytes, expected));
  const auto* descriptor = static_cast<const schaas_kernel_descriptor*>(object.symbol(SCHAAS_KERNEL_SYMBOL));
  if (descriptor == nullptr) return bad_binary("it has no symbol `" SCHAAS_KERNEL_SYMBOL "`");
  SCHAAS_RETURN_IF_ERROR(check_descriptor(*descriptor));
  return Kernel(std::make_shared<const Library>(
      Library{std::move(object), descriptor,
              parse_kernel_problem(descriptor->problem,
                                   {descriptor->fixed, static_cast<std::size_t>(descriptor->fixed_count)})}));
}

const support::Result<KernelProblem>& problem_of(const Kernel& kernel) { return kernel.library_->problem; }

const schaas_kernel_descriptor& Kernel::descriptor() const { return *library_->descriptor; }
std::string Kernel::key() const { return descriptor().key; }
std::string Kernel::problem() const { return descriptor().problem; }
std::string Kernel::schedule() const { return descriptor().schedule; }
std::string Kernel::isa() const { return descriptor().isa; }

}  // namespace schaas::client
