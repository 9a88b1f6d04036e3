#include "compiler/lower/ahead.h"

#include "compiler/loop_ir/entries.h"

namespace schaas::lower {
namespace {

using loop_ir::For;
using loop_ir::Match;
using loop_ir::StatementPtr;

/// Entries: less comes too late where a row has few, more is pushed out again where it is wide.
constexpr int entries_ahead = 16;

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
  bool others = false;   ///< loops beside those that are open, in the same turn of a loop
  bool entries = false;  ///< a loop over entries, of which each has those of the next level
  bool lanes = false;
};

StatementPtr asked(const StatementPtr& statement, const loop_ir::Kernel& kernel, Around around) {
  return std::visit(
      Match{
          [&](const loop_ir::Block& x) {
            std::vector<StatementPtr> statements;
            for (const auto& each : x.statements) statements.push_back(asked(each, kernel, around));
            return loop_ir::make(loop_ir::Block{std::move(statements)});
          },
          [&](const loop_ir::If& x) {
            return loop_ir::make(loop_ir::If{x.condition, asked(x.body, kernel, around)});
          },
          [&](const For& x) {
            For loop = x;
            const bool is_short_of_loads = around.lanes && (around.others || around.entries);
            if (is_short_of_loads && loops_in(x.body) == 0 && goes_by_entries(x, kernel))
              loop.ahead = entries_ahead;
            const bool lanes = around.lanes || x.shape == loop_ir::Shape::lanes;
            const bool entries = around.entries || std::holds_alternative<loop_ir::Load>(x.begin->node);
            loop.body =
                asked(x.body, kernel, {around.others || (!lanes && loops_in(x.body) > 1), entries, lanes});
            return loop_ir::make(std::move(loop));
          },
          [&](const auto&) { return statement; },
      },
      statement->node);
}

}  // namespace

loop_ir::Kernel ask_ahead(loop_ir::Kernel kernel) {
  for (auto& phase : kernel.phases) {
    phase.body = asked(phase.body, kernel, {});
    if (phase.cut) phase.cut->part = asked(phase.cut->part, kernel, {});
  }
  return kernel;
}

}  // namespace schaas::lower
