#include "compiler/lower/thread_mapping.h"

#include <algorithm>

#include "compiler/concrete_notation/thread_mapping.h"
#include "compiler/lower/iteration_space.h"

namespace schaas::lower {
namespace {

const Loop* inner_of(const Loop& loop) { return std::get_if<Loop>(&loop.body->node); }

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

support::Diagnostic refused(const std::string& what) {
  return support::unsupported("gpu-loop", what + "; a schedule without `threads` computes it on the CPU");
}

}  // namespace

MappedLoops mapped_loops(const NestPtr& phase) {
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
  const Loop* last = shared.rows;
  for (int n = 1; n < shared.rows->annotation.positions; ++n) last = inner_of(*last);
  shared.inside = inner_of(*last);
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
  return {mapping.grain,      mapping.threads_per_item,
          mapping.group_size, concrete_notation::adjacent_iterations(mapping),
          mapping.block,      nullptr,
          loops.columns_grain};
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
    const auto shared = mapped_loops(phase);
    if (shared.inside == nullptr) continue;
    const auto space = loop_space(shared.inside->body, shared.inside->index, tree);
    const bool list =
        space.kind == LoopSpace::Kind::walk &&
        format::is_unique(
            tree.tensors[static_cast<std::size_t>(
                             tree.operands[static_cast<std::size_t>(space.cursors.front().operand)].tensor)]
                .levels[static_cast<std::size_t>(space.cursors.front().level)]);
    if (list || space.kind == LoopSpace::Kind::range) continue;
    return refused("threads that share an iteration interleave a list or a range, and loop `" +
                   tree.index_names[static_cast<std::size_t>(shared.inside->index)] + "` is neither");
  }
  return {};
}

}  // namespace schaas::lower
