// Texts of users: parsed, verified, printed so that they read back, and differentiated by each operand.
#include "compiler/index_notation/gradient/gradient.h"
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
  if (!index_notation::verify(*program, text).ok()) return;
  for (const auto& access : index_notation::operands(program->statements.back().value)) {
    const auto derivative =
        index_notation::gradient(*program, {access.tensor, "", "", {access.tensor}}, text);
    if (derivative.ok()) require(index_notation::parse(index_notation::print(*derivative)).ok());
  }
}

}  // namespace schaas::fuzz
