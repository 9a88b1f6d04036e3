#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/names.h"
#include "compiler/lower/nest.h"
#include "compiler/problem/problem.h"

namespace schaas::lower {

/// Collects what a kernel declares (extents, strides, arrays), each once, when lowering first asks for it.
class KernelBuilder {
 public:
  KernelBuilder(const problem::Problem& problem, const NestTree& tree);

  Names& names() { return names_; }
  /// Number of coordinates of an index: a constant when the constraints fix it.
  loop_ir::ExpressionPtr extent(int index);
  /// The most values that one of the blocks of an index holds.
  loop_ir::ExpressionPtr block_size(int index, BlockSize size);
  /// Product of what levels of `tensor` over `indices` hold (their extents; of a temporary that holds one
  /// block of an index its size), named once when it is more than one factor.
  loop_ir::ExpressionPtr extents(int tensor, const std::vector<int>& indices);
  /// Number of entries of one level of the operand's tensor; 1 above the first.
  loop_ir::ExpressionPtr entries(const Operand& operand, int level);
  /// Number of elements of a temporary: as extents, or as the operand whose entries it has has entries.
  loop_ir::ExpressionPtr elements(int tensor, const std::vector<int>& indices);
  /// Names of a tensor's arrays.
  std::string values(int tensor);
  std::string positions(int tensor, int level);
  std::string coordinates(int tensor, int level);
  std::string held(int tensor, int level);  ///< the bytes of a bitmap
  void mark_written(int tensor);            ///< its values
  void mark_written(const std::string& array);
  void mark_all_written() { kernel_.writes_all = true; }  ///< of the result
  /// Gives a temporary its memory; elements in storage order of `indices`.
  void add_workspace(int tensor, const std::vector<int>& indices);
  void add_carry(int tensor, const std::vector<int>& indices);
  void add_shared(int tensor, const std::vector<int>& indices);
  /// Phases store each element of it before one is read.
  void mark_stored(int tensor);
  /// The coordinates that a compressed level of an argument holds.
  std::string add_met(const Operand& operand, int level);
  /// One byte for each element of the levels of a temporary over `indices`.
  std::string add_flags(int tensor, const std::vector<int>& indices);
  std::string add_shared_flags(int tensor, const std::vector<int>& indices);
  /// What remembers which of these elements are marked, and room for a list of their places.
  std::string add_marks(int tensor, const std::vector<int>& indices);
  std::string add_list(int tensor, const std::vector<int>& indices);
  /// Room for a stamp of each such element.
  std::string add_stamps(int tensor, const std::vector<int>& indices);
  std::string add_last_stamp(int tensor);
  /// Of a temporary that is a hash table: the values of its places, each `rest` wide; what is at its places;
  /// those that are taken; their coordinates.
  void add_table(int tensor, const std::vector<int>& rest);
  std::string add_keys(int tensor);
  std::string add_taken(int tensor);
  std::string add_table_list(int tensor);
  /// What the units append to a compressed level of the result; `units` is their number.
  std::string add_counts(int level, const loop_ir::ExpressionPtr& units);
  bool is_private(const std::string& array) const;                ///< of one thread
  void mark_appended() { kernel_.appends = kernel_.writes_all; }  ///< the result
  loop_ir::Phase& last_phase() { return kernel_.phases.back(); }
  void add_phase(loop_ir::Phase phase) { kernel_.phases.push_back(std::move(phase)); }

  loop_ir::Kernel take() { return std::move(kernel_); }

 private:
  std::string add_array(int tensor, const std::string& suffix, loop_ir::Array array);
  std::string table_array(int tensor, const std::string& suffix, loop_ir::ExpressionPtr count);
  std::string index_array(int tensor, int level, const std::string& suffix, loop_ir::Array array);

  const problem::Problem& problem_;
  const NestTree& tree_;
  std::map<std::string, std::string> classes_;  ///< index -> the first one of its extent
  Names names_;
  loop_ir::Kernel kernel_;
  std::map<int, loop_ir::ExpressionPtr> extents_;
  std::map<std::vector<std::string>, std::string> products_;   ///< sorted texts of the factors -> name
  std::map<std::pair<int, std::string>, std::string> arrays_;  ///< (tensor, suffix) -> name
  int shared_count_ = 0;
};

}  // namespace schaas::lower
