#include "compiler/lower/prefetch_gathers.h"

#include "compiler/loop_ir/entries.h"

namespace schaas::lower {
namespace {

using loop_ir::For;
using loop_ir::Match;
using loop_ir::StatementPtr;

/// Prefetch distance in entries. Fewer arrive late in rows with few entries; more are evicted again where
/// rows are wide.
constexpr int gather_prefetch_distance = 16;

int loops_in(const StatementPtr& statement) {
  return std::visit(Match{
                        [](const For&) { return 1; },
                        [](const loop_ir::If& x) { return loops_in(x.body); },
                        [](const loop_ir::Block& x) {
                          int sum = 0;
                          for (const auto& each : x.statements) sum += loops_in(each);
                          return sum;
                        },
                        [](const auto&) { return 0; },
                    },
                    statement->node);
}

struct Around {
  bool others = false;   ///< loops beside the open ones, in the same iteration of a loop
  bool entries = false;  ///< a loop over entries, each with entries of the next level
  bool in_vector_loop = false;
};

StatementPtr with_prefetches(const StatementPtr& statement, const loop_ir::Kernel& kernel, Around around) {
  return std::visit(
      Match{
          [&](const loop_ir::Block& x) {
            std::vector<StatementPtr> statements;
            for (const auto& each : x.statements) statements.push_back(with_prefetches(each, kernel, around));
            return loop_ir::make(loop_ir::Block{std::move(statements)});
          },
          [&](const loop_ir::If& x) {
            return loop_ir::make(loop_ir::If{x.condition, with_prefetches(x.body, kernel, around)});
          },
          [&](const For& x) {
            For loop = x;
            const bool is_short_of_loads = around.in_vector_loop && (around.others || around.entries);
            if (is_short_of_loads && loops_in(x.body) == 0 && iterates_entries(x, kernel))
              loop.prefetch_distance = gather_prefetch_distance;
            const bool in_vector_loop = around.in_vector_loop || x.shape == loop_ir::Shape::vector;
            const bool entries = around.entries || std::holds_alternative<loop_ir::Load>(x.begin->node);
            loop.body = with_prefetches(
                x.body, kernel,
                {around.others || (!in_vector_loop && loops_in(x.body) > 1), entries, in_vector_loop});
            return loop_ir::make(std::move(loop));
          },
          [&](const auto&) { return statement; },
      },
      statement->node);
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
