#pragma once
#include <cstdio>
#include <string>

namespace schaas::client {

/// "12.3 ms"
inline std::string milliseconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g ms", seconds * 1e3);
  return text;
}

}  // namespace schaas::client
