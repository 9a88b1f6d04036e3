#include "schaas/gpu.h"

#include <utility>

#include "client/cpp/gpu/gpu_module.h"
#include "client/cpp/gpu/gpu_state.h"

// Kernels and devices of NVIDIA, by the functions of the CUDA driver. The numbers of attributes and the types
// are those of the driver's interface; no header or library of the toolkit is needed. A device is used
// through its primary context, which other libraries of the process share. Facts that the driver does not
// tell keep their defaults.
namespace schaas::client {

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

std::string Gpu::name() const { return state_->facts.name; }
int Gpu::architecture() const { return state_->architecture; }
std::int64_t Gpu::memory_bytes() const { return state_->memory_bytes; }

}  // namespace schaas::client
