#pragma once
#include <string_view>

namespace schaas::client {

/// Writes all bytes to an open file, also when signals come between; false when it cannot (`errno` says why).
bool write_all(int file, std::string_view bytes);

}  // namespace schaas::client
