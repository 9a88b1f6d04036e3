#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/support/counts.h"

/// Numbers as people read them.
namespace schaas::cli {

std::string seconds(double value);                            ///< "1.23 s", "45.6 ms", "7.89 us"
std::string bytes(double value);                              ///< "512 B", "1.5 KiB", "3.2 GiB"
std::string rounded(double value);                            ///< "1234", "3.21e+09": at most four digits
std::string shape(const std::vector<std::int64_t>& extents);  ///< "63,666 x 64"; "scalar"
/// The beginning of a key or digest that tables show.
inline std::string short_key(const std::string& key) { return key.substr(0, 16); }
using support::counted;
using support::grouped;

}  // namespace schaas::cli
