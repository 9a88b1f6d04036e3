#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/cpp/platform/allocate.h"
#include "client/cpp/platform/team.h"
#include "client/cpp/runtime/balance.h"
#include "proto/kernel_abi.h"
#include "schaas/tensor.h"

namespace schaas::client {

/// One-pass assembly of a sparse result, without counting first (proto/kernel_abi.h, "may be appended"). Each
/// thread appends the rows it takes to arrays of its own, which grow and are concatenated at the end. The
/// arrays of one thread are the result's.
class Appending {
 public:
  /// The kernel's phase after the counting ones may be run so.
  static bool suits(const schaas_kernel_descriptor& kernel, std::int32_t counted_phases,
                    const PackedTensor& result, const std::vector<Task>& tasks);
  /// All must stay. `arguments`: the result's view first; `counter`: what the kernel counts in; `bound`: a
  /// number of entries that the result does not exceed, if one is known.
  Appending(const schaas_phase& phase, PackedTensor& result,
            const std::vector<const schaas_tensor*>& arguments, std::int64_t* counter,
            const std::vector<Task>& tasks, int threads, std::optional<std::int64_t> bound,
            std::string result_name);

  /// Empties the result. Errors: exhausted [memory].
  support::Result<void> start();
  /// Runs task `number` on any thread; one thread runs them in order. Returns the kernel's code.
  std::int32_t run(std::size_t number, int thread, void* const* shared, void* workspace);
  /// Makes the result, and sets the counters of tasks as counting and scanning would. False: overflow.
  /// Errors: exhausted [memory].
  support::Result<bool> finish(Team& team);
  /// Returns the bytes that threads hold beside the result.
  std::int64_t bytes() const;

 private:
  /// Entries that a thread has appended, `capacity` at most.
  struct alignas(64) Rows {
    Buffer coordinates, values;
    std::int64_t entries = 0, capacity = 0;
    std::vector<schaas_level> levels;
    schaas_tensor view{};
    std::vector<const schaas_tensor*> arguments;
  };
  /// Entries of a task in the arrays of its thread.
  struct Segment {
    int thread = 0;
    std::int64_t begin = 0, end = 0;
  };

  std::int64_t max_entries() const;
  bool holds_all(const Rows& rows) const;
  bool make_room(Rows& rows) const;
  bool reserve(Rows& rows, std::int64_t wanted) const;
  void note_arrays(Rows& rows) const;
  template <class Position>
  std::int32_t run_units(const Task& task, Rows& rows, void* const* shared, void* workspace);
  template <class Position>
  void concatenate(const std::vector<std::int64_t>& offsets, Team& team);

  const schaas_phase* phase_;
  PackedTensor* result_;
  const std::vector<const schaas_tensor*>* arguments_;
  std::int64_t* counter_;
  const std::vector<Task>* tasks_;
  std::string name_;
  std::int64_t row_ = 0;               ///< most entries of a row
  std::int64_t first_ = 0;             ///< entries that a thread has room for at first
  std::optional<std::int64_t> bound_;  ///< capacity that suffices for all rows, where one thread appends
  std::int64_t value_bytes_ = 0;       ///< bytes of the values of an entry: all dense levels below it
  Buffer coordinates_, values_;        ///< the result's, in the meantime
  std::vector<std::unique_ptr<Rows>> rows_;  ///< by thread
  std::vector<Segment> segments_;            ///< by run
  std::atomic<bool> overflow_{false};
};

}  // namespace schaas::client
