// Formats; the first byte is the tensor's order.
#include "compiler/format/tensor_format.h"
#include "tests/fuzz/target.h"

namespace schaas::fuzz {

void one(std::string_view bytes) {
  if (bytes.empty()) return;
  const int order = bytes[0] & 7;
  const auto found = format::parse(bytes.substr(1), order, "B");
  if (!found.ok()) {
    require(!support::render(found.error()).empty());
    return;
  }
  const auto again = format::parse(format::print(*found), order, "B");
  require(again.ok() && *again == *found);
}

}  // namespace schaas::fuzz
