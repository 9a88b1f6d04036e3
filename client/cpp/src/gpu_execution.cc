#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

#include "argument_check.h"
#include "gpu_state.h"
#include "kernel_problem.h"
#include "result_storage.h"
#include "shared_object.h"

namespace schaas::client {
namespace {

using support::Result;

/// Threads that have memory of their own at the same time; more threads take turns.
constexpr std::int64_t workspace_threads = 1 << 16;

std::string mib(std::int64_t bytes) { return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB"; }

/// A cubin for the device's generation, else PTX, which the driver compiles; null: neither.
const schaas_gpu_image* image_for(const GpuKernel& kernel, int architecture) {
  const schaas_gpu_image* found = nullptr;
  for (const auto* image = kernel.images(); image->architecture != nullptr; ++image) {
    const std::string text = image->architecture;
    const int version = std::atoi(text.c_str() + text.find('_') + 1);
    const bool cubin = text.rfind("sm_", 0) == 0;
    if (cubin ? version / 10 == architecture / 10 && version <= architecture
              : found == nullptr && version <= architecture)
      found = image;
  }
  return found;
}

}  // namespace

struct GpuExecution::State {
  State(Gpu on, GpuKernel of) : gpu(std::move(on)), kernel(std::move(of)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (enter().ok()) {
      for (const auto address : allocated) driver().release(address);
      if (module != nullptr) driver().unload_module(module);
    }
  }

  const GpuDriver& driver() const { return gpu.state_->driver; }
  Result<void> enter() const {
    return driver().check(driver().set_context(gpu.state_->context), "its context");
  }

  /// Room on the device; nothing is null there, not even what is empty.
  Result<void*> room(std::int64_t size) {
    GpuDriver::Address address = 0;
    const auto some = static_cast<std::size_t>(std::max<std::int64_t>(size, 16));
    SCHAAS_RETURN_IF_ERROR(driver().check(driver().allocate(&address, some), mib(size) + " of memory"));
    allocated.push_back(address);
    bytes += static_cast<std::int64_t>(some);
    return reinterpret_cast<void*>(address);
  }
  Result<void> bring(void* to, const void* from, std::size_t size) const {
    if (size == 0) return {};
    return driver().check(driver().to_device(reinterpret_cast<GpuDriver::Address>(to), from, size),
                          "a copy to the device");
  }
  Result<void> clear(void* at, std::int64_t size) const {
    if (size == 0) return {};
    return driver().check(
        driver().set_bytes(reinterpret_cast<GpuDriver::Address>(at), 0, static_cast<std::size_t>(size)),
        "zeros on the device");
  }

  std::int64_t needed() const;
  Result<void> check_memory() const;
  Result<void> place_arguments();
  Result<void> place_scratch();
  Result<void> start_result() const;

