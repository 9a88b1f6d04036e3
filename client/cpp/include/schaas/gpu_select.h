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

/// What is known of a device. The defaults stand for what a driver does not tell.
struct GpuFacts {
  std::string name = "GPU";
  int processors = 108;                        ///< streaming multiprocessors
  double cycles_per_second = 1.4e9;            ///< of these
  double bytes_per_second = 1.5e12;            ///< from its memory
  double cache_bytes = 40e6;                   ///< second-level cache
  double free_bytes = 16e9;                    ///< of its memory, now
  double transferred_bytes_per_second = 12e9;  ///< between host and device
  double transfer_seconds = 8e-6;              ///< of each copy between them, beside its bytes
  double launch_seconds = 5e-6;                ///< from one launch to the next
};

/// What is asked of a device.
struct GpuTarget {
  GpuFacts device;
  bool alone = false;          ///< the processor does not compete
  bool deterministic = false;  ///< only what rounds the same way each time
  /// Bytes that go to the device once (levels), with each run (values), and come back (the result): 0 for
  /// tensors that lie there already.
  double level_bytes = 0, value_bytes = 0, result_bytes = 0;
  double tensor_bytes = 0;  ///< room that the others take there
  /// What a run on the processor brings from the device, and back, of tensors that lie there: levels once.
  double host_level_bytes = 0, host_bytes = 0;
  int copies = 0, host_copies = 0;  ///< arrays that a run moves: on the device, on the processor
  int runs = 1;                     ///< that share what goes once
  int position_bits = 64;
  double seconds_there() const;  ///< of what a run on the device brings there, and the result back
  double seconds_here() const;   ///< of what a run on the processor brings here, and back
  /// Under which what is measured is remembered: the device, and whether tensors lie there.
  std::string class_text() const;
};

/// What is asked of the device for these tensors: those that lie there stay, the others go there and the
/// result comes back; `runs` share what goes once.
GpuTarget target_for(const GpuFacts& device, const std::vector<const PackedTensor*>& operands,
                     const PackedTensor& result, int runs);

/// What a schedule takes here.
struct GpuPrediction {
  double seconds = 0;     ///< on the device
  double bytes = 0;       ///< of its memory
  bool fits = false;      ///< in what is free of it
  bool left_out = false;  ///< its rounding is a matter of chance, and that is not wanted
};
struct GpuSelection {
  int index = -1;           ///< into the schedules; -1: none can run
  std::string reason;       ///< one sentence with the figures, or why none can
  double copy_seconds = 0;  ///< of a run, the same for all
  std::vector<GpuPrediction> evaluated;
};

/// Predicts seconds from the sizes, the spread of rows, and what the device can move and issue: whichever is
/// most of bytes from memory, bytes from the second-level cache, instructions, and the longest thread, with
/// indivisible writes, and a launch for each phase. The least wins among those that fit. Errors: invalid
/// [unknown-size].
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
