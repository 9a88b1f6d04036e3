#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/analysis/names.h"
#include "compiler/lower/analysis/nest.h"
#include "compiler/problem/problem.h"

namespace schaas::lower {

/// The extents of a kernel and their products, each declared once, when first needed. Indices that a
/// statement equates form a class of one extent, under the name of the index that needs it first. It is read
/// from an argument that has this index itself, else from one that has another index of the class.
class KernelExtents {
 public:
  /// Declares in `kernel`, which outlives this; so do the others.
  KernelExtents(const problem::Problem& problem, const NestTree& tree, Names& names, loop_ir::Kernel& kernel);

  /// Returns the number of coordinates of an index: a constant when the constraints fix it.
  loop_ir::ExpressionPtr of(int index);
  /// Declares the extents that the schedule or the constraints fix: the kernel is for no others, also where
  /// no loop reads them.
  void declare_fixed();
  /// Returns the largest number of values in a block of the index.
  loop_ir::ExpressionPtr block_size(int index, BlockSize size);
  /// Returns the product of the sizes of `tensor`'s levels over `indices`, named once when it has several
  /// factors. A size is the extent, or the block size of a temporary that holds one block.
  loop_ir::ExpressionPtr product(int tensor, const std::vector<int>& indices);

 private:
  /// Declares an extent at the first argument that has it: a constant where schedule or constraints fix it.
  loop_ir::ExpressionPtr declare(int index);
  /// Records what the problem says of the extent of an index, `first` of its class.
  void constrain(loop_ir::Extent& extent, int index, const std::string& first) const;

  const problem::Problem& problem_;
  const NestTree& tree_;
  Names& names_;
  loop_ir::Kernel& kernel_;
  std::map<std::string, std::string> classes_;       ///< index -> the first one of its extent
  std::set<std::string> sparse_;                     ///< the first ones whose extent a sparse level has
  std::map<int, loop_ir::ExpressionPtr> scheduled_;  ///< those that the schedule fixes
  std::map<std::string, loop_ir::ExpressionPtr> of_classes_;  ///< the others, by the first index
  std::map<std::vector<std::string>, std::string> products_;  ///< sorted texts of the factors -> name
};

}  // namespace schaas::lower
