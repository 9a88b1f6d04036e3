#include "compiler/loop_ir/substitute.h"

// Capture-free by construction: expressions bind no names, and arrays are never replaced. A subtree without
// a replaced name is returned as it is, so that comparison by address still works.
namespace schaas::loop_ir {

ExpressionPtr substitute(const ExpressionPtr& expression, const Substitution& with) {
  const auto replaced = [&](const ExpressionPtr& part) { return substitute(part, with); };
  const auto rebuilt = [](auto node) {
    return std::make_shared<const Expression>(Expression{std::move(node)});
  };
  return std::visit(Match{
                        [&](const Integer&) { return expression; },
                        [&](const Number&) { return expression; },
                        [&](const Name& x) {
                          const auto found = with.find(x.name);
                          return found == with.end() ? expression : found->second;
                        },
                        [&](const Load& x) -> ExpressionPtr {
                          const auto index = replaced(x.index);
                          return index == x.index ? expression : rebuilt(Load{x.array, index});
                        },
                        [&](const Apply& x) -> ExpressionPtr {
                          bool same = true;
                          std::vector<ExpressionPtr> arguments;
                          for (const auto& each : x.arguments) {
                            arguments.push_back(replaced(each));
                            same = same && arguments.back() == each;
                          }
                          return same ? expression : rebuilt(Apply{x.function, std::move(arguments)});
                        },
                        [&](const Choose& x) -> ExpressionPtr {
                          Choose out{replaced(x.condition), replaced(x.then), replaced(x.otherwise)};
                          const bool same = out.condition == x.condition && out.then == x.then &&
                                            out.otherwise == x.otherwise;
                          return same ? expression : rebuilt(std::move(out));
                        },
                        [&](const Search& x) -> ExpressionPtr {
                          Search out{x.array, replaced(x.begin), replaced(x.end), replaced(x.key), x.layout};
                          const bool same = out.begin == x.begin && out.end == x.end && out.key == x.key;
                          return same ? expression : rebuilt(std::move(out));
                        },
                        [&](const Convert& x) -> ExpressionPtr {
                          const auto index = replaced(x.index);
                          return index == x.index ? expression : rebuilt(Convert{index});
                        },
                    },
                    expression->node);
}

}  // namespace schaas::loop_ir
