#include "compiler/pipeline/variants.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "compiler/lower/lower.h"
#include "compiler/pipeline/pipeline.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/schedule/section.h"

// Variants of a schedule have one symbolic cost and differ in what moves through caches, which clients
// predict. Each costs a tree and a kernel in loop IR, so their number is bounded for a frontier and for an
// entry. They are made once, when a frontier was found.
namespace schaas::pipeline {
namespace {

using concrete_notation::StatementPtr;
using frontier::Survivor;
using support::Result;

/// Variants of a frontier beyond one for each entry.
constexpr std::size_t max_extra_variants = 48;
constexpr std::size_t max_extra_variants_of_entry = 4;
/// Values per block (docs/performance/kernels.md): entries of a sparse row, or rows.
constexpr int entries_in_block = 8;
constexpr int rows_in_block = 48;
constexpr int summed_in_block = 32;

/// Appends a block for each branch that shares a loop with its own section alone, outermost first.
void add_blocks(const StatementPtr& tree, const schedule::Path& path, bool in_common, bool sparse,
                const cost::Variables& variables, std::vector<schedule::Block>& blocks) {
  if (const auto* loop = std::get_if<concrete_notation::Forall>(&tree->node)) {
    // A loop that merges several lists would search its position in each of them again for every block.
    const auto fibers =
        std::count_if(variables.fibers.begin(), variables.fibers.end(),
                      [&](const cost::Variable& v) { return cost::is_fiber(v) && v.index == loop->index; });
    add_blocks(loop->body, path, fibers <= 1, fibers > 0, variables, blocks);
  } else if (const auto* branch = std::get_if<concrete_notation::Where>(&tree->node)) {
    if (in_common) blocks.push_back({path, sparse ? entries_in_block : rows_in_block});
    for (const int side : {0, 1}) {
      schedule::Path below = path;
      below.push_back(side);
      add_blocks(side == 0 ? branch->producer : branch->consumer, below, false, false, variables, blocks);
    }
  }
}

/// Enlarges the last block of `blocked` where its branch sums over the blocked entries. The sum moves next to
/// the row it adds to, which then stays in registers. Returns none where the branch does not sum over them.
std::optional<schedule::Trace> summed_by_block(schedule::Trace blocked, const StatementPtr& tree) {
  auto& block = std::get<schedule::Block>(blocked.directives.back());
  schedule::Path consumer = block.path;
  consumer.push_back(1);
  const auto section = schedule::find_section(tree, consumer);
  if (!section.ok() || section->loops.size() < 3) return std::nullopt;
  std::vector<std::string> order = section->loops;
  const auto& written = section->target.indices;
  if (std::find(written.begin(), written.end(), order.front()) != written.end()) return std::nullopt;
  std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  block.size = summed_in_block;
  blocked.directives.emplace_back(schedule::Reorder{consumer, order});
  return blocked;
}

/// The variants of one survivor, at most `more` beside its own trace.
class Variants {
 public:
  Variants(const problem::Problem& problem, std::size_t more) : problem_(problem), more_(more) {}

  std::vector<frontier::Variant> of(const Survivor& survivor) {
    const schedule::Trace& own = survivor.traces.front();
    const StatementPtr tree = add(own);
    if (!tree || !problem::is_contraction(problem_)) return std::move(variants_);
    add_blocked(own, tree);
    for (std::size_t t = 1; t < survivor.traces.size(); ++t) add(survivor.traces[t]);
    return std::move(variants_);
  }

 private:
  void add_blocked(const schedule::Trace& own, const StatementPtr& tree) {
    // Sparse results cannot be appended to in blocks.
    if (!problem_.formats.at(problem_.statement.result.tensor).all_dense()) return;
    std::vector<schedule::Block> blocks;
    add_blocks(tree, {}, false, false, cost::variables_of(problem_), blocks);
    for (const schedule::Block& block : blocks) {
      schedule::Trace blocked = own;
      blocked.directives.emplace_back(block);
      const StatementPtr made = add(blocked);
      if (!made || block.size != entries_in_block) continue;
      if (const auto summed = summed_by_block(blocked, made)) add(*summed);
    }
  }

  /// Returns the tree of the added variant; null: not added.
  StatementPtr add(const schedule::Trace& trace) {
    if (variants_.size() > more_) return nullptr;
    const auto tree = schedule::apply(trace, problem_);
    if (!tree.ok()) return nullptr;
    auto code = describe_tree(*tree, trace);
    // A schedule that cannot be lowered is told as it is: clients then know nothing of its code.
    variants_.push_back(
        {trace, code.ok() ? std::move(code).value() : std::vector<concrete_notation::LeafCode>{}});
    return *tree;
  }

  Result<std::vector<concrete_notation::LeafCode>> describe_tree(const StatementPtr& tree,
                                                                 const schedule::Trace& trace) const {
    SCHAAS_ASSIGN_OR_RETURN(const auto with_copies, schedule::problem_of(trace, problem_));
    return lower::describe(tree, with_copies);
  }

  const problem::Problem& problem_;
  const std::size_t more_;
  std::vector<frontier::Variant> variants_;
};

}  // namespace

Result<std::vector<concrete_notation::LeafCode>> describe(const problem::Problem& problem,
                                                          const schedule::Trace& trace) {
  SCHAAS_ASSIGN_OR_RETURN(const auto tree, schedule::apply(trace, problem));
  SCHAAS_ASSIGN_OR_RETURN(const auto with_copies, schedule::problem_of(trace, problem));
  return lower::describe(tree, with_copies);
}

void add_variants(frontier::Frontier& frontier, const problem::Problem& problem) {
  frontier.code_version = code_version;
  if (problem.profile != problem::Profile::standard) return;
  // Long frontiers have fewer variants for each entry.
  const std::size_t more = std::min(max_extra_variants / std::max<std::size_t>(frontier.survivors.size(), 1),
                                    max_extra_variants_of_entry);
  for (Survivor& survivor : frontier.survivors) survivor.variants = Variants(problem, more).of(survivor);
}

}  // namespace schaas::pipeline
