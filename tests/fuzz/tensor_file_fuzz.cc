// Files of tensors: the first byte says of which kind; gzip is told from the content.
#include <sys/mman.h>
#include <unistd.h>

#include "client/cpp/tensor_io/file_readers.h"
#include "tests/fuzz/target.h"

namespace schaas::fuzz {

void one(std::string_view bytes) {
  if (bytes.empty()) return;
  const int file = memfd_create("tensor", MFD_CLOEXEC);
  require(file >= 0);
  require(write(file, bytes.data() + 1, bytes.size() - 1) == static_cast<ssize_t>(bytes.size() - 1));
  auto source = client::FileSource::open("/proc/self/fd/" + std::to_string(file));
  if (source.ok()) {
    const auto read = bytes[0] == 'n'   ? client::read_npy(std::move(*source), {})
                      : bytes[0] == 't' ? client::read_frostt(std::move(*source), {})
                                        : client::read_matrix_market(std::move(*source), {});
    if (!read.ok()) require(!support::render(read.error()).empty());
  }
  close(file);
}

}  // namespace schaas::fuzz
