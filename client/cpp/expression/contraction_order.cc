#include "client/cpp/expression/contraction_order.h"

#include <algorithm>
#include <bit>
#include <bitset>
#include <cmath>
#include <limits>
#include <memory>
#include <random>

#include "compiler/support/limits.h"

// Orders of long products. Exact dynamic programming is that of opt_einsum (Smith and Gray, JOSS 2018). Noisy
// greedy orders and reconfigured subtrees are those of cotengra (Gray and Kourtis, Quantum 2021). A set of
// operands keeps the indices that the result or an operand outside has, whatever the order within. So the
// cost of a set is the least over its divisions in two. Multiplications of a step are the product of the
// extents of all indices of its two tensors.
namespace schaas::client {
namespace {

using IndexBits = std::bitset<max_ordered_indices>;

/// Greedy orders that are tried, and of these how many are reconfigured.
constexpr int greedy_orders = 48, reconfigured_orders = 8, passes = 24;
/// Tensors of a subtree that is replaced by its exact order.
constexpr std::size_t subtree_leaves = 8;
/// Charge for steps with more indices than a problem may have. Its tensors may have as many modes.
constexpr double too_many_indices = 1e30;
static_assert(support::Limits::order == support::Limits::indices);

struct Node;
using NodePtr = std::shared_ptr<const Node>;
/// A contraction tree: an operand, or the contraction of two trees.
struct Node {
  IndexBits indices;  ///< indices of the result
  std::size_t operand = 0;
  NodePtr left{}, right{};
  double multiplications = 0;  ///< those of the whole tree
};

class Orders {
 public:
  Orders(const std::vector<Access>& operands, const std::vector<std::string>& result,
         const std::map<std::string, std::int64_t>& extents) {
    for (const auto& [index, extent] : extents) {
      names_.push_back(index);
      extents_.push_back(static_cast<double>(std::max<std::int64_t>(extent, 1)));
    }
    result_ = set_of(result);
    for (std::size_t n = 0; n < operands.size(); ++n)
      leaves_.push_back(std::make_shared<const Node>(Node{set_of(operands[n].indices), n}));
  }

  ContractionOrder run() {
    const bool exact = leaves_.size() <= max_exact_operands;
    ContractionOrder out = written(exact ? best_of(leaves_) : best_found());
    out.is_exact = exact;
    return out;
  }

 private:
  IndexBits set_of(const std::vector<std::string>& indices) const {
    IndexBits set;
    for (const std::string& index : indices)
      set.set(
          static_cast<std::size_t>(std::lower_bound(names_.begin(), names_.end(), index) - names_.begin()));
    return set;
  }

  double size(const IndexBits& indices) const {
    double product = 1;
    for (std::size_t n = indices._Find_first(); n < indices.size(); n = indices._Find_next(n))
      product *= extents_[n];
    return product;
  }

  /// Multiplications of a step over these indices.
  double charge(const IndexBits& all) const {
    return size(all) * (all.count() > support::Limits::indices ? too_many_indices : 1);
  }

  /// Returns the contraction of two trees to the indices `kept`.
  NodePtr contracted(const NodePtr& left, const NodePtr& right, const IndexBits& kept) const {
    const double own = charge(left->indices | right->indices);
    return std::make_shared<const Node>(
        Node{kept, 0, left, right, left->multiplications + right->multiplications + own});
  }

  /// Returns the contraction of two trees; `outside`: the indices of all other tensors.
  NodePtr joined(const NodePtr& left, const NodePtr& right, const IndexBits& outside) const {
    return contracted(left, right, (left->indices | right->indices) & (outside | result_));
  }

  /// Returns the exact order of some trees whose contraction keeps `kept`.
  NodePtr best_of(const std::vector<NodePtr>& trees, const IndexBits& kept) const {
    const std::size_t sets = std::size_t{1} << trees.size();
    std::vector<IndexBits> inside(sets);
    std::vector<double> least(sets, std::numeric_limits<double>::infinity());
    std::vector<std::size_t> division(sets);
    for (std::size_t set = 1; set < sets; ++set) {
      const auto first = static_cast<std::size_t>(std::countr_zero(set));
      inside[set] = inside[set & (set - 1)] | trees[first]->indices;
    }
    std::vector<IndexBits> left_over(sets);
    for (std::size_t set = 1; set < sets; ++set)
      left_over[set] = inside[set] & (inside[sets - 1 - set] | kept);
    for (std::size_t set = 1; set < sets; ++set) {
      if ((set & (set - 1)) == 0) {
        left_over[set] = inside[set];  // an operand keeps its indices until it is contracted
        least[set] = 0;
        continue;
      }
      for (std::size_t part = (set - 1) & set; part > set - part; part = (part - 1) & set) {
        const double cost = least[part] + least[set - part];
        if (cost >= least[set]) continue;
        const double whole = cost + charge(left_over[part] | left_over[set - part]);
        if (whole >= least[set]) continue;
        least[set] = whole;
        division[set] = part;
      }
    }
    return tree_of(sets - 1, trees, division, left_over);
  }
  NodePtr best_of(const std::vector<NodePtr>& trees) const { return best_of(trees, result_); }