  Gpu gpu;
  GpuKernel kernel;
  std::vector<PackedTensor*> tensors;
  bool update = false;
  void* module = nullptr;
  std::vector<void*> functions;
  std::vector<GpuDriver::Address> allocated;
  std::int64_t bytes = 0, tensor_bytes = 0, workspace_bytes = 0;
  std::deque<std::vector<schaas_level>> levels;
  std::deque<schaas_tensor> views;  ///< structs of the host, arrays of the device
  std::vector<const schaas_tensor*> arguments;
  std::vector<void*> shared;
  void* workspace = nullptr;
};

/// The sizes hang on the numbers in the structs only, which are the host's.
std::int64_t GpuExecution::State::needed() const {
  std::deque<schaas_tensor> host;
  std::vector<const schaas_tensor*> all;
  std::int64_t sum = 0;
  for (const auto* tensor : tensors) {
    host.push_back(tensor->view());
    all.push_back(&host.back());
    sum += static_cast<std::int64_t>(tensor->bytes());
  }
  const auto& d = kernel.descriptor();
  for (std::int32_t n = 0; n < d.shared_count; ++n) sum += d.shared_bytes(all.data(), n);
  return sum + d.workspace_bytes(all.data()) * workspace_threads;
}

Result<void> GpuExecution::State::check_memory() const {
  std::size_t available = 0, total = 0;
  SCHAAS_RETURN_IF_ERROR(driver().check(driver().memory_info(&available, &total), "its free memory"));
  const std::int64_t need = needed();
  if (need <= static_cast<std::int64_t>(available)) return {};
  return support::exhausted("gpu-memory", "the kernel and its tensors need " + mib(need) + " on " +
                                              gpu.name() + ", and " +
                                              mib(static_cast<std::int64_t>(available)) +
                                              " are free there; kernels for the CPU (`--target cpu`) work");
}

Result<void> GpuExecution::State::place_arguments() {
  for (const auto* tensor : tensors) {
    schaas_tensor view = tensor->view();
    auto& own = levels.emplace_back(view.levels, view.levels + view.order);
    for (std::size_t level = 0; level < own.size(); ++level) {
      const auto& stored = tensor->levels()[level];
      for (const auto& [buffer, place] :
           {std::pair(&stored.pos, &own[level].pos), std::pair(&stored.crd, &own[level].crd)}) {
        if (*place == nullptr) continue;
        SCHAAS_ASSIGN_OR_RETURN(void* const there, room(static_cast<std::int64_t>(buffer->bytes())));
        SCHAAS_RETURN_IF_ERROR(bring(there, buffer->data(), buffer->bytes()));
        *place = there;
      }
    }
    SCHAAS_ASSIGN_OR_RETURN(view.values, room(static_cast<std::int64_t>(tensor->values().bytes())));
    view.levels = own.data();
    views.push_back(view);
    arguments.push_back(&views.back());
  }
  tensor_bytes = bytes;
  return {};
}

Result<void> GpuExecution::State::place_scratch() {
  const auto& d = kernel.descriptor();
  for (std::int32_t n = 0; n < d.shared_count; ++n) {
    SCHAAS_ASSIGN_OR_RETURN(void* const there, room(d.shared_bytes(arguments.data(), n)));
    shared.push_back(there);
  }
  workspace_bytes = d.workspace_bytes(arguments.data()) * workspace_threads;
  if (workspace_bytes == 0) return {};
  SCHAAS_ASSIGN_OR_RETURN(workspace, room(workspace_bytes));
  return {};
}

/// The values that the result has before the first phase.
Result<void> GpuExecution::State::start_result() const {
  const auto& d = kernel.descriptor();
  if (d.writes_all != 0 && !update) return {};
  PackedTensor& result = *tensors[0];
  if (!update) fill_values(result.values().data(), result.value_type(), 0, result.stored(), d.result_fill);
  return bring(views[0].values, result.values().data(), result.values().bytes());
}

GpuExecution::GpuExecution(std::unique_ptr<State> state) : state_(std::move(state)) {}
GpuExecution::GpuExecution(GpuExecution&&) noexcept = default;
GpuExecution& GpuExecution::operator=(GpuExecution&&) noexcept = default;
GpuExecution::~GpuExecution() = default;
std::int64_t GpuExecution::device_bytes() const { return state_->bytes; }
std::int64_t GpuExecution::scratch_bytes() const { return state_->bytes - state_->tensor_bytes; }

Result<GpuExecution> GpuExecution::prepare(const Gpu& gpu, const GpuKernel& kernel,
                                           std::vector<PackedTensor*> arguments,
                                           const std::vector<std::string>& names) {
  SCHAAS_ASSIGN_OR_RETURN(const KernelProblem problem,
                          parse_kernel_problem(kernel.problem(), kernel.schedule()));
  SCHAAS_RETURN_IF_ERROR(check_arguments(problem, arguments, names));
  const auto& d = kernel.descriptor();
  if (d.copy_count > 0)
    return support::unsupported(
        "gpu-copies",
        "the schedule reads operands from copies in another order, which are not made on "
        "a GPU: store the operand in that order, or take `--target cpu`");
  if (d.argument_count != static_cast<std::int32_t>(arguments.size()))
    return support::invalid("kernel-binary", "the kernel takes " + std::to_string(d.argument_count) +
                                                 " tensors and its problem text names " +
                                                 std::to_string(arguments.size()));
  auto state = std::make_unique<State>(gpu, kernel);
  state->tensors = std::move(arguments);
  state->update = problem.update;
  if (d.result_entries_of >= 0) {
    if (d.result_entries_of == 0 || d.result_entries_of >= d.argument_count)
      return bad_binary("its result has the entries of no operand");
    const auto& other = *state->tensors[static_cast<std::size_t>(d.result_entries_of)];
    SCHAAS_RETURN_IF_ERROR(ResultStorage::take_entries(*state->tensors[0], other, problem.tensors[0]));
  }
  SCHAAS_RETURN_IF_ERROR(state->enter());
  const auto* image = image_for(kernel, gpu.architecture());
  if (image == nullptr)
    return support::unsupported("gpu-image", "the kernel has no module for " + gpu.name() + " (sm_" +
                                                 std::to_string(gpu.architecture()) +
                                                 "); kernels for the CPU (`--target cpu`) work");
  const GpuDriver& driver = state->driver();
  SCHAAS_RETURN_IF_ERROR(
      driver.check(driver.load_module(&state->module, image->bytes), "the kernel's module"));
  for (std::int32_t p = 0; p < d.phase_count; ++p) {
    void* function = nullptr;
    SCHAAS_RETURN_IF_ERROR(driver.check(driver.function(&function, state->module, d.phases[p].function),
                                        std::string("`") + d.phases[p].function + "`"));
    state->functions.push_back(function);
  }
  SCHAAS_RETURN_IF_ERROR(state->check_memory());
  SCHAAS_RETURN_IF_ERROR(state->place_arguments());
  SCHAAS_RETURN_IF_ERROR(state->place_scratch());
  return GpuExecution(std::move(state));
}

Result<void> GpuExecution::run() {
  State& s = *state_;
  const GpuDriver& driver = s.driver();
  const auto& d = s.kernel.descriptor();
  SCHAAS_RETURN_IF_ERROR(s.enter());
  for (std::size_t n = 1; n < s.tensors.size(); ++n)
    SCHAAS_RETURN_IF_ERROR(
        s.bring(s.views[n].values, s.tensors[n]->values().data(), s.tensors[n]->values().bytes()));
  SCHAAS_RETURN_IF_ERROR(s.start_result());
  for (std::int32_t n = 0; n < d.shared_count; ++n)
    SCHAAS_RETURN_IF_ERROR(
        s.clear(s.shared[static_cast<std::size_t>(n)], d.shared_bytes(s.arguments.data(), n)));
  SCHAAS_RETURN_IF_ERROR(s.clear(s.workspace, s.workspace_bytes));
  for (std::int32_t p = 0; p < d.phase_count; ++p) {
    const auto& phase = d.phases[p];
    std::vector<std::max_align_t> parameters(
        static_cast<std::size_t>(phase.parameter_bytes) / sizeof(std::max_align_t) + 1);
    const std::int64_t blocks =
        phase.prepare(s.arguments.data(), s.shared.data(), s.workspace, workspace_threads, parameters.data());
    if (blocks < 0)
      return support::internal("gpu-failed", std::string("`") + phase.function + "` refuses its arguments");
    if (blocks == 0) continue;
    void* given[] = {parameters.data()};
    SCHAAS_RETURN_IF_ERROR(
        driver.check(driver.launch(s.functions[static_cast<std::size_t>(p)], static_cast<unsigned>(blocks), 1,
                                   1, static_cast<unsigned>(phase.block), 1, 1, 0, nullptr, given, nullptr),
                     std::string("to launch `") + phase.function + "`"));
  }
  SCHAAS_RETURN_IF_ERROR(driver.check(driver.synchronize(), "to finish"));
  Buffer& values = s.tensors[0]->values();
  if (values.bytes() == 0) return {};
  return driver.check(
      driver.to_host(values.data(), reinterpret_cast<GpuDriver::Address>(s.views[0].values), values.bytes()),
      "the result");
}

}  // namespace schaas::client
