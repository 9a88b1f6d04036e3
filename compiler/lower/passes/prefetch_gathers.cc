#include "compiler/lower/passes/prefetch_gathers.h"

#include "compiler/loop_ir/entries.h"
#include "compiler/loop_ir/map_loops.h"
#include "compiler/loop_ir/traversal.h"

// Marks loops over entries that gather inside vector loops. A long loop of that kind keeps the processor
// supplied with loads by itself. One that is interrupted, by other loops of the same iteration or by the
// next fiber of the level above, does not (docs/performance/kernels.md).
namespace schaas::lower {
namespace {

using loop_ir::For;
using loop_ir::StatementPtr;

/// Prefetch distance in entries. Fewer arrive late in rows with few entries; more are evicted again where
/// rows are wide.
constexpr int gather_prefetch_distance = 16;

/// Returns the number of loops that are in no other loop.
int loops_in(const StatementPtr& statement) {
  if (loop_ir::is_any<For, loop_ir::Merge>(statement)) return as<For>(statement) != nullptr ? 1 : 0;
  int sum = 0;
  loop_ir::for_each_child(statement, [&](const StatementPtr& each) { sum += loops_in(each); });
  return sum;
}

/// Loops that enclose the present statement.
struct Around {
  bool others = false;   ///< loops beside the open ones, in the same iteration of a loop
  bool entries = false;  ///< a loop over entries, each with entries of the next level
  bool in_vector_loop = false;
};

StatementPtr with_prefetches(const StatementPtr& statement, const loop_ir::Kernel& kernel, Around around) {
  return loop_ir::map_loops(statement, [&](const For& x) {
    For loop = x;
    const bool is_short_of_loads = around.in_vector_loop && (around.others || around.entries);
    if (is_short_of_loads && loops_in(x.body) == 0 && has_operand_entries(x, kernel))
      loop.prefetch_distance = gather_prefetch_distance;
    const bool in_vector_loop = around.in_vector_loop || x.shape == loop_ir::Shape::vector;
    // The loop over a range of the phase visits one long list, not many short ones.
    const bool is_fiber = !x.entries.empty() && !std::holds_alternative<loop_ir::Name>(x.begin->node);
    const bool entries = around.entries || is_fiber;
    loop.body = with_prefetches(
        x.body, kernel,
        {around.others || (!in_vector_loop && loops_in(x.body) > 1), entries, in_vector_loop});
    return loop_ir::make(std::move(loop));
  });
}

}  // namespace

loop_ir::Kernel prefetch_gathers(loop_ir::Kernel kernel) {
  for (auto& phase : kernel.phases) {
    phase.body = with_prefetches(phase.body, kernel, {});
    if (phase.row_split) phase.row_split->partial = with_prefetches(phase.row_split->partial, kernel, {});
  }
  return kernel;
}

}  // namespace schaas::lower
