#include "client/cpp/platform/shared_object.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "client/cpp/platform/dynamic_library.h"
#include "client/cpp/platform/write_all.h"

// Code that came from elsewhere. Bytes are hashed before anything of them is mapped, and mapped from the same
// bytes: a sealed memory file that nobody can write any more. Loading from a path would leave time for a
// change between the comparison and the mapping.
namespace schaas::client {

struct SharedObject::Handle {
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (library != nullptr) close_library(library);
    // The library is closed first: its path names the file.
    if (file >= 0) close(file);
  }
  void* library = nullptr;
  int file = -1;  ///< stays open: the loader knows libraries by path, and the number is part of the path
};

namespace {

std::string loader_error() {
  const char* text = dlerror();
  return text == nullptr ? "unknown loader error" : text;
}

// Returns a file in memory that has no name in the file system. Sealed, it stays what was verified; -1 when
// the system refuses.
int memory_file(std::string_view bytes) {
  const int file = memfd_create("schaas-kernel", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return -1;
  if (!write_all(file, bytes) || fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) {
    close(file);
    return -1;
  }
  return file;
}

// Loads through a file in a fresh folder that only this user can enter, removed once loaded. Used where
// executable memory files are forbidden.
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
  void* handle = written ? open_library(path) : nullptr;
  if (handle == nullptr) error = written ? loader_error() : "writing it failed";
  unlink(path.c_str());
  rmdir(folder.c_str());
  return handle;
}

}  // namespace

support::Diagnostic bad_binary(const std::string& why) {
  return support::invalid("kernel-binary", "the kernel binary cannot be used: " + why);
}

support::Result<SharedObject> SharedObject::load(std::string_view bytes, const support::Digest& expected) {
  if (const support::Digest found = support::digest_of(bytes); found != expected) {
    return support::invalid("kernel-digest", "the kernel binary has digest " + found.sha256 + " (" +
                                                 std::to_string(found.bytes) + " bytes), expected " +
                                                 expected.sha256 + " (" + std::to_string(expected.bytes) +
                                                 " bytes); it was not loaded");
  }
  auto handle = std::make_shared<Handle>();
  std::string error;
  // The file of a kernel that could not be mapped stays open until the handle ends, and does no harm.
  handle->file = memory_file(bytes);
  if (handle->file >= 0) {
    const std::string path = "/proc/self/fd/" + std::to_string(handle->file);
    handle->library = open_library(path);
    if (handle->library == nullptr) error = loader_error();
  }
  // Systems that forbid executable memory files still load from folders.
  if (handle->library == nullptr) handle->library = load_from_private_folder(bytes, error);
  if (handle->library == nullptr) return bad_binary(error);
  return SharedObject(std::move(handle));
}

void* SharedObject::symbol(const char* name) const { return dlsym(handle_->library, name); }

}  // namespace schaas::client
