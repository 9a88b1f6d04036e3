#include "compiler/lower/emit/facts/kernel_builder.h"

#include <algorithm>

#include "compiler/concrete_notation/semantics.h"

namespace schaas::lower {

KernelBuilder::KernelBuilder(const problem::Problem& problem, const NestTree& tree)
    : extents(problem, tree, names, kernel),
      arrays(problem, tree, extents, names, kernel),
      shared(tree, extents, arrays, kernel),
      scratch(extents, arrays) {
  kernel.value_type = problem.value_type;
  const auto tensors = problem.tensors();
  kernel.arguments = static_cast<int>(tensors.size());
  for (const auto& copy : problem.copies) {
    const auto of = std::find(tensors.begin(), tensors.end(), copy.tensor) - tensors.begin();
    kernel.copies.push_back({static_cast<int>(of), problem.formats.at(copy.name).mode_order, copy.locates});
  }
  kernel.result_fill = concrete_notation::result_fill(problem);
}

}  // namespace schaas::lower
