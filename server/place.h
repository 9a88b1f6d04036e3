#pragma once
#include <string>

namespace schaas::server {

/// `path`, which is absolute, or the nearest folder above it that is there.
std::string nearest_existing(const std::string& path);

/// Whether `path`, where nothing is yet, could be made, with the folders above it that are missing: 0, else
/// the system's number (errno) that says why not. Makes nothing.
int why_not_makeable(const std::string& path);

}  // namespace schaas::server
