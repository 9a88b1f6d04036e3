#include "compiler/loop_ir/streaming_target.h"

#include "compiler/loop_ir/traversal.h"

// Streaming stores write whole vectors, so only stores in vector loops can be such.
namespace schaas::loop_ir {
namespace {

bool sets(const StatementPtr& statement, const std::string& array) {
  return any_of(statement, [&](const StatementPtr& each) {
    const auto* store = as<Store>(each);
    return store != nullptr && store->mode == Write::set && store->array == array;
  });
}

}  // namespace

bool sets_by_vectors(const StatementPtr& statement, const std::string& array) {
  return any_of(statement, [&](const StatementPtr& each) {
    const auto* loop = as<For>(each);
    return loop != nullptr && loop->shape != Shape::scalar && sets(loop->body, array);
  });
}

std::string streaming_target(const Kernel& kernel) {
  for (const Array& array : kernel.arrays) {
    const auto* values = std::get_if<ArgumentValues>(&array.origin);
    if (values == nullptr || values->argument != 0) continue;
    for (const Phase& phase : kernel.phases) {
      std::vector<StatementPtr> bodies = {phase.body, phase.numeric};
      if (phase.row_split) bodies.insert(bodies.end(), {phase.row_split->partial, phase.row_split->fix_up});
      for (const StatementPtr& body : bodies)
        if (body && sets_by_vectors(body, array.name)) return array.name;
    }
  }
  return "";
}

}  // namespace schaas::loop_ir
