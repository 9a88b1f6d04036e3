#include "client/cpp/platform/dynamic_library.h"

#include <dlfcn.h>

#include "client/cpp/platform/process_mutex.h"

namespace schaas::client {
namespace {

/// Is never destroyed: libraries are closed until the program's end.
ProcessMutex& loader_mutex() {
  static ProcessMutex& made = *new ProcessMutex;
  return made;
}

}  // namespace

void* open_library(const std::string& path) {
  const std::lock_guard lock(loader_mutex());
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

bool is_library_open(const std::string& path) {
  const std::lock_guard lock(loader_mutex());
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) != nullptr;
}

void close_library(void* library) {
  const std::lock_guard lock(loader_mutex());
  dlclose(library);
}

}  // namespace schaas::client
