#include "tests/support/kernel_runner.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

namespace schaas::test_support {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t guard = 64;
constexpr unsigned char guard_byte = 0xA5;

/// Zeroed, aligned, and followed by a guard that tells a write behind the end.
class Buffer {
 public:
  explicit Buffer(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
    const std::size_t all = (bytes_ + guard + alignment - 1) / alignment * alignment;
    data_.reset(static_cast<unsigned char*>(std::aligned_alloc(alignment, all)));
    std::memset(data_.get(), 0, bytes_);
    std::memset(data_.get() + bytes_, guard_byte, guard);
  }
  void* data() const { return data_.get(); }
  bool intact() const {
    return std::all_of(data_.get() + bytes_, data_.get() + bytes_ + guard,
                       [](unsigned char byte) { return byte == guard_byte; });
  }

 private:
  struct Free {
    void operator()(void* data) const { std::free(data); }
  };
  std::size_t bytes_;
  std::unique_ptr<unsigned char, Free> data_;
};

struct Piece {
  std::int64_t begin;
  std::int64_t end;
};

std::vector<Piece> cut(std::int64_t range, Cuts cuts, std::mt19937_64& random) {
  std::vector<std::int64_t> bounds{0, range};
  if (cuts == Cuts::random) {
    const auto count = random() % 6;
    for (std::size_t n = 0; n < count; ++n) {
      bounds.push_back(std::uniform_int_distribution<std::int64_t>(0, range)(random));
    }
  }
  std::sort(bounds.begin(), bounds.end());
  std::vector<Piece> pieces;
  for (std::size_t n = 0; n + 1 < bounds.size(); ++n) pieces.push_back({bounds[n], bounds[n + 1]});
  return pieces;
}

/// What the two threads of a run share, and the workspace of each.
struct Run {
  const schaas_kernel_descriptor& kernel;
  const schaas_tensor* const* arguments;
  std::vector<Buffer> shared;
  std::vector<void*> shared_data;
  std::vector<Buffer> workspaces;
};

std::string run_phase(Run& run, int number, Cuts cuts, std::mt19937_64& random) {
  const schaas_phase& phase = run.kernel.phases[number];
  std::vector<Piece> pieces = cut(phase.range(run.arguments), cuts, random);
  const std::size_t threads = cuts == Cuts::random && phase.parallel != 0 ? 2 : 1;
  if (threads == 2) std::shuffle(pieces.begin(), pieces.end(), random);
  std::vector<std::int32_t> status(threads, SCHAAS_OK);
  const auto work = [&](std::size_t thread) {
    for (std::size_t n = thread; n < pieces.size(); n += threads) {
      status[thread] |= phase.run(run.arguments, run.shared_data.data(), run.workspaces[thread].data(),
                                  pieces[n].begin, pieces[n].end);
    }
  };
  if (threads == 2) {
    std::thread other(work, 1);
    work(0);
    other.join();
  } else {
    work(0);
  }
  for (const std::int32_t one : status) {
    if (one != SCHAAS_OK) return "phase " + std::to_string(number) + " returned " + std::to_string(one);
  }
  return "";
}

/// Turns the counters into places and has the result allocated.
std::string scan(Run& run, const schaas_phase& last_counted, const Allocate& allocate) {
  if (!allocate) return "the kernel counts entries of a result that is there";
  const std::int64_t units = last_counted.range(run.arguments);
  std::vector<std::int64_t> entries;
  for (std::int32_t n = 0; n < run.kernel.counter_count; ++n) {
    const std::int32_t slot = run.kernel.counters[n].shared_slot;
    if (run.kernel.shared_bytes(run.arguments, slot) < (units + 1) * 8) return "a counter is too short";
    auto* counter = static_cast<std::int64_t*>(run.shared_data.at(static_cast<std::size_t>(slot)));
    std::int64_t total = 0;
    for (std::int64_t unit = 0; unit <= units; ++unit) {
      const std::int64_t count = unit < units ? counter[unit] : 0;
      if (count < 0 || count > 1000000)
        return "unit " + std::to_string(unit) + " counts " + std::to_string(count);
      counter[unit] = total;
      total += count;
    }
    entries.push_back(total);
  }
  allocate(entries);
  return "";
}

std::string load_error(const char* what) {
  const char* reason = dlerror();
  return std::string(what) + ": " + (reason ? reason : "unknown reason");
}

}  // namespace

support::Result<LoadedKernel> LoadedKernel::load(const std::string& bytes, const std::string& symbol) {
  const char* directory = std::getenv("TMPDIR");
  std::string path = std::string(directory && *directory ? directory : "/tmp") + "/schaas-test-XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0) return support::internal("load", "no temporary file");
  const bool written = write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  close(file);
  void* library = written ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  unlink(path.c_str());
  if (!library) return support::internal("load", load_error("the kernel does not load"));
  LoadedKernel out;
  out.library_ = std::shared_ptr<void>(library, [](void* loaded) { dlclose(loaded); });
  return out.sibling(symbol);
}

support::Result<LoadedKernel> LoadedKernel::sibling(const std::string& symbol) const {
  LoadedKernel out = *this;
  out.descriptor_ = static_cast<const schaas_kernel_descriptor*>(dlsym(library_.get(), symbol.c_str()));
  if (!out.descriptor_) return support::internal("load", load_error("the object has no kernel"));
  if (out.descriptor_->abi_version != SCHAAS_KERNEL_ABI_VERSION) {
    return support::internal("load",
                             "the kernel has ABI version " + std::to_string(out.descriptor_->abi_version));
  }
  return out;
}

std::string run(const schaas_kernel_descriptor& kernel, const std::vector<const schaas_tensor*>& arguments,
                Cuts cuts, std::mt19937_64& random, const Allocate& allocate) {
  if (kernel.argument_count != static_cast<std::int32_t>(arguments.size())) {
    return "the kernel takes " + std::to_string(kernel.argument_count) + " arguments, not " +
           std::to_string(arguments.size());
  }
  Run state{kernel, arguments.data(), {}, {}, {}};
  for (std::int32_t which = 0; which < kernel.shared_count; ++which) {
    state.shared.emplace_back(kernel.shared_bytes(arguments.data(), which));
    state.shared_data.push_back(state.shared.back().data());
  }
  const std::int64_t bytes = kernel.workspace_bytes ? kernel.workspace_bytes(arguments.data()) : 0;
  for (int thread = 0; thread < 2; ++thread) state.workspaces.emplace_back(bytes);
  bool counted = false;
  for (std::int32_t number = 0; number < kernel.phase_count; ++number) {
    const bool counting = kernel.phases[number].step == SCHAAS_STEP_COUNT;
    std::string error;
    if (counted && !counting) error = scan(state, kernel.phases[number - 1], allocate);
    if (error.empty()) error = run_phase(state, number, cuts, random);
    if (!error.empty()) return error;
    counted = counting;
  }
  for (const auto* buffers : {&state.shared, &state.workspaces}) {
    for (const Buffer& buffer : *buffers) {
      if (!buffer.intact()) return "the kernel wrote behind a shared array or workspace";
    }
  }
  return "";
}

}  // namespace schaas::test_support
