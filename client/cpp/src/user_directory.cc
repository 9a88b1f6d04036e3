#include "user_directory.h"

#include <cstdlib>

namespace schaas::client {

std::string user_directory(const char* variable, const char* below_home) {
  if (const char* named = std::getenv(variable); named != nullptr && *named == '/')
    return std::string(named) + "/schaas";
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/" + below_home + "/schaas" : "";
}

}  // namespace schaas::client
