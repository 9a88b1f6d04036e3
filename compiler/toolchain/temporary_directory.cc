#include "compiler/toolchain/temporary_directory.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace schaas::toolchain {

support::Result<TemporaryDirectory> TemporaryDirectory::make(const std::string& parent) {
  std::error_code error;
  const std::filesystem::path above =
      parent.empty() ? std::filesystem::temp_directory_path(error) : std::filesystem::path(parent);
  std::string path = (above / "schaas-XXXXXX").string();
  if (error || mkdtemp(path.data()) == nullptr) {
    return support::exhausted("temporary-directory", "no temporary directory can be made in " +
                                                         above.string() + ": " +
                                                         (error ? error.message() : std::strerror(errno)));
  }
  return TemporaryDirectory(std::move(path));
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace schaas::toolchain
