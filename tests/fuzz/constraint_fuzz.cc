// Bounds and constraints, in a scope of three indices and three tensors.
#include "compiler/problem/constraint.h"
#include "tests/fuzz/target.h"

namespace schaas::fuzz {

void one(std::string_view bytes) {
  const problem::ConstraintScope scope{{"i", "j", "k"}, {{"B", {"i", "j"}}, {"C", {"j", "k"}}, {"A", {}}}};
  const auto constraints = problem::parse_constraint(bytes, scope);
  if (!constraints.ok()) {
    require(!support::render(constraints.error()).empty());
    return;
  }
  for (const auto& constraint : *constraints) {
    const auto again = problem::parse_constraint(problem::print(constraint), scope);
    require(again.ok() && *again == std::vector<problem::Constraint>{constraint});
  }
}

}  // namespace schaas::fuzz
