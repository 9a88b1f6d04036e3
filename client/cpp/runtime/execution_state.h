#pragma once
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "client/cpp/platform/team.h"
#include "client/cpp/runtime/appending.h"
#include "client/cpp/runtime/bound_arguments.h"
#include "client/cpp/runtime/divided_phase.h"
#include "client/cpp/runtime/result_structure.h"
#include "client/cpp/runtime/scratch.h"
#include "client/cpp/runtime/shared_arrays.h"
#include "schaas/kernel.h"

/// State of an execution.
namespace schaas::client {

/// Arrays that a call of the kernel gets.
struct Arrays {
  const schaas_tensor* const* arguments;
  void* const* shared;
};

/// Phases [first, last), and whether they write the result's values, whether those that count are among them.
struct Stage {
  std::int32_t first;
  std::int32_t last;
  bool fills;
  bool counts;
};

/// A kernel, what it is bound to, and how its phases run one after another.
struct Execution::State {
  State(Kernel loaded, const std::vector<PackedTensor*>& tensors)
      : kernel(std::move(loaded)), result(*tensors.front()), arguments(tensors) {}

  Kernel kernel;
  PackedTensor& result;
  BoundArguments arguments;
  ExecutionOptions options;
  std::string result_name;
  int threads = 1;
  SharedArrays shared;
  Scratch scratch;                   ///< by thread
  std::vector<DividedPhase> phases;  ///< by phase of the kernel
  std::int32_t counted_phases =
      0;  ///< phases up to the last that counts: the result's arrays are made after them
  std::optional<Appending>
      appending;         ///< one-pass assembly of a kernel whose last phase may run without the counting ones
  bool is_copy = false;  ///< the result is the copy of the only operand, whose arrays it takes
  bool update = false;   ///< the result starts from what it holds
  ResultStructure structure;  ///< the counters hold what the result's arrays were made from
  bool numeric_only = false;  ///< in the run at hand: the structure in these arrays stays
  std::atomic<std::int32_t> error{SCHAAS_OK};
  std::mutex failing;
  std::optional<support::Diagnostic> failure;  ///< failure of a thread that got no larger scratch

  const schaas_kernel_descriptor& descriptor() const { return kernel.descriptor(); }
  bool counts() const { return descriptor().counter_count > 0; }
  std::int64_t units() const { return descriptor().phases[counted_phases - 1].range(arguments.data()); }
  Arrays arrays() const { return {arguments.data(), shared.data()}; }

  // Binding: what depends on structure alone.
  support::Result<void> bind(const std::vector<std::string>& names);
  support::Result<void> add_copies(const std::vector<std::string>& names);
  support::Result<void> check_counters() const;
  support::Result<void> divide_phases();
  void prepare_appending();
  bool is_rebindable() const;
  bool rebind();

  // Tasks of one phase.
  std::int32_t run_tasks(std::int32_t phase, std::size_t first, std::size_t last, const Arrays& given,
                         int thread);
  std::int32_t run_task(std::int32_t number, const Task& task, const Arrays& given, void* workspace);
  std::int32_t run_grown(std::int32_t number, const Task& task, int thread);
  template <class Work>
  void run_pieces(std::int32_t phase, Team& team, const Work& work);
  std::int32_t run_piece(std::int32_t phase, std::size_t piece, int thread);
  void run_phase(std::int32_t phase, Team& team);
  void note(std::int32_t code);
  support::Result<void> outcome() const;

  // Stages of a run.
  bool writes_all() const;
  std::int32_t flags() const;
  void start_result(int part, int parts) const;
  support::Result<void> run_stage(const Stage& stage, Team& team);
  support::Result<void> make_structure(Team& team);
  support::Result<void> run_appended(Team& team);
  support::Result<void> rerun_values(Team& team);
  support::Result<void> take_copy();
  void note_structure();
};

}  // namespace schaas::client
