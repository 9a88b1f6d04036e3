#include "schaas/gpu.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "client/cpp/gpu/gpu_arrays.h"
#include "client/cpp/gpu/gpu_module.h"
#include "client/cpp/gpu/gpu_state.h"
#include "client/cpp/platform/allocate.h"

// Kernels and devices of NVIDIA, by the functions of the CUDA driver. The numbers of attributes and the types
// are those of the driver's interface; no header or library of the toolkit is needed. A device is used
// through its primary context, which other libraries of the process share. Facts that the driver does not
// tell keep their defaults.
namespace schaas::client {
namespace {

/// Returns the median time of some runs of what is put on the stream, until it is done.
template <class Run>
support::Result<double> median_seconds(const GpuArrays& arrays, const Run& run) {
  using Clock = std::chrono::steady_clock;
  std::array<double, 9> all{};
  for (double& each : all) {
    const auto start = Clock::now();
    SCHAAS_RETURN_IF_ERROR(run());
    SCHAAS_RETURN_IF_ERROR(arrays.wait());
    each = std::chrono::duration<double>(Clock::now() - start).count();
  }
  std::nth_element(all.begin(), all.begin() + all.size() / 2, all.end());
  return all[all.size() / 2];
}

/// Returns the bytes of a second where one time is that of fewer bytes; `otherwise` where noise hides it.
double speed(double bytes, double seconds, double latency, double otherwise) {
  return seconds > latency ? bytes / (seconds - latency) : otherwise;
}

}  // namespace

support::Result<GpuKernel> GpuKernel::load(std::string_view bytes, const support::Digest& expected) {
  SCHAAS_ASSIGN_OR_RETURN(SharedObject object, SharedObject::load(bytes, expected));
  const auto* descriptor = static_cast<const schaas_gpu_descriptor*>(object.symbol(SCHAAS_GPU_SYMBOL));
  const auto* images = static_cast<const schaas_gpu_image*>(object.symbol(SCHAAS_GPU_IMAGES_SYMBOL));
  // The bytes of a kernel for a GPU are a shared object, too: its host code prepares launches, its images are
  // for the device.
  if (descriptor == nullptr || images == nullptr) return bad_binary("it is none for a GPU");
  if (descriptor->abi_version != SCHAAS_GPU_ABI_VERSION)
    return support::invalid("kernel-abi",
                            "the kernel has GPU ABI version " + std::to_string(descriptor->abi_version) +
                                ", this client runs version " + std::to_string(SCHAAS_GPU_ABI_VERSION));
  const auto& d = *descriptor;
  if (d.argument_count < 1 || d.phase_count < 0 || d.shared_count < 0 || d.phases == nullptr ||
      d.shared_bytes == nullptr || d.workspace_bytes == nullptr || d.problem == nullptr ||
      d.schedule == nullptr || d.fixed_count < 0 || (d.fixed_count > 0 && d.fixed == nullptr))
    return bad_binary("its description is incomplete");
  return GpuKernel(std::make_shared<Library>(std::move(object), descriptor, images));
}

const schaas_gpu_descriptor& GpuKernel::descriptor() const { return *library_->descriptor; }
const schaas_gpu_image* GpuKernel::images() const { return library_->images; }
std::string GpuKernel::problem() const { return descriptor().problem; }
std::string GpuKernel::schedule() const { return descriptor().schedule; }

Gpu::State::~State() {
  if (context != nullptr) driver.release_context(device);
}

support::Result<Gpu> Gpu::open(const GpuOptions& options) {
  auto state = std::make_shared<State>();
  SCHAAS_ASSIGN_OR_RETURN(state->driver, load_gpu_driver(options.driver));
  const GpuDriver& driver = state->driver;
  int count = 0;
  if (driver.init(0) != 0 || driver.device_count(&count) != 0)
    return no_gpu("the NVIDIA driver does not start");
  if (options.device < 0 || options.device >= count)
    return no_gpu("device " + std::to_string(options.device) + " is asked for and the driver has " +
                  std::to_string(count));
  state->device = options.device;
  char name[256] = {};
  int major = 0, minor = 0;
  SCHAAS_RETURN_IF_ERROR(
      driver.check(driver.device_name(name, sizeof name - 1, state->device), "a device's name"));
  SCHAAS_RETURN_IF_ERROR(
      // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR: 9 and 0 become 90.
      driver.check(driver.device_attribute(&major, 75, state->device), "a device's version"));
  SCHAAS_RETURN_IF_ERROR(
      driver.check(driver.device_attribute(&minor, 76, state->device), "a device's version"));
  state->facts.name = name;
  state->architecture = 10 * major + minor;
  std::size_t bytes = 0;
  SCHAAS_RETURN_IF_ERROR(driver.check(driver.device_memory(&bytes, state->device), "a device's memory"));
  state->memory_bytes = static_cast<std::int64_t>(bytes);
  SCHAAS_RETURN_IF_ERROR(driver.check(driver.retain_context(&state->context, state->device), "a context"));
  const auto asked = [&](int attribute) {
    int value = 0;
    return driver.device_attribute(&value, attribute, state->device) == 0 && value > 0 ? value : 0;
  };
  GpuFacts& facts = state->facts;
  // CU_DEVICE_ATTRIBUTE_ MEMORY_POOLS_SUPPORTED, MULTIPROCESSOR_COUNT, CLOCK_RATE and MEMORY_CLOCK_RATE (kHz,
  // both edges of the clock move data), GLOBAL_MEMORY_BUS_WIDTH (bits), L2_CACHE_SIZE (bytes)
  state->has_pools = asked(115) != 0;
  if (const int processors = asked(16)) facts.processors = processors;
  if (const int clock = asked(13)) facts.cycles_per_second = 1e3 * clock;
  const double clock = asked(36), bits = asked(37);
  if (clock > 0 && bits > 0) facts.bytes_per_second = 2e3 * clock * bits / 8;
  if (const int cache = asked(38)) facts.cache_bytes = cache;
  facts.free_bytes = static_cast<double>(state->memory_bytes);
  if (const auto rates = stored_gpu_rates(options.rates_directory, facts.name)) {
    facts.bytes_per_second = rates->bytes_per_second;
    facts.transferred_bytes_per_second = rates->transferred_bytes_per_second;
    facts.transfer_seconds = rates->transfer_seconds;
    facts.launch_seconds = rates->launch_seconds;
  }
  return Gpu(std::move(state));
}

// The free memory changes with other programs, so it is read at each call.
GpuFacts Gpu::facts() const {
  GpuFacts facts = state_->facts;
  std::size_t available = 0, total = 0;
  const GpuContext context(*state_);
  if (context.entered().ok() && state_->driver.memory_info(&available, &total) == 0)
    facts.free_bytes = static_cast<double>(available);
  return facts;
}

// Copies of ordinary memory of the host are those that runs make. A fill of few bytes stands for a launch:
// the driver launches a kernel for it. A copy within the device reads and writes its memory.
support::Result<GpuRates> Gpu::measure_rates() const {
  const GpuContext context(*state_);
  SCHAAS_RETURN_IF_ERROR(context.entered());
  const GpuFacts known = facts();
  const auto free_bytes = static_cast<std::int64_t>(known.free_bytes);
  const std::int64_t moved = std::min<std::int64_t>(64 << 20, free_bytes / 8);
  const std::int64_t copied = std::min<std::int64_t>(256 << 20, free_bytes / 8);
  constexpr int launches = 64;
  GpuArrays arrays(state_, nullptr);
  SCHAAS_ASSIGN_OR_RETURN(void* const to, arrays.room(copied));
  SCHAAS_ASSIGN_OR_RETURN(void* const from, arrays.room(copied));
  SCHAAS_ASSIGN_OR_RETURN(const Buffer host, allocate(moved, 1, "what is copied to the device"));
  const auto of_host = [&](std::int64_t bytes) {
    return median_seconds(arrays,
                          [&] { return arrays.copy(to, host.data(), static_cast<std::size_t>(bytes)); });
  };
  const auto of_device = [&](std::int64_t bytes) {
    return median_seconds(arrays, [&] { return arrays.copy(to, from, static_cast<std::size_t>(bytes)); });
  };
  const auto of_launches = [&](int count) {
    return median_seconds(arrays, [&]() -> support::Result<void> {
      for (int n = 0; n < count; ++n) SCHAAS_RETURN_IF_ERROR(arrays.clear(to, 16));
      return {};
    });
  };
  SCHAAS_ASSIGN_OR_RETURN(const double first, of_host(16));
  SCHAAS_ASSIGN_OR_RETURN(const double large, of_host(moved));
  SCHAAS_ASSIGN_OR_RETURN(const double small_copy, of_device(16));
  SCHAAS_ASSIGN_OR_RETURN(const double large_copy, of_device(copied));
  SCHAAS_ASSIGN_OR_RETURN(const double one, of_launches(1));
  SCHAAS_ASSIGN_OR_RETURN(const double many, of_launches(launches));
  GpuRates rates;
  rates.transfer_seconds = first;
  rates.transferred_bytes_per_second =
      speed(static_cast<double>(moved), large, first, known.transferred_bytes_per_second);
  rates.bytes_per_second =
      speed(2.0 * static_cast<double>(copied), large_copy, small_copy, known.bytes_per_second);
  rates.launch_seconds = std::max(many - one, 0.0) / (launches - 1);
  return rates;
}

std::string Gpu::name() const { return state_->facts.name; }
int Gpu::architecture() const { return state_->architecture; }
std::int64_t Gpu::memory_bytes() const { return state_->memory_bytes; }

}  // namespace schaas::client
