#include <algorithm>
#include <bit>
#include <cstddef>
#include <deque>
#include <limits>
#include <utility>

#include "client/cpp/gpu/gpu_arrays.h"
#include "client/cpp/gpu/gpu_module.h"
#include "client/cpp/gpu/gpu_text.h"
#include "client/cpp/platform/allocate.h"
#include "client/cpp/platform/shared_object.h"
#include "client/cpp/runtime/argument_check.h"
#include "client/cpp/runtime/kernel_problem.h"
#include "client/cpp/tensor/result_storage.h"

// A kernel bound to tensors, some on the host and some on the device. Structs stay on the host, as a kernel's
// host code reads sizes from them; their pointers are addresses of the device. Levels are brought over once,
// values of tensors on the host with each run. All work goes to one stream; a run waits only where the result
// is wanted on the host, or where the stream is the default one.
namespace schaas::client {
namespace {

using support::Result;

// Arrays without elements are the same wherever they lie.
bool same_array(const Buffer& a, const Buffer& b) {
  return a.bytes() == b.bytes() && (a.bytes() == 0 || a.data() == b.data());
}

bool same_levels(const PackedTensor& a, const PackedTensor& b) {
  const auto same = [](const PackedTensor::Level& one, const PackedTensor::Level& other) {
    return one.entries == other.entries && same_array(one.pos, other.pos) && same_array(one.crd, other.crd);
  };
  return std::equal(a.levels().begin(), a.levels().end(), b.levels().begin(), b.levels().end(), same);
}

}  // namespace

struct GpuExecution::State {
  State(Gpu on, GpuKernel of, void* stream)
      : gpu(std::move(on)), kernel(std::move(of)), arrays(gpu.state_, stream) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const GpuDriver& driver() const { return gpu.state_->driver; }
  const schaas_gpu_descriptor& descriptor() const { return kernel.descriptor(); }

  Result<void> take_entries(const std::vector<std::string>& names);
  Result<void> load_module();
  std::int64_t needed() const;
  Result<void> check_memory() const;
  Result<void> bind_levels(const PackedTensor& tensor, std::vector<schaas_level>& levels);
  Result<void> bind_arguments();
  void lend_levels();
  Result<void> allocate_scratch();
  Result<void> start_result(const PackedTensor* before);
  support::Diagnostic refused(const schaas_gpu_phase& phase) const;
  Result<void> launch_all();

