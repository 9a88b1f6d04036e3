#include "client/cpp/platform/client_version.h"

#include <ctime>

namespace schaas::client {

std::string client_version() { return SCHAAS_VERSION; }

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace schaas::client
