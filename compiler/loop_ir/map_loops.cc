#include "compiler/loop_ir/map_loops.h"

#include <utility>
#include <vector>

namespace schaas::loop_ir {

StatementPtr map_loops(const StatementPtr& statement, const std::function<StatementPtr(const For&)>& loop) {
  return std::visit(Match{
                        [&](const Block& x) {
                          std::vector<StatementPtr> statements;
                          for (const auto& each : x.statements) statements.push_back(map_loops(each, loop));
                          return block(std::move(statements));
                        },
                        [&](const If& x) {
                          return make(If{x.condition, map_loops(x.body, loop)});
                        },
                        [&](const For& x) { return loop(x); },
                        [&](const auto&) { return statement; },
                    },
                    statement->node);
}

}  // namespace schaas::loop_ir
