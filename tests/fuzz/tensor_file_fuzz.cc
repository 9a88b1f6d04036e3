// Files of tensors: the first byte says of which kind; gzip is told from the content. Of an archive ('z') all
// bytes are the file's; members ('y') become an archive with the checksums that belong to them, which bytes
// drawn at random do not have.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "client/cpp/tensor_io/file_readers.h"
#include "client/cpp/tensor_io/zip_archive.h"
#include "tests/fuzz/target.h"

namespace schaas::fuzz {
namespace {

support::Result<client::TensorData> read_kind(char kind, client::FileSource source) {
  switch (kind) {
    case 'n':
      return client::read_npy(std::move(source), {});
    case 't':
      return client::read_frostt(std::move(source), {});
    case 'z':
    case 'y':
      return client::read_npz(std::move(source), {});
    default:
      return client::read_matrix_market(std::move(source), {});
  }
}

// A member is a letter for its name, two bytes of length, and the content.
std::string archive_of(std::string_view bytes) {
  static constexpr std::pair<char, const char*> names[] = {
      {'f', "format.npy"}, {'s', "shape.npy"}, {'d', "data.npy"},   {'i', "indices.npy"}, {'p', "indptr.npy"},
      {'r', "row.npy"},    {'c', "col.npy"},   {'m', "coords.npy"}, {'o', "offsets.npy"}};
  std::vector<std::pair<std::string, std::string>> members;
  while (bytes.size() >= 3) {
    std::string name(1, bytes[0]);
    for (const auto& [letter, known] : names)
      if (letter == bytes[0]) name = known;
    const auto byte = [&](int at) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at])); };
    const std::size_t length = std::min(byte(1) | byte(2) << 8, bytes.size() - 3);
    members.emplace_back(name, bytes.substr(3, length));
    bytes.remove_prefix(3 + length);
  }
  const auto made = client::zip(members, "file");
  require(made.ok());
  return *made;
}

}  // namespace

void one(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::string content = bytes[0] == 'y' ? archive_of(bytes.substr(1)) : std::string(bytes.substr(1));
  const int file = memfd_create("tensor", MFD_CLOEXEC);
  require(file >= 0);
  require(write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
  auto source = client::FileSource::open("/proc/self/fd/" + std::to_string(file));
  if (source.ok()) {
    const auto read = read_kind(bytes[0], std::move(*source));
    if (!read.ok()) require(!support::render(read.error()).empty());
  }
  close(file);
}

}  // namespace schaas::fuzz
