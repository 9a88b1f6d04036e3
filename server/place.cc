#include "server/place.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace schaas::server {

std::string nearest_existing(const std::string& path) {
  std::filesystem::path there = path;
  struct stat status {};
  while (::stat(there.c_str(), &status) != 0 && there.has_relative_path()) there = there.parent_path();
  return there.string();
}

int why_not_makeable(const std::string& path) {
  const std::string folder = nearest_existing(std::filesystem::path(path).parent_path());
  struct stat status {};
  if (::stat(folder.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) return ENOTDIR;
  return ::access(folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
}

}  // namespace schaas::server
