#include "compiler/schedule/directives/bound.h"

#include <string>
#include <utility>
#include <vector>

#include "compiler/concrete_notation/match.h"
#include "compiler/schedule/illegal.h"

// An extent belongs to the index, so every loop over it is annotated, in all sections. Code for one extent
// has it as a constant everywhere.
namespace schaas::schedule {
namespace {

using concrete_notation::Assign;
using concrete_notation::Blocks;
using concrete_notation::Forall;
using concrete_notation::match;
using concrete_notation::StatementPtr;
using concrete_notation::Where;

StatementPtr bounded(const StatementPtr& statement, const Bound& directive, bool& found) {
  return match(
      statement->node,
      [&](const Forall& loop) {
        auto annotation = loop.annotation;
        if (loop.index == directive.loop) {
          found = true;
          annotation.extent = directive.extent;
        }
        return concrete_notation::forall(loop.index, bounded(loop.body, directive, found), annotation);
      },
      [&](const Blocks& blocks) {
        return concrete_notation::with_body(blocks, bounded(blocks.body, directive, found));
      },
      [&](const Where& branch) {
        auto consumer = bounded(branch.consumer, directive, found);
        return concrete_notation::where(consumer, bounded(branch.producer, directive, found), branch.storage);
      },
      [&](const concrete_notation::Terms& sum) {
        std::vector<StatementPtr> each;
        for (const auto& term : sum.terms) each.push_back(bounded(term, directive, found));
        return concrete_notation::terms(std::move(each));
      },
      [&](const Assign&) { return statement; });
}

}  // namespace

support::Result<StatementPtr> apply_bound(const StatementPtr& tree, const Bound& directive) {
  if (directive.extent < 1) {
    return illegal("extent is " + std::to_string(directive.extent) + "; the least is 1");
  }
  bool found = false;
  auto out = bounded(tree, directive, found);
  if (found) return out;
  return illegal("the tree has no loop `" + directive.loop + "`");
}

}  // namespace schaas::schedule