  NodePtr tree_of(std::size_t set, const std::vector<NodePtr>& trees,
                  const std::vector<std::size_t>& division, const std::vector<IndexBits>& left_over) const {
    if ((set & (set - 1)) == 0) return trees[static_cast<std::size_t>(std::countr_zero(set))];
    // The left part has the first operand, so that a chain of matrices is multiplied as it is written.
    return contracted(tree_of(set - division[set], trees, division, left_over),
                      tree_of(division[set], trees, division, left_over), left_over[set]);
  }

  /// Contracts, again and again, the two trees whose result is smallest beside them. `noise` 0: no noise.
  NodePtr greedy(double noise, std::mt19937_64& random) const {
    std::vector<NodePtr> trees = leaves_;
    const auto gumbel = [&] {
      const double uniform = (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53;
      return -std::log(-std::log(uniform));
    };
    while (trees.size() > 1) {
      std::vector<int> readers(names_.size());
      for (const NodePtr& tree : trees)
        for (std::size_t n = 0; n < names_.size(); ++n) readers[n] += tree->indices[n] ? 1 : 0;
      std::size_t best_a = 0, best_b = 1;
      double best = std::numeric_limits<double>::infinity();
      bool best_meets = false;
      for (std::size_t a = 0; a < trees.size(); ++a) {
        for (std::size_t b = a + 1; b < trees.size(); ++b) {
          const IndexBits both = trees[a]->indices & trees[b]->indices;
          if (best_meets && both.none()) continue;
          IndexBits kept = trees[a]->indices | trees[b]->indices;
          for (std::size_t n = kept._Find_first(); n < kept.size(); n = kept._Find_next(n))
            if (!result_[n] && readers[n] == (both[n] ? 2 : 1)) kept.reset(n);
          const double grown = charge(kept) - size(trees[a]->indices) - size(trees[b]->indices);
          const double score =
              std::copysign(std::log1p(std::fabs(grown)), grown) - (noise > 0 ? noise * gumbel() : 0);
          if (best_meets == both.any() && score >= best) continue;
          best = score, best_a = a, best_b = b, best_meets = both.any();
        }
      }
      IndexBits outside;
      for (std::size_t n = 0; n < trees.size(); ++n)
        if (n != best_a && n != best_b) outside |= trees[n]->indices;
      trees[best_a] = joined(trees[best_a], trees[best_b], outside);
      trees.erase(trees.begin() + static_cast<std::ptrdiff_t>(best_b));
    }
    return trees.front();
  }

  /// Returns the trees that random ones below are opened into, at most `subtree_leaves`.
  static std::vector<NodePtr> opened(const NodePtr& tree, std::mt19937_64& random) {
    std::vector<NodePtr> closed = {tree}, parts;
    while (!closed.empty() && closed.size() + parts.size() < subtree_leaves) {
      const auto at = closed.begin() + static_cast<std::ptrdiff_t>(random() % closed.size());
      const NodePtr part = *at;
      closed.erase(at);
      for (const NodePtr& below : {part->left, part->right}) (below->left ? closed : parts).push_back(below);
    }
    parts.insert(parts.end(), closed.begin(), closed.end());
    return parts;
  }

  /// Replaces the top of each subtree by its exact order.
  NodePtr reconfigured(const NodePtr& tree, std::mt19937_64& random) const {
    if (!tree->left) return tree;
    const auto parts = opened(tree, random);
    NodePtr better = parts.size() > 2 ? best_of(parts, tree->indices) : tree;
    if (better->multiplications >= tree->multiplications * (1 - 1e-12)) better = tree;
    const NodePtr left = reconfigured(better->left, random);
    return contracted(left, reconfigured(better->right, random), better->indices);
  }

  NodePtr best_found() const {
    std::mt19937_64 random(1);
    std::vector<NodePtr> trees;
    for (int n = 0; n < greedy_orders; ++n) trees.push_back(greedy(n == 0 ? 0 : 0.1 * (1 + n % 10), random));
    const auto takes_less = [](const NodePtr& a, const NodePtr& b) {
      return a->multiplications < b->multiplications;
    };
    std::stable_sort(trees.begin(), trees.end(), takes_less);
    trees.resize(reconfigured_orders);
    for (NodePtr& tree : trees) {
      for (int pass = 0; pass < passes; ++pass) tree = reconfigured(tree, random);
    }
    return *std::min_element(trees.begin(), trees.end(), takes_less);
  }

  std::size_t write(const NodePtr& tree, ContractionOrder& out) const {
    if (!tree->left) return tree->operand;
    const std::size_t left = write(tree->left, out), right = write(tree->right, out);
    out.steps.emplace_back(left, right);
    std::vector<std::string> indices;
    for (std::size_t n = 0; n < names_.size(); ++n)
      if (tree->indices[n]) indices.push_back(names_[n]);
    out.indices.push_back(std::move(indices));
    return leaves_.size() + out.steps.size() - 1;
  }

  ContractionOrder written(const NodePtr& tree) const {
    ContractionOrder out;
    out.multiplications = tree->multiplications;
    write(tree, out);
    return out;
  }

  std::vector<std::string> names_;  ///< sorted
  std::vector<double> extents_;
  IndexBits result_;
  std::vector<NodePtr> leaves_;
};

}  // namespace

ContractionOrder contraction_order(const std::vector<Access>& operands,
                                   const std::vector<std::string>& result,
                                   const std::map<std::string, std::int64_t>& extents) {
  return Orders(operands, result, extents).run();
}

}  // namespace schaas::client
