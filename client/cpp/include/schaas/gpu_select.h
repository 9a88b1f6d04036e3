#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "schaas/frontier.h"
#include "schaas/select.h"

/// Which schedule for a GPU for these tensors on this device, and what it takes beside the processor.
/// docs/gpu.md, "What the client chooses". Takes microseconds.
namespace schaas::client {

/// Threads that have a workspace each at the same time; more threads take turns.
constexpr std::int64_t gpu_workspace_threads = 1 << 16;

/// Facts of a device. The defaults stand for facts that a driver does not report.
struct GpuFacts {
  std::string name = "GPU";
  int processors = 108;                        ///< streaming multiprocessors
  double cycles_per_second = 1.4e9;            ///< clock rate of the multiprocessors
  double bytes_per_second = 1.5e12;            ///< from its memory
  double cache_bytes = 40e6;                   ///< second-level cache
  double free_bytes = 16e9;                    ///< free memory of the device
  double transferred_bytes_per_second = 12e9;  ///< between host and device
  double transfer_seconds = 8e-6;  ///< latency of each copy between host and device, beside its bytes
  double launch_seconds = 5.9e-6;  ///< from one launch to the next
};

/// A device and the transfers that a computation needs.
struct GpuTarget {
  GpuFacts device;
  bool alone = false;          ///< the processor does not compete
  bool deterministic = false;  ///< only what rounds the same way each time
  /// Bytes that go to the device once (levels), with each run (values), and come back (the result): 0 for
  /// tensors that lie there already.
  double level_bytes = 0, value_bytes = 0, result_bytes = 0;
  double tensor_bytes = 0;  ///< room that the others take there
  /// Bytes that a run on the processor moves from the device, and back, for tensors that lie there: levels
  /// once.
  double host_level_bytes = 0, host_bytes = 0;
  int copies = 0, host_copies = 0;  ///< arrays that a run moves: on the device, on the processor
  int runs = 1;                     ///< runs that share one transfer of levels
  int position_bits = 64;
  double seconds_there() const;  ///< transfers of a run on the device: operands there, the result back
  double seconds_here() const;   ///< transfers of a run on the processor: operands here, the result back
  /// Under which what is measured is remembered: the device, and whether tensors lie there.
  std::string class_text() const;
};

/// Returns the transfers for these tensors: those on the device stay, the others go there, and the result
/// comes back; `runs` share one transfer.
GpuTarget target_for(const GpuFacts& device, const std::vector<const PackedTensor*>& operands,
                     const PackedTensor& result, int runs);

/// Predicted cost of a schedule.
struct GpuPrediction {
  double seconds = 0;     ///< on the device
  double bytes = 0;       ///< memory on the device
  bool fits = false;      ///< in what is free of it
  bool left_out = false;  ///< its rounding is a matter of chance, and that is not wanted
};
struct GpuSelection {
  int index = -1;           ///< into the schedules; -1: none can run
  std::string reason;       ///< one sentence with the figures, or why none can
  double copy_seconds = 0;  ///< transfers of a run, the same for all schedules
  std::vector<GpuPrediction> evaluated;
};

/// Predicts seconds from the sizes, the variance of row lengths, and the device's throughput. The time of a
/// phase is the largest of: bytes from memory, bytes from L2, instructions, and the longest thread with its
/// atomic writes; a launch is added. The least wins among those that fit. Errors: invalid [unknown-size].
class GpuSelector {
 public:
  explicit GpuSelector(std::vector<GpuSchedule> schedules);
  const std::vector<GpuSchedule>& schedules() const;
  /// Thread-safe.
  support::Result<GpuSelection> select(const Sizes& sizes, ValueType value_type,
                                       const GpuTarget& target) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace schaas::client
