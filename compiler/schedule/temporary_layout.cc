#include "compiler/schedule/temporary_layout.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/concrete_notation/match.h"

// The index order of a temporary is free until it is read: dense arrays are written in any order. It is taken
// from the loops around the reader, so that the reader walks the array in order. In a contraction each
// temporary has one reader, which makes the layout a function of loops and factors, not of the directives
// that led there.
namespace schaas::schedule {
namespace {

using concrete_notation::Assign;
using concrete_notation::Blocks;
using concrete_notation::Forall;
using concrete_notation::match;
using concrete_notation::StatementPtr;
using concrete_notation::Terms;
using concrete_notation::Where;
using index_notation::Access;

/// Temporary -> its indices in the order of the loops around the reading assignment. Producers come before
/// readers, so an operand of the problem is never taken for a temporary.
struct Layouts {
  std::map<std::string, std::vector<std::string>> of;
  std::vector<std::string> loops;
};

void find_layouts(const StatementPtr& statement, Layouts& layouts) {
  match(
      statement->node,
      [&](const Forall& loop) {
        layouts.loops.push_back(loop.index);
        find_layouts(loop.body, layouts);
        layouts.loops.pop_back();
      },
      [&](const Blocks& blocks) { find_layouts(blocks.body, layouts); },
      [&](const Where& branch) {
        find_layouts(branch.producer, layouts);
        const Access& temporary = concrete_notation::leaf_of(branch.producer).target;
        // Registered between the two sides: only the consumer may read it.
        layouts.of[temporary.tensor] = temporary.indices;
        find_layouts(branch.consumer, layouts);
      },
      [&](const Terms& sum) {
        for (const auto& term : sum.terms) find_layouts(term, layouts);
      },
      [&](const Assign& leaf) {
        // Every index of a temporary is a loop around its reader in a verified tree.
        const auto depth = [&](const std::string& index) {
          return std::find(layouts.loops.begin(), layouts.loops.end(), index);
        };
        for (const Access& factor : index_notation::operands(leaf.value)) {
          const auto found = layouts.of.find(factor.tensor);
          if (found == layouts.of.end()) continue;
          std::sort(found->second.begin(), found->second.end(),
                    [&](const auto& a, const auto& b) { return depth(a) < depth(b); });
        }
      });
}

}  // namespace

StatementPtr lay_out_temporaries(const StatementPtr& tree) {
  Layouts layouts;
  find_layouts(tree, layouts);
  return concrete_notation::with_accesses(tree, [&](Access access) {
    const auto found = layouts.of.find(access.tensor);
    if (found != layouts.of.end()) access.indices = found->second;
    return access;
  });
}

}  // namespace schaas::schedule
