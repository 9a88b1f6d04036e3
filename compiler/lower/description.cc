#include "compiler/lower/description.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "compiler/concrete_notation/match.h"
#include "compiler/loop_ir/result_rows.h"
#include "compiler/loop_ir/traversal.h"
#include "compiler/support/result.h"

// Reads off the finished kernel what passes made of the loops around each leaf. Variables tie the loops of a
// kernel to those of the tree: passes keep them, and names are unique in a kernel. A leaf has the same number
// in the statement as in the tree. Loops around it have the same indices in both, but register blocking moves
// one outwards. Invariant: a description states what the kernel has and never what it could have.
namespace schaas::lower {
namespace {

using concrete_notation::LeafCode;
using loop_ir::For;

/// A loop around a leaf: over values of an index, or over its blocks.
struct LeafLoop {
  std::string index;
  bool blocks = false;
  const Loop* loop = nullptr;  ///< in the tree; null for blocks
  bool operator==(const LeafLoop& other) const { return index == other.index && blocks == other.blocks; }
};
using Path = std::vector<LeafLoop>;

/// Collects the loops around each leaf of a statement as it was scheduled.
void collect_scheduled(const concrete_notation::StatementPtr& statement, Path path,
                       std::vector<Path>& paths) {
  concrete_notation::match(
      statement->node,
      [&](const concrete_notation::Forall& loop) {
        path.push_back({loop.index});
        collect_scheduled(loop.body, std::move(path), paths);
      },
      [&](const concrete_notation::Blocks& blocks) {
        path.push_back({blocks.index, true});
        collect_scheduled(blocks.body, std::move(path), paths);
      },
      [&](const concrete_notation::Where& branch) {
        collect_scheduled(branch.producer, path, paths);
        collect_scheduled(branch.consumer, std::move(path), paths);
      },
      [&](const concrete_notation::Terms& sum) {
        for (const auto& term : sum.terms) collect_scheduled(term, path, paths);
      },
      [&](const concrete_notation::Assign&) { paths.push_back(std::move(path)); });
}

/// Collects the loops around each leaf of the tree.
void collect_emitted(const NestTree& tree, const NestPtr& nest, Path path, std::vector<Path>& paths) {
  const auto name = [&](int index) { return tree.index_names[static_cast<std::size_t>(index)]; };
  std::visit(loop_ir::Match{
                 [&](const Loop& loop) {
                   path.push_back({name(loop.index), false, &loop});
                   collect_emitted(tree, loop.body, std::move(path), paths);
                 },
                 [&](const Blocks& blocks) {
                   path.push_back({name(blocks.index), true});
                   collect_emitted(tree, blocks.body, std::move(path), paths);
                 },
                 [&](const Branch& branch) {
                   collect_emitted(tree, branch.producer, path, paths);
                   collect_emitted(tree, branch.consumer, std::move(path), paths);
                 },
                 [&](const Terms& sum) {
                   for (const auto& term : sum.terms) collect_emitted(tree, term, path, paths);
                 },
                 [&](const Leaf&) { paths.push_back(std::move(path)); },
             },
             nest->node);
}

/// Leaves out the loops with one value: those of `scheduled` have the indices of those of `emitted`.
void leave_out_values(Path& scheduled, Path& emitted) {
  std::set<std::string> determined;
  for (const LeafLoop& each : emitted)
    if (each.loop != nullptr && each.loop->value) determined.insert(each.index);
  for (Path* path : {&scheduled, &emitted})
    std::erase_if(*path, [&](const LeafLoop& each) { return determined.count(each.index) > 0; });
}

/// A loop of the kernel and the phase that it is in.
struct KernelLoop {
  const For* loop = nullptr;
  const loop_ir::Phase* phase = nullptr;
};

/// Describes leaves by the loops of one kernel.
class Description {
 public:
  explicit Description(const Lowered& lowered)
      : lowered_(lowered),
        streaming_target_(loop_ir::streaming_target(lowered.kernel)),
        widened_(loop_ir::widened_arrays(lowered.kernel)) {
    for (const auto& phase : lowered.kernel.phases) {
      if (phase.step == loop_ir::Step::symbolic) continue;
      loop_ir::for_each_statement(phase.body, [&](const loop_ir::StatementPtr& each) {
        const auto* loop = loop_ir::as<For>(each);
        // A remainder has the variable of its jammed loop, which comes first.
        if (loop != nullptr) loops_.emplace(loop->variable, KernelLoop{loop, &phase});
        add_kept_rows(each);
      });
    }
  }

