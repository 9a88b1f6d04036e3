// Loop trees in concrete index notation.
#include "compiler/concrete_notation/parser.h"
#include "compiler/concrete_notation/printer.h"
#include "tests/fuzz/target.h"

namespace schaas::fuzz {

void one(std::string_view bytes) {
  const auto tree = concrete_notation::parse(bytes);
  if (!tree.ok()) {
    require(!support::render(tree.error()).empty());
    return;
  }
  const std::string text = concrete_notation::print(*tree);
  const auto again = concrete_notation::parse(text);
  require(again.ok() && concrete_notation::print(*again) == text);
}

}  // namespace schaas::fuzz
