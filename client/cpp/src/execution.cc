#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>

#include "allocate.h"
#include "argument_check.h"
#include "balance.h"
#include "schaas/host.h"
#include "schaas/kernel.h"

namespace schaas::client {

struct Execution::State {
  explicit State(Kernel loaded) : kernel(std::move(loaded)) {}

  Kernel kernel;
  int threads = 1;
  std::deque<schaas_tensor> views;
  std::vector<const schaas_tensor*> arguments;
  std::vector<Buffer> shared;
  std::vector<void*> shared_pointers;
  std::vector<Buffer> workspaces;                  ///< by thread
  std::vector<std::vector<std::int64_t>> borders;  ///< by phase
  std::deque<std::atomic<std::size_t>> next;       ///< by phase: the piece to take next
  char* result = nullptr;
  std::size_t result_bytes = 0;
  std::atomic<std::int32_t> error{SCHAAS_OK};

  void zero_slice(char* data, std::size_t bytes, int thread, int team) const;
  void zero(int thread, int team);
  void take_pieces(std::int32_t phase, void* workspace);
};

namespace {

const schaas_level* weights_of(const schaas_phase& phase, const std::vector<const schaas_tensor*>& arguments,
                               std::int64_t range) {
  if (phase.balance_arg < 0) return nullptr;
  const schaas_tensor& tensor = *arguments[phase.balance_arg];
  if (phase.balance_level < 0 || phase.balance_level >= tensor.order) return nullptr;
  const schaas_level& level = tensor.levels[phase.balance_level];
  const std::int64_t parents = phase.balance_level == 0 ? 1 : tensor.levels[phase.balance_level - 1].entries;
  return level.format == SCHAAS_LEVEL_COMPRESSED && range <= parents ? &level : nullptr;
}

}  // namespace

Execution::Execution(std::unique_ptr<State> state) : state_(std::move(state)) {}
Execution::Execution(Execution&&) noexcept = default;
Execution& Execution::operator=(Execution&&) noexcept = default;
Execution::~Execution() = default;

support::Result<Execution> Execution::prepare(const Kernel& kernel, std::vector<PackedTensor*> arguments,
                                              const ExecutionOptions& options) {
  SCHAAS_RETURN_IF_ERROR(check_arguments(kernel.problem(), arguments, options.names));
  const schaas_kernel_descriptor& d = kernel.descriptor();
  if (d.argument_count != static_cast<std::int32_t>(arguments.size())) {
    return support::invalid("kernel-problem",
                            "the kernel's problem text names " + std::to_string(arguments.size()) +
                                " tensors, but it takes " + std::to_string(d.argument_count));
  }
  auto state = std::make_unique<State>(kernel);
  state->threads = options.threads > 0 ? options.threads : host_threads();
  for (const PackedTensor* argument : arguments) {
    state->views.push_back(argument->view());
    state->arguments.push_back(&state->views.back());
  }
  state->result = static_cast<char*>(arguments[0]->values().data());
  state->result_bytes = arguments[0]->values().bytes();
  const auto* args = state->arguments.data();
  for (std::int32_t s = 0; s < d.shared_count; ++s) {
    SCHAAS_ASSIGN_OR_RETURN(Buffer buffer,
                            allocate(d.shared_bytes(args, s), 1, "a shared temporary of the kernel"));
    state->shared_pointers.push_back(buffer.data());
    state->shared.push_back(std::move(buffer));
  }
  const std::int64_t workspace = d.workspace_bytes == nullptr ? 0 : d.workspace_bytes(args);
  for (int t = 0; t < state->threads; ++t) {
    SCHAAS_ASSIGN_OR_RETURN(Buffer buffer, allocate(workspace, 1, "a temporary of the kernel"));
    state->workspaces.push_back(std::move(buffer));
  }
  for (std::int32_t p = 0; p < d.phase_count; ++p) {
    const schaas_phase& phase = d.phases[p];
    const std::int64_t range = phase.range(args);
    const std::int64_t pieces =
        phase.parallel != 0 ? std::int64_t{state->threads} * std::max(options.chunks_per_thread, 1) : 1;
    state->borders.push_back(cut_range(range, pieces, weights_of(phase, state->arguments, range)));
    state->next.emplace_back(0);
  }
  return Execution(std::move(state));
}

// A stretch of whole cache lines per thread.
void Execution::State::zero_slice(char* data, std::size_t bytes, int thread, int team) const {
  if (bytes == 0) return;
  const std::size_t lines = (bytes + 63) / 64;
  const std::size_t begin = std::min(bytes, lines * thread / team * 64);
  const std::size_t end = std::min(bytes, lines * (thread + 1) / team * 64);
  std::memset(data + begin, 0, end - begin);
}

void Execution::State::zero(int thread, int team) {
  zero_slice(result, result_bytes, thread, team);
  for (Buffer& buffer : shared) zero_slice(buffer.as<char>(), buffer.bytes(), thread, team);
}

void Execution::State::take_pieces(std::int32_t phase, void* workspace) {
  const std::vector<std::int64_t>& cuts = borders[phase];
  const schaas_phase_run run = kernel.descriptor().phases[phase].run;
  while (error.load(std::memory_order_relaxed) == SCHAAS_OK) {
    const std::size_t piece = next[phase].fetch_add(1, std::memory_order_relaxed);
    if (piece + 1 >= cuts.size()) return;
    const std::int32_t code =
        run(arguments.data(), shared_pointers.data(), workspace, cuts[piece], cuts[piece + 1]);
    if (code != SCHAAS_OK) error.store(code, std::memory_order_relaxed);
  }
}

support::Result<void> Execution::run() {
  State& state = *state_;
  state.error = SCHAAS_OK;
  for (auto& next : state.next) next = 0;
  const auto phases = static_cast<std::int32_t>(state.borders.size());
#pragma omp parallel num_threads(state.threads)
  {
    const int thread = omp_get_thread_num();
    state.zero(thread, omp_get_num_threads());
    for (std::int32_t phase = 0; phase < phases; ++phase) {
#pragma omp barrier
      state.take_pieces(phase, state.workspaces[thread].data());
    }
  }
  if (const std::int32_t code = state.error; code != SCHAAS_OK) {
    return support::internal("kernel-failed",
                             "kernel " + state.kernel.key() + " returned error " + std::to_string(code));
  }
  return {};
}

int Execution::threads() const { return state_->threads; }

std::int64_t Execution::workspace_bytes() const {
  std::int64_t bytes = 0;
  for (const Buffer& buffer : state_->workspaces) bytes += static_cast<std::int64_t>(buffer.bytes());
  return bytes;
}

std::int64_t Execution::shared_bytes() const {
  std::int64_t bytes = 0;
  for (const Buffer& buffer : state_->shared) bytes += static_cast<std::int64_t>(buffer.bytes());
  return bytes;
}

}  // namespace schaas::client