  LeafCode of(const Path& scheduled, const Path& emitted) const {
    LeafCode code;
    for (std::size_t n = 0; n < emitted.size(); ++n) {
      const auto found = find(emitted[n].loop);
      if (!found) continue;
      const bool innermost = !scheduled.empty() && emitted[n] == scheduled.back();
      code.numeric = code.numeric || found->phase->numeric != nullptr;
      if (found->loop->part == loop_ir::Part::jammed) {
        code.tile_loop = static_cast<int>(number(scheduled, emitted[n]));
        code.tile = static_cast<int>(found->loop->step);
      }
      if (innermost && emitted[n].loop->vector) code.kept = static_cast<int>(emitted.size() - 1 - n);
      if (innermost) code.lengths = lengths(*found);
      code.row_in_registers =
          code.row_in_registers || (innermost && adding_.count(found->loop->variable) > 0);
      code.streams = code.streams || streams(*found);
    }
    return code;
  }

 private:
  /// Notes the loops that add to rows which code generation keeps in registers.
  void add_kept_rows(const loop_ir::StatementPtr& statement) {
    const auto* block = loop_ir::as<loop_ir::Block>(statement);
    if (block == nullptr) return;
    for (auto at = block->statements.begin(); at != block->statements.end(); ++at) {
      const auto* fill = loop_ir::as<loop_ir::Fill>(*at);
      if (fill == nullptr) continue;
      const std::vector<loop_ir::StatementPtr> after(at + 1, block->statements.end());
      const auto row = loop_ir::kept_row(*fill, after, widened_);
      if (!row) continue;
      for (const auto& each : after) {
        loop_ir::for_each_statement(each, [&](const loop_ir::StatementPtr& inside) {
          const auto* loop = loop_ir::as<For>(inside);
          if (loop != nullptr && loop_ir::adds_to(*row, *loop)) adding_.insert(loop->variable);
        });
      }
    }
  }

  static std::size_t number(const Path& path, const LeafLoop& step) {
    return static_cast<std::size_t>(std::find(path.begin(), path.end(), step) - path.begin());
  }

  std::optional<KernelLoop> find(const Loop* loop) const {
    const auto variables = lowered_.variables.find(loop);
    if (variables == lowered_.variables.end()) return std::nullopt;
    for (const auto& variable : variables->second) {
      const auto found = loops_.find(variable);
      if (found != loops_.end()) return found->second;
    }
    return std::nullopt;
  }

  /// Returns the constant trips of the loop: its only ones, or those with a specialised copy of the phase.
  static std::vector<int> lengths(const KernelLoop& found) {
    if (found.loop->shape == loop_ir::Shape::scalar) return {};
    if (const auto* end = std::get_if<loop_ir::Integer>(&found.loop->end->node))
      return of_sizes({end->value});
    const auto* end = std::get_if<loop_ir::Name>(&found.loop->end->node);
    const auto& specialised = found.phase->specialised;
    if (end == nullptr || !specialised) return {};
    const auto& extents = specialised->extents;
    if (std::count(extents.begin(), extents.end(), end->name) == 0) return {};
    return of_sizes(specialised->sizes);
  }
  static std::vector<int> of_sizes(const std::vector<std::int64_t>& sizes) {
    std::vector<int> out;
    for (const std::int64_t size : sizes)
      if (std::in_range<int>(size)) out.push_back(static_cast<int>(size));
    return out;
  }

  bool streams(const KernelLoop& found) const {
    if (streaming_target_.empty() || found.loop->shape == loop_ir::Shape::scalar) return false;
    return loop_ir::sets_by_vectors(loop_ir::make(*found.loop), streaming_target_);
  }

  const Lowered& lowered_;
  const std::string streaming_target_;
  const std::map<std::string, loop_ir::ValueType> widened_;
  std::map<std::string, KernelLoop> loops_;  ///< by variable
  std::set<std::string> adding_;             ///< variables of loops that add to a row in registers
};

}  // namespace

std::vector<LeafCode> describe(const concrete_notation::StatementPtr& statement, const Lowered& lowered) {
  std::vector<Path> scheduled, emitted;
  collect_scheduled(statement, {}, scheduled);
  collect_emitted(lowered.tree, lowered.tree.root, {}, emitted);
  SCHAAS_CHECK(scheduled.size() == emitted.size(), "lowering changed the number of leaves");
  const Description description(lowered);
  std::vector<LeafCode> codes;
  for (std::size_t n = 0; n < scheduled.size(); ++n) {
    leave_out_values(scheduled[n], emitted[n]);
    codes.push_back(description.of(scheduled[n], emitted[n]));
  }
  return codes;
}

}  // namespace schaas::lower
