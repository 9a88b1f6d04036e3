#include "schaas/kernel.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "schaas/host.h"

namespace schaas::client {

struct Kernel::Library {
  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (handle != nullptr) dlclose(handle);
    if (file >= 0) close(file);
  }
  void* handle = nullptr;
  int file = -1;  ///< stays open: the loader knows libraries by path, and the number is part of the path
  const schaas_kernel_descriptor* descriptor = nullptr;
};

namespace {

support::Diagnostic bad_binary(const std::string& why) {
  return support::invalid("kernel-binary", "the kernel binary cannot be used: " + why);
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string loader_error() {
  const char* text = dlerror();
  return text == nullptr ? "unknown loader error" : text;
}

// Memory that has no name in the file system. Sealed, so it stays what was verified.
int memory_file(std::string_view bytes) {
  const int file = memfd_create("schaas-kernel", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return -1;
  if (!write_all(file, bytes) || fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) {
    close(file);
    return -1;
  }
  return file;
}

// Where executable memory files are forbidden: a file in a fresh folder that only this user can enter, gone
// once loaded.
void* load_from_private_folder(std::string_view bytes, std::string& error) {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  std::string folder = std::string(runtime != nullptr && *runtime != 0 ? runtime : "/tmp") + "/schaas-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) {
    error = std::string("no private folder: ") + std::strerror(errno);
    return nullptr;
  }
  const std::string path = folder + "/kernel.so";
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0500);
  const bool written = file >= 0 && write_all(file, bytes);
  if (file >= 0) close(file);
  void* handle = written ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (handle == nullptr) error = written ? loader_error() : "writing it failed";
  unlink(path.c_str());
  rmdir(folder.c_str());
  return handle;
}

support::Result<void> check_phases(const schaas_kernel_descriptor& d) {
  if (d.argument_count < 1 || d.phase_count < 0 || d.shared_count < 0) return bad_binary("negative counts");
  if (d.phase_count > 0 && d.phases == nullptr) return bad_binary("no phases");
  for (std::int32_t p = 0; p < d.phase_count; ++p) {
    const schaas_phase& phase = d.phases[p];
    if (phase.run == nullptr || phase.range == nullptr) return bad_binary("an empty phase");
    if (phase.balance_arg >= d.argument_count)
      return bad_binary("balance by an argument that does not exist");
    const bool folds = phase.fold >= SCHAAS_FOLD_NONE && phase.fold <= SCHAAS_FOLD_AND;
    if (!folds || (phase.fold != SCHAAS_FOLD_NONE && phase.fold_target >= d.shared_count))
      return bad_binary("a phase that folds into nothing");
    const bool carries = phase.carry_elements != nullptr;
    if (carries != (phase.combine != nullptr) || (carries && phase.part == nullptr))
      return bad_binary("parts that nothing combines");
  }
  const std::int32_t originals = d.argument_count - d.copy_count;
  if (d.copy_count < 0 || originals < 1 || (d.copy_count > 0 && d.copies == nullptr))
    return bad_binary("copies that are none");
  for (std::int32_t c = 0; c < d.copy_count; ++c) {
    const schaas_copy& copy = d.copies[c];
    if (copy.argument < 1 || copy.argument >= originals || copy.mode_order == nullptr)
      return bad_binary("a copy of an argument that is no operand");
  }
  if (d.shared_count > 0 && d.shared_bytes == nullptr) return bad_binary("shared arrays without sizes");
  if (d.key == nullptr || d.problem == nullptr || d.schedule == nullptr || d.isa == nullptr) {
    return bad_binary("no description");
  }
  return {};
}

support::Result<void> check_descriptor(const schaas_kernel_descriptor& d) {
  if (d.abi_version != SCHAAS_KERNEL_ABI_VERSION) {
    return support::invalid("kernel-abi", "the kernel has ABI version " + std::to_string(d.abi_version) +
                                              ", this client runs version " +
                                              std::to_string(SCHAAS_KERNEL_ABI_VERSION));
  }
  SCHAAS_RETURN_IF_ERROR(check_phases(d));
  if (!host_runs(d.isa)) {
    return support::unsupported("kernel-isa", std::string("the kernel is compiled for ") + d.isa +
                                                  ", this processor runs " + host_isa());
  }
  return {};
}

}  // namespace

support::Result<Kernel> Kernel::load(std::string_view bytes, const support::Digest& expected) {
  if (const support::Digest found = support::digest_of(bytes); found != expected) {
    return support::invalid("kernel-digest", "the kernel binary has digest " + found.sha256 + " (" +
                                                 std::to_string(found.bytes) + " bytes), expected " +
                                                 expected.sha256 + " (" + std::to_string(expected.bytes) +
                                                 " bytes); it was not loaded");
  }
  auto library = std::make_shared<Library>();
  std::string error;
  library->file = memory_file(bytes);
  if (library->file >= 0) {
    const std::string path = "/proc/self/fd/" + std::to_string(library->file);
    library->handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library->handle == nullptr) error = loader_error();
  }
  if (library->handle == nullptr) library->handle = load_from_private_folder(bytes, error);
  if (library->handle == nullptr) return bad_binary(error);
  library->descriptor =
      static_cast<const schaas_kernel_descriptor*>(dlsym(library->handle, SCHAAS_KERNEL_SYMBOL));
  if (library->descriptor == nullptr) return bad_binary("it has no symbol `" SCHAAS_KERNEL_SYMBOL "`");
  SCHAAS_RETURN_IF_ERROR(check_descriptor(*library->descriptor));
  return Kernel(std::move(library));
}

const schaas_kernel_descriptor& Kernel::descriptor() const { return *library_->descriptor; }
std::string Kernel::key() const { return descriptor().key; }
std::string Kernel::problem() const { return descriptor().problem; }
std::string Kernel::schedule() const { return descriptor().schedule; }
std::string Kernel::isa() const { return descriptor().isa; }

}  // namespace schaas::client
