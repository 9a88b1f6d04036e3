#pragma once
#include <string>

/// dlopen and dlclose for a library whose process may fork at any time. fork() waits while a library is
/// opened or closed: else the child's loader has lists that are half changed. Thread-safe.
namespace schaas::client {

/// dlopen with RTLD_NOW and RTLD_LOCAL. Null: dlerror() says why, to the same thread.
void* open_library(const std::string& path);
/// True when the file is loaded already.
bool is_library_open(const std::string& path);
/// dlclose.
void close_library(void* library);

}  // namespace schaas::client
