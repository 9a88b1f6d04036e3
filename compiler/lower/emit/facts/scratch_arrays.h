#pragma once
#include <string>
#include <vector>

#include "compiler/lower/emit/facts/kernel_arrays.h"

namespace schaas::lower {

/// Thread-private arrays of a temporary: its values, and what its sparse accumulator or hash table needs.
/// Elements are in storage order of `indices`.
class ScratchArrays {
 public:
  ScratchArrays(KernelExtents& extents, KernelArrays& arrays) : extents_(extents), arrays_(arrays) {}

  void add_values(int tensor, const std::vector<int>& indices);
  void add_carry_out(int tensor, const std::vector<int>& indices);

  /// Declares one byte for each element of the temporary's levels over `indices`.
  std::string add_flags(int tensor, const std::vector<int>& indices);
  /// Declares an occupancy bitmap over these elements, and a list of occupied ones.
  std::string add_occupancy(int tensor, const std::vector<int>& indices);
  std::string add_list(int tensor, const std::vector<int>& indices);
  /// Declares an epoch for each such element.
  std::string add_epochs(int tensor, const std::vector<int>& indices);
  std::string add_last_epoch(int tensor);

  /// Declares a hash table: values of its slots, each `rest` wide; keys; occupied slots; coordinates.
  void add_table(int tensor, const std::vector<int>& rest);
  std::string add_keys(int tensor);
  std::string add_taken(int tensor);
  std::string add_table_list(int tensor);

 private:
  std::string add(int tensor, const std::string& suffix, loop_ir::Element element,
                  loop_ir::ExpressionPtr count);

  KernelExtents& extents_;
  KernelArrays& arrays_;
};

}  // namespace schaas::lower
