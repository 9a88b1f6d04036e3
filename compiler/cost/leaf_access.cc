#include "compiler/cost/leaf_access.h"

#include <algorithm>

#include "compiler/support/result.h"

// Access classes of the leaves of a tree, by the rules of access.h. A tensor without a format is a temporary.
// Its elements are taken to lie side by side for producer and consumer; choosing inside a class sees to the
// layout (docs/cost_model.md, "Inside a class").
namespace schaas::cost {
namespace {

/// Returns an access as the leaf's innermost loop moves it. A coordinate that others determine moves with
/// them: B(p) with p == i + k by one element along i and along k.
Seen seen(const index_notation::Access& access, const std::string& loop, const LoopsAbove& above,
          const problem::Problem& problem, const Variables& variables) {
  Seen result;
  std::vector<std::string> indices = access.indices;
  bool strides = false;
  for (std::string& index : indices) {
    result.indices |= Indices{1} << number_of(variables, index);
    const auto value = above.determined.find(index);
    if (value == above.determined.end()) continue;
    for (const auto& [other, factor] : value->second.factors) {
      result.indices |= Indices{1} << number_of(variables, other);
      if (other != loop) continue;
      index = loop;
      strides = strides || (factor != 1 && factor != -1);
    }
  }
  if (const auto known = problem.formats.find(access.tensor); known != problem.formats.end()) {
    result.touch = touch(indices, known->second, loop);
  } else if (std::find(indices.begin(), indices.end(), loop) != indices.end()) {
    result.touch = Touch::adjacent;
  }
  if (strides && result.touch == Touch::adjacent) result.touch = Touch::jumping;
  return result;
}

}  // namespace

int number_of(const Variables& variables, const std::string& index) {
  for (std::size_t n = 0; n < variables.extents.size(); ++n) {
    if (variables.extents[n].index == index) return static_cast<int>(n);
  }
  throw support::InternalError("the tree has a loop over `" + index + "`, which the problem does not have");
}

Access access_class(const concrete_notation::Assign& leaf, const LoopsAbove& above,
                    const problem::Problem& problem, const Variables& variables) {
  InnerLoops loops;
  int last = above.shared;
  if (!above.own.empty()) {
    last = above.own.back();
    if (above.own.size() > 1) loops.around = above.own[above.own.size() - 2];
    loops.around_phase = above.phase && above.own.size() == 2;
  } else if (last < 0 || problem::is_contraction(problem)) {
    return Access::contiguous;
  }
  const std::string& innermost = variables.extents[static_cast<std::size_t>(last)].index;
  std::vector<Seen> operands;
  for (const index_notation::Access& read : index_notation::operands(leaf.value))
    operands.push_back(seen(read, innermost, above, problem, variables));
  return leaf_access(operands, seen(leaf.target, innermost, above, problem, variables), loops);
}

}  // namespace schaas::cost
