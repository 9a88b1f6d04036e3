#include "client/cpp/api/computation.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "client/cpp/tensor/tensor_part.h"
#include "schaas/host.h"

// Runs of a bound computation. Values of operands may have changed since the last run. Those that lie on a
// device are brought over for a kernel of the processor, and the result back. An update that does not start
// from its result copies its start first. Between runs a better kernel may replace the present one.
namespace schaas::client {
namespace {

std::string quoted_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "`" : ", `") + name + "`";
  return text;
}

}  // namespace

std::string brought_text(const std::vector<std::string>& names, const std::string& where) {
  if (names.empty()) return "";
  return "; " + quoted_list(names) + (names.size() == 1 ? " is" : " are") + " brought to " + where;
}

Computation::Computation(std::unique_ptr<State> state) : state_(std::move(state)) {}
Computation::Computation(Computation&&) noexcept = default;
Computation& Computation::operator=(Computation&&) noexcept = default;
Computation::~Computation() = default;

support::Result<void> Computation::State::run(BoundKernel& one) {
  if (one.on_gpu) return one.on_gpu->run(start());
  for (const OnHost& operand : one.operands)
    SCHAAS_RETURN_IF_ERROR(gpu->gpu.copy_values(*operand.there, *operand.here, gpu->stream));
  PackedTensor& target = one.written_here ? *one.written_here : *written;
  if (before != nullptr && (before->on_device() || one.written_here)) {
    SCHAAS_RETURN_IF_ERROR(gpu->gpu.copy_values(*before, target, gpu->stream));
  } else if (before != nullptr && before != written) {
    Buffer& values = target.values();
    // The same array needs no copy: the update is in place.
    if (values.data() != before->values().data() && values.bytes() > 0)
      std::memcpy(values.data(), before->values().data(), values.bytes());
  }
  SCHAAS_RETURN_IF_ERROR(one.execution->rerun_values());
  return one.written_here ? gpu->gpu.copy_values(target, *written, gpu->stream) : support::Result<void>();
}

support::Result<void> Computation::run() {
  if (state_->operands_change)
    for (Computation& producer : state_->producers) SCHAAS_RETURN_IF_ERROR(producer.run());
  // The better kernel is looked for before the run: no run changes its kernel half way.
  if (state_->better) {
    if (auto better = state_->better()) state_->bound = *std::move(better);
  }
  SCHAAS_RETURN_IF_ERROR(state_->run(state_->bound));
  const auto& execution = state_->bound.execution;
  const int threads = execution ? execution->threads() : host_threads();
  return state_->converted ? state_->converted->bring(*state_->written, threads) : support::Result<void>();
}

// Copies and temporaries of entries need sorted ones; one loop that sums does not.
bool BoundKernel::order_matters() const {
  return !execution || !execution->copies().empty() || !takes_any_order;
}

support::Result<void> BoundKernel::check_order(const std::map<std::string, PackedTensor*>& operands,
                                               const BindOptions& options) const {
  if (options.unordered.empty() || !order_matters()) return {};
  const int threads = options.threads > 0 ? options.threads : host_threads();
  for (const std::string& name : options.unordered)
    SCHAAS_RETURN_IF_ERROR(validate(operands.at(name)->view(), name, threads));
  return {};
}

bool Computation::order_matters() const { return state_->bound.order_matters(); }

// Only a computation whose operands are the caller's, as kernels read them, takes other arrays, with a result
// as kernels write it. All of them lie on the processor, or all on the device.
bool Computation::is_rebindable() const {
  const State& state = *state_;
  const bool is_plain =
      !state.converted && state.before == nullptr && state.kept.empty() && state.producers.empty();
  if (!is_plain) return false;
  if (state.gpu)
    return state.written != &state.own && state.bound.on_gpu && state.bound.on_gpu->is_rebindable();
  return state.bound.execution->is_rebindable();
}

bool ReadPart::read_again() {
  PackedTensor again = part_of(*whole, begin, count, is_fixed);
  const auto same_entries = [](const PackedTensor::Level& a, const PackedTensor::Level& b) {
    return a.entries == b.entries;
  };
  if (!std::equal(again.levels().begin(), again.levels().end(), part->levels().begin(), same_entries))
    return false;
  *part = std::move(again);
  return true;
}

bool Computation::rebind() {
  if (!std::all_of(state_->parts.begin(), state_->parts.end(),
                   [](ReadPart& one) { return one.read_again(); }))
    return false;
  if (state_->written == &state_->own) {
    auto fresh = state_->make_own();
    if (!fresh.ok()) return false;
    state_->own = std::move(fresh).value();
  }
  return state_->bound.on_gpu ? state_->bound.on_gpu->rebind() : state_->bound.execution->rebind();
}

std::int64_t Computation::temporary_bytes() const {
  if (state_->bound.on_gpu) return state_->bound.on_gpu->device_bytes();
  const Execution& execution = *state_->bound.execution;
  std::int64_t bytes = execution.scratch_bytes() + execution.shared_bytes() + execution.folding_bytes();
  for (Computation& producer : state_->producers)
    bytes += producer.temporary_bytes() + static_cast<std::int64_t>(producer.result().bytes());
  return bytes;
}

PackedTensor& Computation::result() {
  return state_->converted ? state_->converted->tensor() : *state_->written;
}
const KernelInfo& Computation::kernel() const { return state_->bound.kernel; }
const std::string& Computation::reason() const { return state_->bound.reason; }
int Computation::threads() const { return state_->bound.execution ? state_->bound.execution->threads() : 1; }
std::vector<CopiedOperand> Computation::copies() const {
  return state_->bound.execution ? state_->bound.execution->copies() : std::vector<CopiedOperand>();
}
const std::string& Computation::device() const { return state_->bound.device; }

}  // namespace schaas::client
