#include "compiler/loop_ir/map_expressions.h"

namespace schaas::loop_ir {

StatementPtr map_expressions(const StatementPtr& statement,
                             const std::function<ExpressionPtr(const ExpressionPtr&)>& map) {
  return std::visit(
      Match{
          [&](const Let& x) {
            return make(Let{x.name, x.type, map(x.value), x.wide, x.fold});
          },
          [&](const Accumulate& x) {
            return make(Accumulate{x.name, map(x.value)});
          },
          [&](const Store& x) {
            return make(Store{x.array, map(x.index), x.mode, map(x.value), x.monoid, x.wide});
          },
          [&](const GroupStore& x) {
            return make(GroupStore{x.array, map(x.index), x.mode, map(x.value), x.monoid, x.width, x.wide});
          },
          [&](const Defer& x) {
            return make(Defer{x.name, map(x.index), map(x.value)});
          },
          // Bounds and conditions are not mapped: they decide what runs, not what is computed.
          [&](const auto&) { return statement; },
      },
      statement->node);
}

}  // namespace schaas::loop_ir
