#include "client/cpp/platform/user_directory.h"

#include <cstdlib>

#include "schaas/host.h"

// Directories of the XDG Base Directory Specification. Relative paths count as unset, as it says: they would
// name another folder in each working directory.
namespace schaas::client {

std::string user_directory(const char* variable, const char* below_home) {
  if (const char* named = std::getenv(variable); named != nullptr && *named == '/')
    return std::string(named) + "/schaas";
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/" + below_home + "/schaas" : "";
}

std::string default_cache_directory() { return user_directory("XDG_CACHE_HOME", ".cache"); }
std::string default_data_directory() { return user_directory("XDG_DATA_HOME", ".local/share"); }

}  // namespace schaas::client
