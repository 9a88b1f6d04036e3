#include "compiler/toolchain/temporary_directory.h"

#include <stdlib.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace schaas::toolchain {

support::Result<TemporaryDirectory> TemporaryDirectory::make(const std::string& parent) {
  // Not std::filesystem::temp_directory_path: it does not name the folder that TMPDIR wrongly names.
  const char* variable = std::getenv("TMPDIR");
  const std::string common = variable == nullptr || *variable == '\0' ? "/tmp" : variable;
  const std::string& above = parent.empty() ? common : parent;
  std::string path = above + "/schaas-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    return support::noting(
        support::exhausted("temporary-directory",
                           "no temporary directory can be made in `" + above + "`: " + std::strerror(errno)),
        "the environment variable TMPDIR names the folder; without it, it is /tmp");
  }
  return TemporaryDirectory(std::move(path));
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace schaas::toolchain
