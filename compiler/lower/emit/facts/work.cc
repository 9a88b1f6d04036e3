#include "compiler/lower/emit/facts/work.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/lower/analysis/iteration_space.h"

// Estimates the iterations of a phase's deepest leaf, as factors that the client multiplies at real sizes.
// Entries of a list are counted over all parents. So a loop over it replaces the factors of the loops around
// whose indices its levels have.
namespace schaas::lower {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::Match;

/// Loops over `indices` run `count` times together.
struct Factor {
  std::set<int> indices;
  ExpressionPtr count;
};

class Work {
 public:
  Work(const NestTree& tree, KernelBuilder& builder) : tree_(tree), builder_(builder) {}

  /// Returns the factors of the leaf below that has most of them.
  std::vector<Factor> of(const NestPtr& nest, std::vector<Factor> around) {
    return std::visit(Match{
                          [&](const Loop& loop) { return of(loop.body, with_loop(loop, std::move(around))); },
                          [&](const Blocks& blocks) { return of(blocks.body, std::move(around)); },
                          [&](const Branch& branch) {
                            auto producer = of(branch.producer, around);
                            auto consumer = of(branch.consumer, std::move(around));
                            return producer.size() > consumer.size() ? producer : consumer;
                          },
                          [&](const Terms& sum) {
                            std::vector<Factor> most;
                            for (const auto& term : sum.terms) {
                              auto one = of(term, around);
                              if (one.size() >= most.size()) most = std::move(one);
                            }
                            return most;
                          },
                          [&](const Leaf&) { return around; },
                      },
                      nest->node);
  }

 private:
  std::vector<Factor> with_loop(const Loop& loop, std::vector<Factor> around) {
    const LoopSpace space = loop_space(loop.body, loop.index, tree_);
    if (space.kind == LoopSpace::Kind::range || space.whole) {
      around.push_back({{loop.index}, builder_.extents.of(loop.index)});
      return around;
    }
    const auto& walked = space.cursors.front();
    const Operand& operand = tree_.operands[static_cast<std::size_t>(walked.operand)];
    const std::set<int> indices(operand.indices.begin(), operand.indices.begin() + walked.level + 1);
    std::vector<Factor> left;
    for (const auto& factor : around) {
      const bool inside =
          std::includes(indices.begin(), indices.end(), factor.indices.begin(), factor.indices.end());
      if (inside) continue;
      const bool apart = std::none_of(factor.indices.begin(), factor.indices.end(),
                                      [&](int index) { return indices.count(index) > 0; });
      // Lists that share some indices only: a product would count these twice.
      if (!apart) return around;
      left.push_back(factor);
    }
    left.push_back({indices, builder_.arrays.entries(operand, walked.level)});
    return left;
  }

  const NestTree& tree_;
  KernelBuilder& builder_;
};

}  // namespace

std::vector<ExpressionPtr> work_of(const NestPtr& phase, const NestTree& tree, KernelBuilder& builder) {
  std::vector<ExpressionPtr> out;
  for (auto& factor : Work(tree, builder).of(phase, {})) out.push_back(std::move(factor.count));
  return out;
}

}  // namespace schaas::lower
