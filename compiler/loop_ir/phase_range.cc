#include "compiler/loop_ir/phase_range.h"

#include "compiler/loop_ir/uses.h"

namespace schaas::loop_ir {

ExpressionPtr range_begin() { return name(range_names[0]); }
ExpressionPtr range_end() { return name(range_names[1]); }
ExpressionPtr column_begin() { return name(column_names[0]); }
ExpressionPtr column_end() { return name(column_names[1]); }

bool is_over_range(const For& loop) {
  return loop.shape == Shape::scalar && loop.step == 1 && is_name(loop.begin, range_names[0]) &&
         is_name(loop.end, range_names[1]);
}

bool is_over_columns(const For& loop) { return is_name(loop.begin, column_names[0]); }

bool is_cut_by_range(const ExpressionPtr& bound) {
  return !std::holds_alternative<Name>(bound->node) &&
         mentions(bound, {range_names.begin(), range_names.end()});
}

}  // namespace schaas::loop_ir
