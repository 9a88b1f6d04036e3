#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/analysis/names.h"
#include "compiler/lower/analysis/nest.h"
#include "compiler/lower/emit/facts/kernel_extents.h"
#include "compiler/problem/problem.h"

namespace schaas::lower {

/// The arrays of a kernel, found by tensor and suffix: those of its arguments, declared when first needed,
/// and those that others add.
class KernelArrays {
 public:
  /// Declares in `kernel`, which outlives this; so do the others.
  KernelArrays(const problem::Problem& problem, const NestTree& tree, KernelExtents& extents, Names& names,
               loop_ir::Kernel& kernel)
      : problem_(problem), tree_(tree), extents_(extents), names_(names), kernel_(kernel) {}

  /// Returns the array of a tensor and suffix, declared as `array` on first use. Temporaries are called `w`,
  /// others by their letter.
  std::string add(int tensor, const std::string& suffix, loop_ir::Array array);
  /// Returns the name of an array, or "" before it is declared.
  std::string declared(int tensor, const std::string& suffix) const;
  std::string declared_values(int tensor) const { return declared(tensor, ""); }

  std::string values(int tensor);
  std::string positions(int tensor, int level);
  std::string coordinates(int tensor, int level);
  std::string held(int tensor, int level);  ///< bytes of a bitmap level

  /// Returns the number of entries of one level of the operand's tensor; 1 above the first.
  loop_ir::ExpressionPtr entries(const Operand& operand, int level);
  /// Returns the number of elements of a temporary: a product of extents, or the entries of its operand
  /// (Tensor::entries_of).
  loop_ir::ExpressionPtr elements(int tensor, const std::vector<int>& indices);

  void set_written(int tensor);  ///< the values
  void set_written(const std::string& array);
  bool is_private(const std::string& array) const;  ///< private to a thread
  /// Returns the width of positions and coordinates that the problem asks for.
  loop_ir::Element index_element() const;

 private:
  std::string add_indices(int tensor, int level, const std::string& suffix, loop_ir::Array array);

  const problem::Problem& problem_;
  const NestTree& tree_;
  KernelExtents& extents_;
  Names& names_;
  loop_ir::Kernel& kernel_;
  std::map<std::pair<int, std::string>, std::string> arrays_;  ///< (tensor, suffix) -> name
};

}  // namespace schaas::lower
