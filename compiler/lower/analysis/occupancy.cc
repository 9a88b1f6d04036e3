#include "compiler/lower/analysis/occupancy.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/loop_ir/nodes.h"
#include "compiler/lower/analysis/iteration_space.h"

// Two kinds of temporaries keep a list of what was written. One is read only to append its elements to a
// sparse result. The other is a vector whose readers contribute nothing where it holds its start value: they
// walk its list instead of its extent. A list pays where the producer leaves elements out.
namespace schaas::lower {
namespace {

using loop_ir::Match;

class OccupiedTemporaries {
 public:
  explicit OccupiedTemporaries(NestTree& tree) : tree_(tree) {}

  /// Gives sparse accumulators to temporaries of which few elements may be written. `inside`: inside a loop,
  /// so the temporary is private to a thread.
  void track(const NestPtr& nest, bool inside) {
    std::visit(Match{
                   [&](const Loop& loop) { track(loop.body, true); },
                   [&](const Blocks& blocks) { track(blocks.body, true); },
                   [&](const Branch& branch) {
                     track(branch.producer, inside);
                     track(branch.consumer, inside);
                     accumulate_appended(branch);
                     if (inside) occupancy_factor(branch);
                   },
                   [&](const Terms& sum) {
                     for (const auto& term : sum.terms) track(term, inside);
                   },
                   [](const Leaf&) {},
               },
               nest->node);
  }

 private:
  /// Gives an occupancy list to a vector written at the entries of something sparse whose readers are zero
  /// where it is: `2 * w(k)`, `relu(w(k))`, `w(k) / s`. Their loops then skip its zeros (ReACT, section 4.5),
  /// and a sparse result gets the entries that were written.
  void occupancy_factor(const Branch& branch) {
    const Operand& written = tree_.operands[static_cast<std::size_t>(target_of(branch.producer))];
    const Tensor& temporary = tree_.tensors[static_cast<std::size_t>(branch.temporary)];
    if (written.indices.size() != 1 || temporary.occupancy_levels > 0 ||
        temporary.fill != tree_.semiring->zero)
      return;
    if (!writes_few(branch.producer, written.indices.front())) return;
    std::vector<const Loop*> around;
    if (reads_at_entries(branch.consumer, branch.temporary, around).value_or(false))
      tree_.tensors[static_cast<std::size_t>(branch.temporary)].occupancy_levels = 1;
  }

  /// The loops over the index, of each term of a sum, leave out some of its values.
  bool writes_few(const NestPtr& producer, int index) const {
    if (const auto* sum = std::get_if<Terms>(&producer->node))
      return std::all_of(sum->terms.begin(), sum->terms.end(),
                         [&](const NestPtr& term) { return writes_few(term, index); });
    const Loop* writes = loop_over(producer, index);
    if (writes == nullptr || writes->block) return false;
    const LoopSpace writing = loop_space(writes->body, writes->index, tree_);
    return writing.kind != LoopSpace::Kind::range && !writing.whole;
  }

  /// Every loop that reads the vector may walk a list of its entries. Nothing: no leaf below reads it.
  std::optional<bool> reads_at_entries(const NestPtr& nest, int vector,
                                       std::vector<const Loop*>& around) const {
    const auto all = [&](const std::vector<NestPtr>& parts) {
      std::optional<bool> every;
      for (const NestPtr& part : parts) {
        const auto found = reads_at_entries(part, vector, around);
        if (found) every = every.value_or(true) && *found;
      }
      return every;
    };
    return std::visit(Match{
                          [&](const Loop& loop) {
                            around.push_back(&loop);
                            const auto found = reads_at_entries(loop.body, vector, around);
                            around.pop_back();
                            return found;
                          },
                          [&](const Blocks& blocks) {
                            const auto found = reads_at_entries(blocks.body, vector, around);
                            return found ? std::optional(false) : std::nullopt;
                          },
                          [&](const Branch& inner) {
                            return all({inner.producer, inner.consumer});
                          },
                          [&](const Terms& sum) { return all(sum.terms); },
                          [&](const Leaf& leaf) -> std::optional<bool> {
                            std::optional<bool> every;
                            for (const int factor : leaf.factors) {
                              const Operand& read = tree_.operands[static_cast<std::size_t>(factor)];
                              if (read.tensor != vector) continue;
                              every = every.value_or(true) && reads_at_entries(leaf, factor, around);
                            }
                            return every;
                          },
                      },
                      nest->node);
  }

