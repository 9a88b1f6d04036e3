#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/codegen/c_text.h"
#include "compiler/loop_ir/kernel.h"

namespace schaas::codegen {

/// Arrays of the operands of a kernel: name -> argument. Those of the result, which is still being made, are
/// left out.
struct OperandArrays {
  std::map<std::string, int> coordinates, values;
  std::set<std::string> temporaries;  ///< shared arrays and scratch of values
};
OperandArrays operand_arrays(const loop_ir::Kernel& kernel);

/// Sums, or alternatives, over stored entries of an operand. Their factors are at the entries' positions, or
/// are gathered at the entries' coordinates.
struct GatheredSums {
  std::string coordinates;                ///< the array that the loop's positions index
  std::vector<loop_ir::Accumulate> sums;  ///< values in terms of the loop's variable alone: lets are inlined
  bool gathers = false;                   ///< something is gathered
  bool gathers_at_coordinates = false;    ///< something is gathered, and all of it at the very coordinates
};
/// Returns the sums of a loop over positions that does nothing else, or nothing. The values may be computed
/// at every entry of the operand. Coordinates lie within extents, and the loads are of operands, at affine
/// functions of the coordinates, or of temporaries, at the coordinates.
std::optional<GatheredSums> gathered_sums(const loop_ir::For& loop, const OperandArrays& operands,
                                          const std::map<std::string, operators::Monoid>& monoids);

/// Returns the loops over the entries of a row that a phase runs for one row after another: variable -> array
/// of positions.
std::map<std::string, std::string> loops_over_adjacent_rows(const loop_ir::StatementPtr& phase);

/// Declares two counters for a loop over v. `v_before` is the number of entries of the row before, `v_equal`
/// how many rows in turn have had as many. Rows before `begin` count: sums do not depend on the shares of
/// threads.
void print_equal_row_counters(CText& text, const std::string& variable, const std::string& positions);

}  // namespace schaas::codegen
