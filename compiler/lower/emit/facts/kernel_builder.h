#pragma once
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/analysis/loop_variables.h"
#include "compiler/lower/analysis/names.h"
#include "compiler/lower/analysis/nest.h"
#include "compiler/problem/problem.h"

namespace schaas::lower {

/// Collects the declarations of a kernel (extents, strides, arrays), each once, when lowering first needs it.
class KernelBuilder {
 public:
  KernelBuilder(const problem::Problem& problem, const NestTree& tree);

  Names& names() { return names_; }
  /// Returns the number of coordinates of an index: a constant when the constraints fix it.
  loop_ir::ExpressionPtr extent(int index);
  /// Declares the extents that the schedule or the constraints fix: the kernel is for no others, also where
  /// no loop reads them.
  void declare_fixed_extents();
  /// Returns the largest number of values in a block of the index.
  loop_ir::ExpressionPtr block_size(int index, BlockSize size);
  /// Returns the product of the sizes of `tensor`'s levels over `indices`, named once when it has several
  /// factors. A size is the extent, or the block size of a temporary that holds one block.
  loop_ir::ExpressionPtr extents(int tensor, const std::vector<int>& indices);
  /// Returns the number of entries of one level of the operand's tensor; 1 above the first.
  loop_ir::ExpressionPtr entries(const Operand& operand, int level);
  /// Returns the number of elements of a temporary: a product of extents, or the entries of its operand
  /// (Tensor::entries_of).
  loop_ir::ExpressionPtr elements(int tensor, const std::vector<int>& indices);
  /// Names the arrays of a tensor.
  std::string values(int tensor);
  /// Returns the name of the array of values, or "" before it is declared.
  std::string declared_values(int tensor) const;
  std::string positions(int tensor, int level);
  /// Declares the positions of the rows of a matrix in coo, `rows` and one more, which a phase finds.
  std::string add_row_index(int tensor, const loop_ir::ExpressionPtr& rows);
  std::string coordinates(int tensor, int level);
  std::string held(int tensor, int level);  ///< bytes of a bitmap level
  void set_written(int tensor);             ///< the values
  void set_written(const std::string& array);
  void set_all_written() { kernel_.writes_all = true; }  ///< values of the result
  /// Allocates a temporary in thread-private scratch; elements in storage order of `indices`.
  void add_scratch(int tensor, const std::vector<int>& indices);
  void add_carry_out(int tensor, const std::vector<int>& indices);
  void add_shared(int tensor, const std::vector<int>& indices);
  /// Records that phases store each element before any is read.
  void set_stored(int tensor);
  /// Declares the stored coordinates of a compressed level of an argument.
  std::string add_referenced(const Operand& operand, int level);
  /// Declares one byte for each element of a temporary's levels over `indices`.
  std::string add_flags(int tensor, const std::vector<int>& indices);
  std::string add_shared_flags(int tensor, const std::vector<int>& indices);
  /// Declares an occupancy bitmap over these elements, and a list of occupied ones.
  std::string add_occupancy(int tensor, const std::vector<int>& indices);
  std::string add_list(int tensor, const std::vector<int>& indices);
  /// Declares an epoch for each such element.
  std::string add_epochs(int tensor, const std::vector<int>& indices);
  std::string add_last_epoch(int tensor);
  /// Declares a hash table for a temporary: values of its slots, each `rest` wide; keys; occupied slots;
  /// coordinates.
  void add_table(int tensor, const std::vector<int>& rest);
  std::string add_keys(int tensor);
  std::string add_taken(int tensor);
  std::string add_table_list(int tensor);
  /// Declares the array in which iterations count their entries of a compressed level.
  std::string add_counts(int level, const loop_ir::ExpressionPtr& iterations);
  bool is_private(const std::string& array) const;  ///< private to a thread
  void set_appended(loop_ir::Appends by) {          ///< the result
    if (kernel_.writes_all) kernel_.appends = by;
  }
  /// Records the variable of a loop that was emitted for a loop of the tree.
  void note_loop(const Loop& loop, const std::string& variable) { variables_[&loop].push_back(variable); }
  const LoopVariables& loop_variables() const { return variables_; }
  loop_ir::Phase& last_phase() { return kernel_.phases.back(); }
  void add_phase(loop_ir::Phase phase) { kernel_.phases.push_back(std::move(phase)); }

  loop_ir::ValueType value_type() const { return kernel_.value_type; }
  loop_ir::Kernel take() { return std::move(kernel_); }

 private:
  std::string add_array(int tensor, const std::string& suffix, loop_ir::Array array);
  std::string table_array(int tensor, const std::string& suffix, loop_ir::ExpressionPtr count);
  std::string index_array(int tensor, int level, const std::string& suffix, loop_ir::Array array);
  /// Records what the problem says of the extent of an index, `first` of its class.
  void constrain(loop_ir::Extent& extent, int index, const std::string& first) const;

  const problem::Problem& problem_;
  const NestTree& tree_;
  std::map<std::string, std::string> classes_;  ///< index -> the first one of its extent
  std::set<std::string> sparse_;                ///< the first ones whose extent a sparse level has
  Names names_;
  loop_ir::Kernel kernel_;
  std::map<int, loop_ir::ExpressionPtr> extents_;
  std::map<std::vector<std::string>, std::string> products_;   ///< sorted texts of the factors -> name
  std::map<std::pair<int, std::string>, std::string> arrays_;  ///< (tensor, suffix) -> name
  LoopVariables variables_;
  int shared_count_ = 0;
};

}  // namespace schaas::lower
