#include "schaas/session.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "client/cpp/platform/process_mutex.h"
#include "client/cpp/remote/cached_source.h"
#include "client/cpp/remote/server_source.h"
#include "schaas/host.h"

// A session: a source of kernels, and the kernels and devices that were loaded through it. Kernels are shared
// by all kernel sets. The lock is not held while a kernel is downloaded and loaded: two threads may load the
// same one, and the first to finish wins. A cache that cannot be used is no error: the server is asked each
// time.
namespace schaas::client {

struct Session::State {
  explicit State(std::shared_ptr<KernelSource> given) : source(std::move(given)) {}

  const std::shared_ptr<KernelSource> source;
  ProcessMutex mutex;
  std::map<std::string, Kernel> kernels;         ///< by problem and digest
  std::map<int, Gpu> gpus;                       ///< by device
  std::map<std::string, GpuKernel> gpu_kernels;  ///< by problem and digest

  template <class Loaded>
  support::Result<Loaded> load(std::map<std::string, Loaded>& known, const KernelInfo& info,
                               const std::stop_token& stop);
};

namespace {

constexpr std::uint64_t usual_cache_bytes = std::uint64_t{256} << 20;

support::Result<std::uint64_t> cache_bytes(const ConnectOptions& options) {
  if (options.cache_bytes) return *options.cache_bytes;
  const char* text = std::getenv("SCHAAS_CACHE_BYTES");
  if (text == nullptr || *text == '\0') return usual_cache_bytes;
  std::uint64_t bytes = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, bytes);
  if (error == std::errc() && stop == end) return bytes;
  return support::invalid("cache-bytes", "SCHAAS_CACHE_BYTES is `" + std::string(text) +
                                             "`; expected a number of bytes, 0 for no cache");
}

}  // namespace

support::Result<Session> Session::open(const ConnectOptions& options) {
  const std::string directory =
      options.cache_directory.empty() ? default_cache_directory() : options.cache_directory;
  SCHAAS_ASSIGN_OR_RETURN(const std::uint64_t bytes, cache_bytes(options));
  if (auto cache = ClientCache::open(directory, bytes)) {
    SCHAAS_ASSIGN_OR_RETURN(auto source, open_cached(options, std::move(cache)));
    return Session(std::move(source));
  }
  SCHAAS_ASSIGN_OR_RETURN(auto source, open_server(options));
  return Session(std::move(source));
}

Session::Session(std::shared_ptr<KernelSource> source) : state_(std::make_shared<State>(std::move(source))) {}

KernelSource& Session::source() const { return *state_->source; }

template <class Loaded>
support::Result<Loaded> Session::State::load(std::map<std::string, Loaded>& known, const KernelInfo& info,
                                             const std::stop_token& stop) {
  // A signature is verified by the download, for one problem: the same binary for another problem is verified
  // again.
  const std::string key = info.problem_key + " " + info.digest.sha256;
  {
    const std::lock_guard lock(mutex);
    const auto loaded = known.find(key);
    if (loaded != known.end()) return loaded->second;
  }
  SCHAAS_ASSIGN_OR_RETURN(const std::string binary, source->download(info, stop));
  SCHAAS_ASSIGN_OR_RETURN(Loaded kernel, Loaded::load(binary, info.digest));
  const std::lock_guard lock(mutex);
  return known.emplace(key, std::move(kernel)).first->second;
}

support::Result<Kernel> Session::load(const KernelInfo& info, const std::stop_token& stop) const {
  return state_->load(state_->kernels, info, stop);
}

support::Result<GpuKernel> Session::load_for_gpu(const KernelInfo& info, const std::stop_token& stop) const {
  return state_->load(state_->gpu_kernels, info, stop);
}

// The lock is held while a device is opened: a second caller needs the same one.
support::Result<Gpu> Session::gpu(int device) const {
  const std::lock_guard lock(state_->mutex);
  const auto known = state_->gpus.find(device);
  if (known != state_->gpus.end()) return known->second;
  GpuOptions options;
  options.device = device;
  options.rates_directory = default_data_directory();
  SCHAAS_ASSIGN_OR_RETURN(Gpu opened, Gpu::open(options));
  return state_->gpus.emplace(device, std::move(opened)).first->second;
}

support::Result<Execution> Session::prepare(const std::vector<std::string>& names, const KernelInfo& info,
                                            std::vector<PackedTensor*> tensors,
                                            ExecutionOptions options) const {
  SCHAAS_ASSIGN_OR_RETURN(const Kernel kernel, load(info));
  options.names = names;
  return Execution::prepare(kernel, std::move(tensors), options);
}

}  // namespace schaas::client
