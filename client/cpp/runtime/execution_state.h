#pragma once
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "client/cpp/platform/team.h"
#include "client/cpp/runtime/appending.h"
#include "client/cpp/runtime/balance.h"
#include "client/cpp/runtime/partial_results.h"
#include "client/cpp/runtime/privatised_reduction.h"
#include "client/cpp/runtime/scratch.h"
#include "client/cpp/tensor/stored_copy.h"
#include "schaas/kernel.h"

/// State of an execution.
namespace schaas::client {

/// A phase cut up: a piece is what a thread takes at a time, tasks [borders[n], borders[n + 1]).
struct Pieces {
  std::vector<Task> tasks;
  std::vector<std::size_t> borders;
  std::size_t count() const { return borders.size() - 1; }
};

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

struct Execution::State {
  State(Kernel loaded, PackedTensor& first) : kernel(std::move(loaded)), result(first) {}

  Kernel kernel;
  PackedTensor& result;
  std::vector<PackedTensor*> tensors;  ///< arguments as they were given
  ExecutionOptions options;
  std::string result_name;
  int threads = 1;
  bool threads_named = false;             ///< by the caller
  std::deque<StoredCopy> copies;          ///< copies of operands whose values change
  std::deque<PackedTensor> fixed_copies;  ///< copies of operands whose values stay
  std::vector<CopiedOperand> copied;      ///< reports of both
  bool operands_change = true;
  std::deque<schaas_tensor> views;
  std::vector<const schaas_tensor*> arguments;
  std::vector<Buffer> shared;
  std::vector<void*> shared_pointers;                  ///< and one to past_the_caches
  std::int32_t past_the_caches = 0;                    ///< 1: values of the result are stored so
  std::vector<bool> is_counter;                        ///< by shared array
  std::vector<bool> begins_zero;                       ///< by shared array
  std::vector<std::int64_t> met;                       ///< by shared array: coordinates in it; 0 of others
  Scratch scratch;                                     ///< by thread
  std::vector<Pieces> pieces;                          ///< by phase
  std::vector<std::optional<PartialResults>> carries;  ///< by phase: of one with iterations that are cut
  std::vector<std::optional<PrivatisedReduction>>
      reductions;  ///< by phase: of one whose pieces write the same elements
  std::int32_t counted_phases =
      0;  ///< phases up to the last that counts: the result's arrays are made after them
  std::optional<Appending>
      appending;        ///< one-pass assembly of a kernel whose last phase may run without the counting ones
  bool update = false;  ///< the result starts from what it holds
  std::vector<schaas_level> made;  ///< the result's levels when its structure was made
  const void* made_values = nullptr;
  bool has_structure = false;  ///< the counters hold what the result's arrays were made from
  bool numeric_only = false;   ///< in the run at hand: the structure in these arrays stays
  std::atomic<std::int32_t> error{SCHAAS_OK};
  std::mutex failing;
  std::optional<support::Diagnostic> failure;  ///< failure of a thread that got no larger scratch

  const schaas_kernel_descriptor& descriptor() const { return kernel.descriptor(); }
  bool counts() const { return descriptor().counter_count > 0; }
  bool has_starts() const;
  bool writes_all() const;
  std::int64_t units() const { return descriptor().phases[counted_phases - 1].range(arguments.data()); }

  support::Result<void> make_copies(const std::vector<PackedTensor*>& operands,
                                    const std::vector<std::string>& names, bool guard);
  void refresh_copies(int part, int parts);
  support::Result<void> check_counters() const;
  support::Result<void> allocate_scratch();
  void choose_stores();
  support::Result<void> cut_phases(const ExecutionOptions& options);
  support::Result<void> cut_phase(const schaas_phase& phase, const ExecutionOptions& options);
  std::int64_t max_entries(const schaas_phase& phase, const schaas_level* weights, std::int64_t range,
                           std::int64_t ranges, const ExecutionOptions& options) const;
  std::int64_t fold_elements(const schaas_phase& phase) const;
  std::int64_t folding_pieces(const schaas_phase& phase, const ExecutionOptions& options) const;
  std::int32_t run_tasks(std::int32_t phase, std::size_t first, std::size_t last, const Arrays& arrays,
                         int thread);
  std::int32_t run_task(std::int32_t number, const Task& task, const Arrays& arrays, void* workspace);
  std::int32_t run_grown(std::int32_t number, const Task& task, int thread);
  void start_result(int part, int parts) const;
  void start_shared(int part, int parts, bool with_counters);
  template <class Work>
  void run_pieces(std::int32_t phase, Team& team, const Work& work);
  std::int32_t run_piece(std::int32_t phase, std::size_t piece, int thread);
  void note(std::int32_t code);
  void run_phase(std::int32_t phase, Team& team);
  support::Result<void> outcome() const;
  support::Result<void> run_stage(const Stage& stage, Team& team);
  support::Result<void> make_structure(Team& team);
  void prepare_appending(bool allowed);
  support::Result<void> run_appended(Team& team);
  support::Result<void> rerun_values(Team& team);
  void note_structure();
  bool holds_structure() const;
  bool is_rebindable() const;
  bool rebind();
};

}  // namespace schaas::client
