#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "client/cpp/platform/background_tasks.h"
#include "client/cpp/platform/dynamic_library.h"
#include "client/cpp/platform/process_mutex.h"
#include "client/cpp/remote/server_library.h"
#include "client/cpp/remote/server_source.h"

// The connection of libschaas.so: a library of its own with gRPC in it, loaded when a server is first asked
// (docs/decisions/0004). A child after fork() cannot use its parent's gRPC, nor wait for threads that it does
// not have. It loads a copy of the library, with state of its own, and leaves the parent's connections as
// they are.
namespace schaas::client {
namespace {

constexpr const char* file_name = "libschaas-remote.so." SCHAAS_VERSION;

/// Beside this library; else where the loader looks.
std::string library_path() {
  // dladdr names the file of this code, whatever program loaded it.
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&library_path), &here) == 0 || here.dli_fname == nullptr)
    return file_name;
  const std::string own = here.dli_fname;
  const std::string beside = own.substr(0, own.rfind('/') + 1) + file_name;
  return access(beside.c_str(), R_OK) == 0 ? beside : file_name;
}

/// Loads a copy of the library. The loader returns a loaded file again; of a copy it makes another library.
void* load_copy(const std::string& path) {
  const int from = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const int to = memfd_create("schaas-remote", MFD_CLOEXEC);
  struct stat status {};
  bool copied = from >= 0 && to >= 0 && fstat(from, &status) == 0;
  for (off_t done = 0; copied && done < status.st_size;)
    copied = sendfile(to, from, &done, static_cast<std::size_t>(status.st_size - done)) > 0;
  if (from >= 0) close(from);
  void* library = copied ? open_library("/proc/self/fd/" + std::to_string(to)) : nullptr;
  if (library == nullptr && to >= 0) close(to);  // else it stays: the loader knows libraries by this path
  return library;
}

/// The library of one process.
struct ServerLibrary {
  std::uint64_t generation = 0;
  OpenServer* open = nullptr;
};

support::Result<ServerLibrary> load() {
  const std::string path = library_path();
  // A child finds its parent's library open; a process that has none opens the file itself.
  void* library = is_library_open(path) ? load_copy(path) : open_library(path);
  if (library != nullptr) {
    // Tasks must end before the exit handlers of the library that they use.
    BackgroundTasks::end_at_exit();
    auto* const note = reinterpret_cast<NoteLibraryFile*>(dlsym(library, "schaas_note_library_file"));
    auto* const open = reinterpret_cast<OpenServer*>(dlsym(library, "schaas_open_server"));
    if (note != nullptr && open != nullptr) {
      note(path.c_str());
      return ServerLibrary{process_generation(), open};
    }
  }
  const char* text = dlerror();
  return support::unsupported("remote-library", "the library that speaks to servers cannot be loaded: " +
                                                    (text == nullptr ? path : std::string(text)));
}

// The library of this process, loaded once; a child finds the generation of its parent and loads its own.
support::Result<ServerLibrary> server_library() {
  static ProcessMutex mutex;
  static std::optional<ServerLibrary> loaded;
  const std::lock_guard lock(mutex);
  if (!loaded || loaded->generation != process_generation()) {
    SCHAAS_ASSIGN_OR_RETURN(loaded, load());
  }
  return *loaded;
}

/// A connection, and another one in each process after a fork().
class LoadedServer final : public ServerSource {
 public:
  LoadedServer(ConnectOptions options, std::shared_ptr<ServerSource> source)
      : options_([&] {
          options.stop = {};  // belongs to the caller that opened it
          return std::move(options);
        }()),
        address_(source->address()),
        started_(source->started_server()),
        opened_(new Opened{process_generation(), std::move(source)}) {}
  ~LoadedServer() override {
    const Opened* last = opened_.load();
    if (last->generation == process_generation()) delete last;
  }

  const std::string& address() const override { return address_; }
  bool started_server() const override { return started_; }
  support::Result<ScheduleAnswer> schedule(
      const ScheduleRequest& request, const std::function<bool(const ScheduleEvent&)>& listener) override {
    SCHAAS_ASSIGN_OR_RETURN(ServerSource* const source, current());
    return source->schedule(request, listener);
  }
  support::Result<Frontier> lookup(const ProblemText& problem, std::stop_token stop) override {
    SCHAAS_ASSIGN_OR_RETURN(ServerSource* const source, current());
    return source->lookup(problem, std::move(stop));
  }
  support::Result<std::string> download(const KernelInfo& kernel, std::stop_token stop) override {
    SCHAAS_ASSIGN_OR_RETURN(ServerSource* const source, current());
    return source->download(kernel, std::move(stop));
  }
  support::Result<void> report(const ProblemText& problem,
                               const std::vector<Measurement>& measurements) override {
    SCHAAS_ASSIGN_OR_RETURN(ServerSource* const source, current());
    return source->report(problem, measurements);
  }
  std::string public_key() const override {
    return opened_.load(std::memory_order_acquire)->source->public_key();
  }

 private:
  /// Never destroyed in another process: the connection's descriptors are its parent's, too.
  struct Opened {
    std::uint64_t generation;
    std::shared_ptr<ServerSource> source;
  };

  support::Result<ServerSource*> current();

  const ConnectOptions options_;
  const std::string address_;
  const bool started_;
  std::atomic<const Opened*> opened_;
};

support::Result<std::shared_ptr<ServerSource>> open_now(const ConnectOptions& options) {
  SCHAAS_ASSIGN_OR_RETURN(const ServerLibrary library, server_library());
  OpenedServer opened;
  library.open(options, opened);
  if (opened.error) return *std::move(opened.error);
  return std::move(opened.source);
}

// Two threads of a child may connect; the connection of the one whose exchange fails is closed.
support::Result<ServerSource*> LoadedServer::current() {
  const Opened* known = opened_.load(std::memory_order_acquire);
  if (known->generation == process_generation()) return known->source.get();
  SCHAAS_ASSIGN_OR_RETURN(auto source, open_now(options_));
  auto made = std::make_unique<const Opened>(Opened{process_generation(), std::move(source)});
  if (opened_.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) known = made.release();
  return known->source.get();
}

}  // namespace

support::Result<std::shared_ptr<ServerSource>> open_server(const ConnectOptions& options) {
  SCHAAS_ASSIGN_OR_RETURN(auto source, open_now(options));
  return std::shared_ptr<ServerSource>(std::make_shared<LoadedServer>(options, std::move(source)));
}

}  // namespace schaas::client
