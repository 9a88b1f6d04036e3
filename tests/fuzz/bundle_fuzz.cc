// Files of kernels that others made: the first line, and the header behind a digest that is right.
#include "client/cpp/remote/bundle_file.h"
#include "compiler/support/digest.h"
#include "tests/fuzz/target.h"

namespace schaas::fuzz {
namespace {

void read(std::string_view bytes) {
  const auto header = client::read_bundle_header(bytes, "file");
  if (!header.ok()) require(!support::render(header.error()).empty());
}

}  // namespace

void one(std::string_view bytes) {
  read(bytes);
  const auto digest = support::digest_of(bytes);
  read("schaas bundle 2 " + std::to_string(digest.bytes) + " " + digest.sha256 + "\n" + std::string(bytes));
}

}  // namespace schaas::fuzz
