#pragma once
#include <cstdint>

#include "client/cpp/platform/team.h"

namespace schaas::client {

/// Replaces each of counts[0..size) by the sum of those before it and sets counts[size] to the sum of all,
/// which is returned. By all threads of the team where there is enough to do.
std::int64_t exclusive_scan(std::int64_t* counts, std::int64_t size, Team& team);

}  // namespace schaas::client
