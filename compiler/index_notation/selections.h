#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/index_notation/nodes.h"

/// Ranges and fixed coordinates as products. `select(p,i(2:5))` is the semiring's one where p is the
/// coordinate that the range has for i, and its zero elsewhere; `select(p,3)` is one at 3 alone. So a part of
/// a tensor is an ordinary product, with one schedule space, cost and code:
///     A(i,j) = B(i(2:5),j)    A(i,j) = sum(p)(select(p,i(2:5)) * B(p,j))
///     A(i(2:5),j) = B(i,j)    A(p,j) = sum(i)(select(p,i(2:5)) * B(i,j))
///     D(i,i) = x(i)           D(i,p) = select(p,i) * x(i)
namespace schaas::index_notation {

/// Name of the selecting pseudo tensor: its modes are a coordinate and what selects it.
inline constexpr const char* select_name = "select";
/// Name of the same for an equation `i == j` (equations.h), whose indices may have different extents. No user
/// can write it.
inline constexpr const char* equal_name = "==";

/// True for a pseudo tensor.
bool selects(const Access& access);

/// True when an index stands at two whole modes.
bool is_diagonal(const Access& access);

/// True when an access of the program has a range or a fixed coordinate or selects, or one writes a diagonal.
bool has_ranges(const Program& program);

/// Returns the same verified program with ranges in accesses to `select` alone. New indices are named after
/// tensor and mode, `B_mode1`.
Program with_selections(const Program& program);

/// A 0-1 tensor instead of `select`, which the caller of a kernel makes
/// (client/cpp/expression/selections.h).
struct IndexOperand {
  std::string tensor;
  std::string coordinate;  ///< index of the mode that is selected from
  std::string index;       ///< index that runs through the range; "": the coordinate is fixed
  Range range;
  bool coordinate_first = false;  ///< modes are (coordinate, index), else (index, coordinate)
  bool is_equation = false;       ///< extents of the two may differ
};
struct SelectedProgram {
  Program program;  ///< without ranges
  std::vector<IndexOperand> selections;
  std::vector<std::string> parameters;  ///< names in bounds, distinct
};

/// Returns the format of a selection: a band of one coordinate at most.
std::string selection_format(const IndexOperand& selection);

/// Tells the level of a tensor's mode where loops walk its entries; none where coordinates are located.
using WalkedLevel = std::function<std::optional<int>(const Access& access, std::size_t mode)>;

/// Returns with_selections(program) with a tensor for each selection. Its band lies in the index, or in the
/// coordinate where that is located.
SelectedProgram with_selection_operands(const Program& program, const WalkedLevel& walked_level);

/// Lists the names in the bounds of all ranges, distinct, in order of appearance.
std::vector<std::string> range_parameters(const Program& program);

}  // namespace schaas::index_notation
