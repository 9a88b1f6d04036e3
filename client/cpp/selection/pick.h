#pragma once
#include <string>
#include <vector>

#include "schaas/choose.h"

/// Which schedule of a frontier, or which of the kernels that have come, is the best at some sizes. Asks
/// nobody.
namespace schaas::client {

/// A schedule that was decided on.
struct Pick {
  std::string name;    ///< name to ask the server for
  std::string id;      ///< id of its entry, if it has one
  std::string reason;  ///< one sentence
  double seconds = 0;  ///< predicted, or measured
  bool for_gpu = false;
};

/// Returns the name to ask the server for: the id of an entry's own schedule, the trace of another one.
std::string name_of(const FrontierEntry& entry, const Evaluated& evaluated);

/// Picks from the whole frontier: on the processor, the GPU, or the faster of both. Errors: of
/// Selector::select; exhausted [gpu-memory].
support::Result<Pick> pick(const Frontier& frontier, const Selectors& selectors,
                           const ChoiceRequest& request);
/// For the processor alone: by what was measured, else by what is predicted.
support::Result<Pick> pick_for_cpu(const Frontier& frontier, const Selector& selector,
                                   const ChoiceRequest& request);

/// One of the kernels that have come.
struct KernelPick {
  const KernelInfo* kernel = nullptr;  ///< null: there is none
  std::string reason;                  ///< one sentence
  bool has_room = false;               ///< its temporaries are no large part of the main memory
  double seconds = 0;                  ///< predicted
};
/// The best of `kernels` (of `frontier`, or of parts of it that came before). Errors: as of pick().
support::Result<KernelPick> pick_kernel(const Frontier& frontier,
                                        const std::vector<const KernelInfo*>& kernels,
                                        const ChoiceRequest& request);

/// The full kernel of a schedule; null when it has not come.
const KernelInfo* find_kernel(const std::vector<KernelInfo>& kernels, const std::string& id);

/// Returns the location of measurements on the processor.
Where on_cpu(const ChoiceRequest& request);
Where on_gpu(const GpuTarget& target);

support::Diagnostic no_kernel(const std::string& wanted);
support::Diagnostic nothing_for_gpu(const std::string& why);
/// Why kernels for GPUs could not be made.
std::string why_no_gpu_kernel(const std::vector<KernelFailure>& failures);
/// Refuses a kernel that adds up in the order of chance where the request is to be deterministic: invalid
/// [deterministic].
support::Result<void> check_order(const ChoiceRequest& request, const KernelInfo& kernel);

}  // namespace schaas::client
