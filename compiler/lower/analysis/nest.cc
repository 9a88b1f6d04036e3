#include "compiler/lower/analysis/nest.h"

#include <algorithm>

#include "compiler/loop_ir/nodes.h"
#include "compiler/support/contains.h"

namespace schaas::lower {
namespace {

using loop_ir::Match;

void collect(const NestPtr& nest, const NestTree& tree, bool with_targets, std::vector<int>& out) {
  const auto add = [&](int number) {
    const Operand& use = tree.operands[static_cast<std::size_t>(number)];
    if (use.pattern) number = use.located_by;
    if (std::find(out.begin(), out.end(), number) == out.end()) out.push_back(number);
  };
  std::visit(Match{
                 [&](const Loop& loop) { collect(loop.body, tree, with_targets, out); },
                 [&](const Blocks& blocks) { collect(blocks.body, tree, with_targets, out); },
                 [&](const Branch& branch) {
                   collect(branch.producer, tree, with_targets, out);
                   collect(branch.consumer, tree, with_targets, out);
                 },
                 [&](const Terms& sum) {
                   for (const auto& term : sum.terms) collect(term, tree, with_targets, out);
                 },
                 [&](const Leaf& leaf) {
                   if (with_targets) add(leaf.target);
                   for (const int factor : leaf.factors) add(factor);
                 },
             },
             nest->node);
}

}  // namespace

NestPtr make_nest(Nest nest) { return std::make_shared<const Nest>(std::move(nest)); }

NestPtr with_body(Blocks blocks, NestPtr body) {
  blocks.body = std::move(body);
  return make_nest({std::move(blocks)});
}

NestPtr with_body(Loop loop, NestPtr body) {
  loop.body = std::move(body);
  return make_nest({std::move(loop)});
}

std::vector<int> operands_below(const NestPtr& nest, const NestTree& tree) {
  std::vector<int> out;
  collect(nest, tree, true, out);
  return out;
}

std::vector<int> factors_below(const NestPtr& nest, const NestTree& tree) {
  std::vector<int> out;
  collect(nest, tree, false, out);
  return out;
}

int target_of(const NestPtr& nest) {
  return std::visit(Match{
                        [](const Loop& loop) { return target_of(loop.body); },
                        [](const Blocks& blocks) { return target_of(blocks.body); },
                        [](const Branch& branch) { return target_of(branch.consumer); },
                        [](const Terms& sum) { return target_of(sum.terms.front()); },
                        [](const Leaf& leaf) { return leaf.target; },
                    },
                    nest->node);
}

operators::Monoid monoid_of(const NestPtr& nest) {
  return std::visit(Match{
                        [](const Loop& loop) { return monoid_of(loop.body); },
                        [](const Blocks& blocks) { return monoid_of(blocks.body); },
                        [](const Branch& branch) { return monoid_of(branch.consumer); },
                        [](const Terms& sum) { return monoid_of(sum.terms.front()); },
                        [](const Leaf& leaf) { return leaf.monoid; },
                    },
                    nest->node);
}

bool is_chain(const NestPtr& nest) { return leaf_of_chain(nest) != nullptr; }

const Leaf* leaf_of_chain(const NestPtr& nest) {
  const NestPtr* at = &nest;
  while (const auto* loop = std::get_if<Loop>(&(*at)->node)) at = &loop->body;
  return std::get_if<Leaf>(&(*at)->node);
}

bool counts_unstored(const Loop& loop) {
  const Leaf* leaf = leaf_of_chain(loop.body);
  return leaf != nullptr && support::contains(leaf->counted, loop.index);
}

const Loop* occupied_walk(const Branch& branch, const NestTree& tree) {
  const int occupancy_levels = tree.tensors[static_cast<std::size_t>(branch.temporary)].occupancy_levels;
  const NestPtr* at = &branch.consumer;
  for (;;) {
    if (const auto* inner = std::get_if<Branch>(&(*at)->node)) {
      at = &inner->consumer;
      continue;
    }
    const auto* loop = std::get_if<Loop>(&(*at)->node);
    if (loop == nullptr) return nullptr;
    for (const int number : factors_below(loop->body, tree)) {
      const Operand& read = tree.operands[static_cast<std::size_t>(number)];
      if (read.tensor == branch.temporary && level_of(read, loop->index) == occupancy_levels - 1) return loop;
    }
    at = &loop->body;
  }
}

int level_of(const Operand& operand, int index) {
  const auto found = std::find(operand.indices.begin(), operand.indices.end(), index);
  return found == operand.indices.end() ? -1 : static_cast<int>(found - operand.indices.begin());
}

bool is_plain_product(const Leaf& leaf) { return leaf.value == nullptr; }

}  // namespace schaas::lower
