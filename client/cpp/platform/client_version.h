#pragma once
#include <string>

namespace schaas::client {

/// "0.1.0"
std::string client_version();
/// UTC, now: "2026-01-31T12:00:00Z".
std::string utc_now();

}  // namespace schaas::client