  Gpu gpu;
  GpuKernel kernel;
  GpuArrays arrays;
  std::shared_ptr<const GpuModule> module;
  std::vector<PackedTensor*> tensors;
  bool update = false;
  std::int64_t tensor_bytes = 0, workspace_bytes = 0;
  std::deque<std::vector<schaas_level>> levels;
  std::deque<schaas_tensor> views;  ///< structs of the host, arrays of the device
  std::vector<const schaas_tensor*> arguments;
  std::vector<void*> shared;
  void* workspace = nullptr;
};

/// A result that has the levels of an operand.
Result<void> GpuExecution::State::take_entries(const std::vector<std::string>& names) {
  const auto& d = descriptor();
  if (d.result_entries_of < 0) return {};
  if (d.result_entries_of == 0 || d.result_entries_of >= d.argument_count)
    return bad_binary("its result has the entries of no operand");
  const auto of = static_cast<std::size_t>(d.result_entries_of);
  PackedTensor& result = *tensors[0];
  const PackedTensor& other = *tensors[of];
  if (!result.on_device()) {
    if (!other.on_device()) return ResultStorage::take_entries(result, other, names[0]);
    // An operand on the device lends its levels to a result on the host by a copy.
    SCHAAS_ASSIGN_OR_RETURN(const PackedTensor twin, gpu.levels_on_host(other, names[of], arrays.stream()));
    return ResultStorage::take_entries(result, twin, names[0]);
  }
  if (other.on_device() && same_levels(result, other)) return {};
  return support::invalid("result-entries",
                          "`" + names[0] + "` gets the entries of `" + names[of] +
                              "`: on the device its positions and coordinates must be those arrays");
}

Result<void> GpuExecution::State::load_module() {
  auto& library = *kernel.library_;
  // A module is loaded once per device and kernel, however many executions use it.
  const std::lock_guard lock(library.mutex);
  auto& known = library.modules[gpu.state_.get()];
  if (!known) {
    SCHAAS_ASSIGN_OR_RETURN(known, GpuModule::load(gpu.state_, descriptor(), library.images));
  }
  module = known;
  return {};
}

/// The sizes hang on the numbers in the structs only, which are the host's.
std::int64_t GpuExecution::State::needed() const {
  std::deque<schaas_tensor> host;
  std::vector<const schaas_tensor*> all;
  std::int64_t sum = 0;
  for (const auto* tensor : tensors) {
    host.push_back(tensor->view());
    all.push_back(&host.back());
    if (!tensor->on_device()) sum += static_cast<std::int64_t>(tensor->bytes());
  }
  const auto& d = descriptor();
  for (std::int32_t n = 0; n < d.shared_count; ++n) sum += d.shared_bytes(all.data(), n);
  // The bound on threads with memory of their own bounds the workspaces, too.
  return sum + d.workspace_bytes(all.data()) * gpu_workspace_threads;
}

// Asked before anything is allocated: the message names all that is needed.
Result<void> GpuExecution::State::check_memory() const {
  std::size_t available = 0, total = 0;
  SCHAAS_RETURN_IF_ERROR(driver().check(driver().memory_info(&available, &total), "its free memory"));
  const std::int64_t need = needed();
  if (need <= static_cast<std::int64_t>(available)) return {};
  const bool some = std::any_of(tensors.begin(), tensors.end(), [](const auto* t) { return t->on_device(); });
  return support::exhausted("gpu-memory", std::string("the kernel and its tensors need ") + mib(need) +
                                              " on " + gpu.name() +
                                              (some ? " besides those that lie there" : "") + ", and " +
                                              mib(static_cast<std::int64_t>(available)) +
                                              " are free there; kernels for the CPU (`--target cpu`) work");
}

/// The levels of a tensor of the host, brought there.
Result<void> GpuExecution::State::bind_levels(const PackedTensor& tensor, std::vector<schaas_level>& own) {
  for (std::size_t level = 0; level < own.size(); ++level) {
    const auto& stored = tensor.levels()[level];
    for (const auto& [buffer, pointer] :
         {std::pair(&stored.pos, &own[level].pos), std::pair(&stored.crd, &own[level].crd)}) {
      if (*pointer == nullptr) continue;
      SCHAAS_ASSIGN_OR_RETURN(void* const there, arrays.room(static_cast<std::int64_t>(buffer->bytes())));
      SCHAAS_RETURN_IF_ERROR(arrays.copy(there, buffer->data(), buffer->bytes()));
      *pointer = there;
    }
  }
  return {};
}

Result<void> GpuExecution::State::bind_arguments() {
  for (const auto* tensor : tensors) {
    schaas_tensor view = tensor->view();
    auto& own = levels.emplace_back(view.levels, view.levels + view.order);
    if (!tensor->on_device()) {
      // A result with an operand's entries gets the pointers of that operand, below.
      const bool has_anothers = tensor == tensors[0] && descriptor().result_entries_of > 0;
      if (!has_anothers) SCHAAS_RETURN_IF_ERROR(bind_levels(*tensor, own));
      SCHAAS_ASSIGN_OR_RETURN(view.values, arrays.room(static_cast<std::int64_t>(tensor->values().bytes())));
    }
    view.levels = own.data();
    views.push_back(view);
    arguments.push_back(&views.back());
  }
  lend_levels();
  tensor_bytes = arrays.bytes();
  return {};
}

/// A result with an operand's entries is written by way of that operand's levels.
void GpuExecution::State::lend_levels() {
  if (const auto of = descriptor().result_entries_of; of > 0)
    views[0].levels = views[static_cast<std::size_t>(of)].levels;
}

Result<void> GpuExecution::State::allocate_scratch() {
  const auto& d = descriptor();
  for (std::int32_t n = 0; n < d.shared_count; ++n) {
    SCHAAS_ASSIGN_OR_RETURN(void* const there, arrays.room(d.shared_bytes(arguments.data(), n)));
    shared.push_back(there);
  }
  workspace_bytes = d.workspace_bytes(arguments.data()) * gpu_workspace_threads;
  if (workspace_bytes == 0) return {};
  SCHAAS_ASSIGN_OR_RETURN(workspace, arrays.room(workspace_bytes));
  return {};
}

/// The values that the result has before the first phase.
Result<void> GpuExecution::State::start_result(const PackedTensor* before) {
  PackedTensor& result = *tensors[0];
  const std::size_t bytes = result.values().bytes();
  if (update) {
    const PackedTensor& from = before == nullptr ? result : *before;
    return arrays.copy(views[0].values, from.values().data(), bytes);
  }
  const auto& d = descriptor();
  if (d.writes_all != 0) return {};
  if (std::bit_cast<std::uint64_t>(d.result_fill) == 0)
    return arrays.clear(views[0].values, static_cast<std::int64_t>(bytes));
  // Bytes of zero can be set on the device; any other value is filled on the host and copied.
  SCHAAS_ASSIGN_OR_RETURN(Buffer filled, allocate(static_cast<std::int64_t>(bytes), 1, "a result's start"));
  fill_values(filled.data(), result.value_type(), 0, result.stored(), d.result_fill);
  return arrays.copy(views[0].values, filled.data(), bytes);
}

// Says why a phase does not start: an extent or a number of entries that 32 bits do not count, or arguments
// of other types.
support::Diagnostic GpuExecution::State::refused(const schaas_gpu_phase& phase) const {
  const auto too_many = [](const std::string& what, std::int64_t count) {
    return support::unsupported("gpu-extent", what + " " + std::to_string(count) +
                                                  ", and the kernel for GPUs counts to " +
                                                  std::to_string(SCHAAS_GPU_MOST_ITERATIONS) +
                                                  "; ask for positions of 64 bits, or for a CPU");
  };
  for (const schaas_tensor* tensor : arguments) {
    for (std::int32_t mode = 0; mode < tensor->order; ++mode) {
      if (tensor->extents[mode] > SCHAAS_GPU_MOST_ITERATIONS)
        return too_many("the values of an index are", tensor->extents[mode]);
      if (tensor->levels != nullptr && tensor->levels[mode].entries > SCHAAS_GPU_MOST_ITERATIONS)
        return too_many("the entries of an operand are", tensor->levels[mode].entries);
    }
  }
  return support::internal("gpu-failed", std::string("`") + phase.function + "` refuses its arguments");
}

// Launches the phases in order. The stream keeps them apart, so no barrier is needed between them.
Result<void> GpuExecution::State::launch_all() {
  const auto& d = descriptor();
  for (std::int32_t p = 0; p < d.phase_count; ++p) {
    const auto& phase = d.phases[p];
    // Parameters are written by the kernel's host code, in memory aligned for every type.
    std::vector<std::max_align_t> parameters(
        static_cast<std::size_t>(phase.parameter_bytes) / sizeof(std::max_align_t) + 1);
    // `prepare` returns the number of blocks; 0 says that the phase has no iterations.
    const std::int64_t blocks =
        phase.prepare(arguments.data(), shared.data(), workspace, gpu_workspace_threads, parameters.data());
    if (blocks < 0) return refused(phase);
    if (blocks == 0) continue;
    void* given[] = {parameters.data()};
    const int status =
        driver().launch(module->function(static_cast<std::size_t>(p)), static_cast<unsigned>(blocks), 1, 1,
                        static_cast<unsigned>(phase.block), 1, 1, 0, arrays.stream(), given, nullptr);
    SCHAAS_RETURN_IF_ERROR(driver().check(status, std::string("to launch `") + phase.function + "`"));
  }
  return {};
}

GpuExecution::GpuExecution(std::unique_ptr<State> state) : state_(std::move(state)) {}
GpuExecution::GpuExecution(GpuExecution&&) noexcept = default;
GpuExecution& GpuExecution::operator=(GpuExecution&&) noexcept = default;
GpuExecution::~GpuExecution() = default;
std::int64_t GpuExecution::device_bytes() const { return state_->arrays.bytes(); }
std::int64_t GpuExecution::scratch_bytes() const { return state_->arrays.bytes() - state_->tensor_bytes; }

bool GpuExecution::is_rebindable() const {
  const auto& tensors = state_->tensors;
  return !state_->update && state_->arrays.bytes() == 0 &&
         std::all_of(tensors.begin(), tensors.end(), [](const auto* tensor) { return tensor->on_device(); });
}

bool GpuExecution::rebind() {
  State& s = *state_;
  for (std::size_t n = 0; n < s.tensors.size(); ++n) {
    // The extents lie in the tensor too, so the whole struct is taken.
    s.views[n] = s.tensors[n]->view();
    std::copy(s.views[n].levels, s.views[n].levels + s.views[n].order, s.levels[n].begin());
    s.views[n].levels = s.levels[n].data();
  }
  s.lend_levels();
  const auto of = s.descriptor().result_entries_of;
  return of <= 0 || same_levels(*s.tensors[0], *s.tensors[static_cast<std::size_t>(of)]);
}

Result<GpuExecution> GpuExecution::prepare(const Gpu& gpu, const GpuKernel& kernel,
                                           std::vector<PackedTensor*> arguments,
                                           const std::vector<std::string>& names, void* stream) {
  const auto& d = kernel.descriptor();
  SCHAAS_ASSIGN_OR_RETURN(
      const KernelProblem problem,
      parse_kernel_problem(kernel.problem(), {d.fixed, static_cast<std::size_t>(d.fixed_count)}));
  SCHAAS_RETURN_IF_ERROR(check_arguments(problem, arguments, names));
  if (d.copy_count > 0)
    return support::unsupported(
        "gpu-copies",
        "the schedule reads operands from copies in another order, which are not made on "
        "a GPU: store the operand in that order, or take `--target cpu`");
  if (d.argument_count != static_cast<std::int32_t>(arguments.size()))
    return support::invalid("kernel-binary", "the kernel takes " + std::to_string(d.argument_count) +
                                                 " tensors and its problem text names " +
                                                 std::to_string(arguments.size()));
  auto state = std::make_unique<State>(gpu, kernel, stream);
  state->tensors = std::move(arguments);
  state->update = problem.update;
  SCHAAS_RETURN_IF_ERROR(
      state->take_entries(names.size() == problem.tensors.size() ? names : problem.tensors));
  SCHAAS_RETURN_IF_ERROR(state->load_module());
  const GpuContext context(*gpu.state_);
  SCHAAS_RETURN_IF_ERROR(context.entered());
  SCHAAS_RETURN_IF_ERROR(state->check_memory());
  SCHAAS_RETURN_IF_ERROR(state->bind_arguments());
  SCHAAS_RETURN_IF_ERROR(state->allocate_scratch());
  return GpuExecution(std::move(state));
}

Result<void> GpuExecution::run(const PackedTensor* before) {
  State& s = *state_;
  const auto& d = s.descriptor();
  const GpuContext context(*s.gpu.state_);
  SCHAAS_RETURN_IF_ERROR(context.entered());
  for (std::size_t n = 1; n < s.tensors.size(); ++n) {
    const Buffer& values = s.tensors[n]->values();
    if (!s.tensors[n]->on_device())
      SCHAAS_RETURN_IF_ERROR(s.arrays.copy(s.views[n].values, values.data(), values.bytes()));
  }
  SCHAAS_RETURN_IF_ERROR(s.start_result(before));
  // Shared arrays and workspaces are cleared before each run: phases add to them.
  for (std::int32_t n = 0; n < d.shared_count; ++n)
    SCHAAS_RETURN_IF_ERROR(
        s.arrays.clear(s.shared[static_cast<std::size_t>(n)], d.shared_bytes(s.arguments.data(), n)));
  SCHAAS_RETURN_IF_ERROR(s.arrays.clear(s.workspace, s.workspace_bytes));
  SCHAAS_RETURN_IF_ERROR(s.launch_all());
  PackedTensor& result = *s.tensors[0];
  // On a stream of the caller's the run goes on when this function returns.
  if (result.on_device()) return s.arrays.stream() == nullptr ? s.arrays.wait() : Result<void>();
  SCHAAS_RETURN_IF_ERROR(s.arrays.copy(result.values().data(), s.views[0].values, result.values().bytes()));
  return s.arrays.wait();
}

Result<void> GpuExecution::wait() {
  const GpuContext context(*state_->gpu.state_);
  SCHAAS_RETURN_IF_ERROR(context.entered());
  return state_->arrays.wait();
}

}  // namespace schaas::client
