#pragma once
#include <array>
#include <string>

#include "compiler/loop_ir/nodes.h"

/// Names that the body of a phase knows without a declaration, and loops over the ranges that they bound. All
/// else asks here and spells none of them.
namespace schaas::loop_ir {

inline constexpr std::array range_names = {"begin", "end"};                 ///< iterations of a phase
inline constexpr std::array column_names = {"column_begin", "column_end"};  ///< columns of a thread

ExpressionPtr range_begin();
ExpressionPtr range_end();
ExpressionPtr column_begin();
ExpressionPtr column_end();

/// The loop visits all iterations of the phase's range, one by one.
bool is_over_range(const For& loop);
/// The loop visits the columns of a thread.
bool is_over_columns(const For& loop);
/// The bound of a loop is computed from one of the phase's range, which may cut the loop short.
bool is_cut_by_range(const ExpressionPtr& bound);

}  // namespace schaas::loop_ir
