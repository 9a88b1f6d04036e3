#include "compiler/lower/emit/facts/kernel_extents.h"

#include <algorithm>
#include <optional>

#include "compiler/index_notation/extent_classes.h"
#include "compiler/loop_ir/printer.h"
#include "compiler/problem/copies.h"
#include "compiler/problem/extent_range.h"

namespace schaas::lower {
namespace {

using loop_ir::ExpressionPtr;

/// Returns the first indices of the classes of extents that a sparse level, or one above it, has.
std::set<std::string> sparse_extents(const problem::Problem& problem,
                                     const std::map<std::string, std::string>& classes) {
  std::set<std::string> found;
  for (const auto& tensor : problem.tensors()) {
    const auto& format = problem.formats.at(tensor);
    const auto indices = problem.indices_of(tensor);
    for (std::size_t level = 0; level < format.levels.size(); ++level) {
      if (std::any_of(format.levels.begin() + static_cast<std::ptrdiff_t>(level), format.levels.end(),
                      format::is_sparse)) {
        found.insert(classes.at(indices[static_cast<std::size_t>(format.mode_order[level])]));
      }
    }
  }
  return found;
}

}  // namespace

KernelExtents::KernelExtents(const problem::Problem& problem, const NestTree& tree, Names& names,
                             loop_ir::Kernel& kernel)
    : problem_(problem),
      tree_(tree),
      names_(names),
      kernel_(kernel),
      classes_(index_notation::extent_classes(problem::without_copies(problem).statements())),
      sparse_(sparse_extents(problem, classes_)) {}

ExpressionPtr KernelExtents::of(int index) {
  // The schedule may fix the extent of one index of a class alone.
  auto& extent = tree_.extents.count(index) > 0
                     ? scheduled_[index]
                     : of_classes_[classes_.at(tree_.index_names[static_cast<std::size_t>(index)])];
  if (!extent) extent = declare(index);
  return extent;
}

ExpressionPtr KernelExtents::declare(int index) {
  const std::string& named = tree_.index_names[static_cast<std::size_t>(index)];
  const std::string& first = classes_.at(named);
  for (const bool same_name : {true, false}) {
    int argument = 0;
    for (const auto& tensor : problem_.tensors()) {
      const auto& indices = problem_.indices_of(tensor);
      const auto found = std::find_if(indices.begin(), indices.end(), [&](const std::string& candidate) {
        return same_name ? candidate == named : classes_.at(candidate) == first;
      });
      if (found != indices.end()) {
        loop_ir::Extent extent{names_.fresh("n_" + Names::base(named, "x")), argument,
                               static_cast<int>(found - indices.begin())};
        constrain(extent, index, first);
        kernel_.extents.push_back(extent);
        return extent.required ? loop_ir::integer(*extent.required) : loop_ir::name(extent.name);
      }
      ++argument;
    }
  }
  SCHAAS_CHECK(false, "index " + named + " belongs to no tensor");
}

void KernelExtents::constrain(loop_ir::Extent& extent, int index, const std::string& first) const {
  extent.sparse = sparse_.count(first) > 0;
  const auto [minimum, maximum] = problem::extent_range(problem_, first);
  const auto bound = tree_.extents.find(index);
  if (bound != tree_.extents.end()) {
    extent.required = bound->second;
  } else if (minimum && maximum && *minimum == *maximum) {
    extent.required = minimum;
  } else {
    extent.minimum = minimum;
    extent.maximum = maximum;
  }
}

void KernelExtents::declare_fixed() {
  for (std::size_t n = 0; n < tree_.index_names.size(); ++n) {
    const auto index = static_cast<int>(n);
    const auto [minimum, maximum] = problem::extent_range(problem_, classes_.at(tree_.index_names[n]));
    if (tree_.extents.count(index) > 0 || (minimum && minimum == maximum)) of(index);
  }
}

ExpressionPtr KernelExtents::block_size(int index, BlockSize size) {
  if (size.parts == 0) return loop_ir::integer(size.size);
  // Rounds up, so that all blocks together cover the extent.
  return loop_ir::apply(
      operators::Function::divide,
      {loop_ir::add(of(index), loop_ir::integer(size.parts - 1)), loop_ir::integer(size.parts)});
}

ExpressionPtr KernelExtents::product(int tensor, const std::vector<int>& indices) {
  const auto& blocks = tree_.tensors[static_cast<std::size_t>(tensor)].blocks;
  ExpressionPtr product = loop_ir::integer(1);
  std::vector<std::string> sorted;
  for (const int index : indices) {
    const auto block = blocks.find(index);
    const auto factor = block != blocks.end() ? block_size(index, block->second) : of(index);
    // Products are equal when their factors are, in any order.
    sorted.push_back(loop_ir::print(factor));
    product = loop_ir::multiply(product, factor);
  }
  if (loop_ir::arguments_of(product, operators::Function::multiply) == nullptr) return product;
  std::sort(sorted.begin(), sorted.end());
  auto& text = products_[sorted];
  if (text.empty()) {
    text = names_.fresh("s");
    kernel_.lets.push_back({text, loop_ir::Type::index, product});
  }
  return loop_ir::name(text);
}

}  // namespace schaas::lower
