#include "compiler/lower/emit/facts/thread_mapping.h"

#include <algorithm>

#include "compiler/concrete_notation/thread_mapping.h"
#include "compiler/lower/analysis/iteration_space.h"

// Reads the annotations of a phase's loops as a thread mapping (docs/gpu.md). An annotated loop around
// another mapped one runs over columns; the inner one is counted by the phase's range. Threads that share an
// iteration interleave the loop below; around a branch they interleave the producer's and then the
// consumer's. Their groups interleave a loop over elements, and the threads of a group the sum inside it.
// Restrictions of loops that threads share are checked once, before any pass runs.
namespace schaas::lower {
namespace {

const Loop* inner_of(const Loop& loop) { return std::get_if<Loop>(&loop.body->node); }

/// Returns the branch below a loop, or null.
const Branch* branch_below(const Loop& loop) {
  const Loop* at = &loop;
  while (inner_of(*at) != nullptr) at = inner_of(*at);
  return std::get_if<Branch>(&at->body->node);
}

bool writes_along(const Loop& loop, const NestTree& tree) {
  return level_of(tree.operands[static_cast<std::size_t>(target_of(loop.body))], loop.index) >= 0;
}

/// The phases of a nest, in order.
void phases_of(const NestPtr& nest, std::vector<NestPtr>& out) {
  if (const auto* branch = std::get_if<Branch>(&nest->node)) {
    phases_of(branch->producer, out);
    phases_of(branch->consumer, out);
  } else if (const auto* sum = std::get_if<Terms>(&nest->node)) {
    for (const auto& term : sum->terms) phases_of(term, out);
  } else {
    out.push_back(nest);
  }
}

std::vector<NestPtr> phases_of(const NestTree& tree) {
  std::vector<NestPtr> out;
  phases_of(tree.root, out);
  return out;
}

/// The loop is over a range, or, where `lists` may be, over a list that holds each coordinate once.
bool can_interleave(const Loop& loop, bool lists, const NestTree& tree) {
  const auto space = loop_space(loop.body, loop.index, tree);
  if (space.kind == LoopSpace::Kind::range) return true;
  if (space.kind != LoopSpace::Kind::walk || !lists) return false;
  const auto& walked = space.cursors.front();
  const auto& operand = tree.operands[static_cast<std::size_t>(walked.operand)];
  return format::is_unique(
      tree.tensors[static_cast<std::size_t>(operand.tensor)].levels[static_cast<std::size_t>(walked.level)]);
}

support::Diagnostic refused(const std::string& what) {
  return support::unsupported("gpu-loop", what + "; a schedule without `threads` computes it on the CPU");
}

}  // namespace

MappedLoops mapped_loops(const NestPtr& phase, const NestTree& tree) {
  MappedLoops shared;
  const auto* outermost = std::get_if<Loop>(&phase->node);
  if (outermost == nullptr) return shared;
  shared.rows = outermost;
  const auto& given = outermost->annotation.mapping;
  shared.mapping = given.value_or(concrete_notation::ThreadMapping{});
  const Loop* second = inner_of(*outermost);
  if (given && second != nullptr && (second->annotation.mapping || second->annotation.positions > 0)) {
    shared.columns = outermost;
    shared.rows = second;
    shared.columns_grain = given->grain;
    shared.mapping = second->annotation.mapping.value_or(concrete_notation::ThreadMapping{});
    shared.mapping.threads_per_item = std::max(shared.mapping.threads_per_item, given->threads_per_item);
  }
  if (shared.mapping.threads_per_item == 1) return shared;
  // The loops over the levels of a range of entries are walked by each thread itself.
  const Loop* last = shared.rows;
  for (int n = 1; n < shared.rows->annotation.positions; ++n) last = inner_of(*last);
  shared.inside = inner_of(*last);
  if (shared.inside != nullptr && writes_along(*shared.inside, tree) && shared.mapping.group_size > 1) {
    shared.elements = shared.inside;
    shared.inside = inner_of(*shared.elements);
    shared.groups = shared.mapping.threads_per_item / shared.mapping.group_size;
    shared.mapping.threads_per_item = shared.mapping.group_size;
    return shared;
  }
  const Branch* branch = branch_below(*last);
  if (branch == nullptr || (shared.inside != nullptr && writes_along(*shared.inside, tree))) return shared;
  shared.inside = std::get_if<Loop>(&branch->producer->node);
  shared.consumer = std::get_if<Loop>(&branch->consumer->node);
  return shared;
}

bool is_for_gpu(const NestTree& tree) {
  const auto phases = phases_of(tree);
  return std::any_of(phases.begin(), phases.end(), [](const NestPtr& phase) {
    const auto* outermost = std::get_if<Loop>(&phase->node);
    return outermost != nullptr && outermost->annotation.mapping;
  });
}

loop_ir::ThreadMapping mapping_of(const MappedLoops& loops) {
  const auto& mapping = loops.mapping;
  return {mapping.grain,       mapping.threads_per_item,
          mapping.group_size,  concrete_notation::adjacent_iterations(mapping),
          mapping.block,       nullptr,
          loops.columns_grain, mapping.stage,
          loops.groups};
}

int keep_result_by_entries(NestTree& tree) {
  const auto phases = phases_of(tree);
  const int target = target_of(phases.back());
  Operand& result = tree.operands[static_cast<std::size_t>(target)];
  Tensor& stored = tree.tensors[static_cast<std::size_t>(result.tensor)];
  const bool dense = std::all_of(stored.levels.begin(), stored.levels.end(), [](format::LevelFormat level) {
    return level == format::LevelFormat::dense;
  });
  if (stored.temporary() || dense) return -1;
  for (const int number : factors_below(phases.back(), tree)) {
    const Operand& factor = tree.operands[static_cast<std::size_t>(number)];
    const Tensor& tensor = tree.tensors[static_cast<std::size_t>(factor.tensor)];
    if (tensor.temporary() || factor.pattern || factor.indices != result.indices ||
        tensor.levels != stored.levels)
      continue;
    result.located_by = number;
    stored.entries_of = number;
    // An element for each entry of the factor, located by it.
    stored.levels.assign(stored.levels.size(), format::LevelFormat::dense);
    return tensor.argument;
  }
  SCHAAS_CHECK(false, "a sparse result of a GPU that has the entries of no factor");
}

support::Result<void> check_mapped_loops(const NestTree& tree) {
  for (const auto& tensor : tree.tensors) {
    if (tensor.occupancy_levels > 0)
      return refused("which elements of the temporary `" + tensor.name +
                     "` are written is kept in a list, which the threads of a GPU do not share");
  }
  for (const auto& phase : phases_of(tree)) {
    if (std::holds_alternative<Blocks>(phase->node))
      return refused("a phase runs in blocks, whose ends are not those of what a thread gets");
    const auto shared = mapped_loops(phase, tree);
    for (const Loop* loop : {shared.inside, shared.consumer, shared.elements}) {
      if (loop == nullptr || can_interleave(*loop, shared.consumer == nullptr, tree)) continue;
      return refused(
          "threads that share an iteration interleave a list or a range, around a branch ranges, and loop `" +
          tree.index_names[static_cast<std::size_t>(loop->index)] + "` is none");
    }
  }
  return {};
}

}  // namespace schaas::lower
