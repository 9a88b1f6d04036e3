#pragma once
#include <string>
#include <vector>

#include "compiler/lower/emit/facts/kernel_arrays.h"

namespace schaas::lower {

/// Arrays that live across phases, each in a slot of its own.
class SharedArrays {
 public:
  SharedArrays(const NestTree& tree, KernelExtents& extents, KernelArrays& arrays, loop_ir::Kernel& kernel)
      : tree_(tree), extents_(extents), arrays_(arrays), kernel_(kernel) {}

  /// Declares the values of a temporary between phases; elements in storage order of `indices`.
  void add_values(int tensor, const std::vector<int>& indices);
  /// Records that phases store each element of these values before any is read.
  void set_stored(int tensor);
  /// Declares one byte for each element of such a temporary's levels over `indices`.
  std::string add_flags(int tensor, const std::vector<int>& indices);
  /// Declares the positions of the rows of a matrix in coo, `rows` and one more, which a phase finds.
  std::string add_row_index(int tensor, const loop_ir::ExpressionPtr& rows);
  /// Declares the stored coordinates of a compressed level of an argument.
  std::string add_referenced(const Operand& operand, int level);
  /// Declares the array in which iterations count their entries of a compressed level.
  std::string add_counts(int level, const loop_ir::ExpressionPtr& iterations);

 private:
  const NestTree& tree_;
  KernelExtents& extents_;
  KernelArrays& arrays_;
  loop_ir::Kernel& kernel_;
  int count_ = 0;
};

}  // namespace schaas::lower