  bool reads_at_entries(const Leaf& leaf, int factor, const std::vector<const Loop*>& around) const {
    const int index = tree_.operands[static_cast<std::size_t>(factor)].indices.front();
    const auto reads =
        std::find_if(around.rbegin(), around.rend(), [&](const Loop* loop) { return loop->index == index; });
    if (reads == around.rend() || (*reads)->block || !is_chain((*reads)->body)) return false;
    const LoopSpace reading = loop_space((*reads)->body, index, tree_);
    return reading.kind == LoopSpace::Kind::range && reading.located.empty() &&
           vanishes_with(leaf, factor, index) && !reads_beside_a_list(leaf, factor, index);
  }

  /// The loop over the index walks the list of another factor and reads this one where it may be unwritten.
  /// It holds 0 there, which is not its fill value.
  bool reads_beside_a_list(const Leaf& leaf, int factor, int index) const {
    const int vector = tree_.operands[static_cast<std::size_t>(factor)].tensor;
    if (tree_.tensors[static_cast<std::size_t>(vector)].fill == 0) return false;
    return std::any_of(leaf.factors.begin(), leaf.factors.end(), [&](int other) {
      const Operand& read = tree_.operands[static_cast<std::size_t>(other)];
      return read.tensor != vector && level_of(read, index) >= 0 &&
             tree_.tensors[static_cast<std::size_t>(read.tensor)].occupancy_levels > 0;
    });
  }

  /// The leaf contributes nothing where the factor, a vector over the index, holds its fill value.
  bool vanishes_with(const Leaf& leaf, int factor, int index) const {
    // The merge lattice answers, with the vector taken to be compressed.
    NestTree sparse = tree_;
    const int vector = tree_.operands[static_cast<std::size_t>(factor)].tensor;
    sparse.tensors[static_cast<std::size_t>(vector)].levels.front() = format::LevelFormat::compressed;
    const Operand& target = tree_.operands[static_cast<std::size_t>(leaf.target)];
    const double start = tree_.tensors[static_cast<std::size_t>(target.tensor)].fill;
    return implies(merge_lattice::contributing(leaf_space(leaf, index, sparse), start), {factor, 0});
  }

  /// Returns the loop over `index` on the way to the only leaf that the statement exists for.
  static const Loop* loop_over(const NestPtr& nest, int index) {
    if (const auto* branch = std::get_if<Branch>(&nest->node)) return loop_over(branch->consumer, index);
    if (const auto* blocks = std::get_if<Blocks>(&nest->node)) return loop_over(blocks->body, index);
    const auto* loop = std::get_if<Loop>(&nest->node);
    if (loop == nullptr || loop->index == index) return loop;
    return loop_over(loop->body, index);
  }

  /// Gives occupancy down to the result's last sparse level to a temporary that is walked only to append.
  void accumulate_appended(const Branch& branch) {
    std::vector<int> loops;
    const NestPtr* at = &branch.consumer;
    while (const auto* loop = std::get_if<Loop>(&(*at)->node)) {
      loops.push_back(loop->index);
      at = &loop->body;
    }
    const auto* leaf = std::get_if<Leaf>(&(*at)->node);
    if (leaf == nullptr || leaf->value || leaf->scale || leaf->factors.size() != 1) return;
    const Operand& read = tree_.operands[static_cast<std::size_t>(leaf->factors.front())];
    const Operand& target = tree_.operands[static_cast<std::size_t>(leaf->target)];
    const auto& levels = tree_.tensors[static_cast<std::size_t>(target.tensor)].levels;
    const auto last = std::find_if(levels.rbegin(), levels.rend(), format::is_sparse);
    if (read.tensor != branch.temporary || read.indices != loops || last == levels.rend()) return;
    const auto above = levels.size() - loops.size();
    const auto sparse = static_cast<std::size_t>(levels.rend() - last);
    if (!std::equal(loops.begin(), loops.end(),
                    target.indices.end() - static_cast<std::ptrdiff_t>(loops.size())) ||
        sparse <= above)
      return;
    tree_.tensors[static_cast<std::size_t>(branch.temporary)].occupancy_levels =
        static_cast<int>(sparse - above);
  }

  NestTree& tree_;
};

}  // namespace

void give_occupancy(NestTree& tree) {
  const NestPtr root = tree.root;
  OccupiedTemporaries(tree).track(root, false);
}

}  // namespace schaas::lower
