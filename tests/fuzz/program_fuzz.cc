// What users write: parsed, verified, and printed so that it reads back.
#include "compiler/index_notation/parser.h"
#include "compiler/index_notation/printer.h"
#include "compiler/index_notation/verifier.h"
#include "tests/fuzz/target.h"

namespace schaas::fuzz {

void one(std::string_view bytes) {
  const std::string text(bytes);
  const auto program = index_notation::parse(text);
  if (!program.ok()) {
    require(!support::render(program.error()).empty());
    return;
  }
  const auto again = index_notation::parse(index_notation::print(*program));
  // A text near the limit may print longer than it.
  require(again.ok() ? *again == *program : again.error().code == "too-long");
  (void)index_notation::verify(*program, text);
}

}  // namespace schaas::fuzz
