#include "tests/support/counted_work.h"

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/cost/leaf_nests.h"

// Runs the loops of a tree over stored coordinates, computes nothing, and counts iterations, steps of merges
// and cleared elements. Patterns are sets of coordinate paths; a merge advances all lists at the minimum
// coordinate. No cost formula is used: compiler/cost provides the weight of each leaf's access class and the
// list of variables, no more. counted_point() averages each variable over the paths that lead to its lists. A
// cost evaluated there must be near the count, and several_sparse_test.cc bounds the ratio.
namespace schaas::test_support {
namespace {

using concrete_notation::Assign;
using concrete_notation::Forall;
using concrete_notation::StatementPtr;
using concrete_notation::Where;
using index_notation::Access;
using Coordinates = std::vector<std::int64_t>;

/// The stored coordinates of one tensor, level by level in storage order.
class Stored {
 public:
  Stored(const RandomTensor& tensor, const format::TensorFormat& format) : format_(format) {
    const auto& extents = tensor.dense.extents;
    for (int mode : format.mode_order) extents_.push_back(extents[static_cast<std::size_t>(mode)]);
    Coordinates modes(extents.size(), 0);
    for (std::size_t n = 0; n < tensor.stored.size(); ++n) {
      std::size_t left = n;
      for (std::size_t mode = extents.size(); mode-- > 0;) {
        const auto extent = static_cast<std::size_t>(extents[mode]);
        modes[mode] = static_cast<std::int64_t>(left % extent);
        left /= extent;
      }
      if (!tensor.stored[n]) continue;
      Coordinates path;
      for (int mode : format.mode_order) {
        path.push_back(modes[static_cast<std::size_t>(mode)]);
        stored_.insert(path);
      }
    }
  }

  bool compressed(std::size_t level) const { return format::is_sparse(format_.levels[level]); }
  const format::TensorFormat& format() const { return format_; }

  /// The coordinates of a level below those of the levels above.
  Coordinates below(const Coordinates& above) const {
    Coordinates list;
    Coordinates path = above;
    path.push_back(0);
    for (std::int64_t x = 0; x < extents_[above.size()]; ++x) {
      path.back() = x;
      if (!compressed(above.size()) || stored_.count(path) != 0) list.push_back(x);
    }
    return list;
  }

  /// Every path to an entry of the level above `level`.
  std::vector<Coordinates> parents(std::size_t level) const {
    std::vector<Coordinates> paths{{}};
    for (std::size_t above = 0; above < level; ++above) {
      std::vector<Coordinates> longer;
      for (const Coordinates& path : paths) {
        for (const std::int64_t x : below(path)) {
          longer.push_back(path);
          longer.back().push_back(x);
        }
      }
      paths = std::move(longer);
    }
    return paths;
  }

 private:
  format::TensorFormat format_;
  Coordinates extents_;
  std::set<Coordinates> stored_;
};

/// Common coordinates of several lists, and the steps of their merge.
struct Merged {
  Coordinates common;
  double steps = 0;
};

/// Advances, step by step, the lists at the least coordinate, until one of them ends.
Merged merged(const std::vector<Coordinates>& lists) {
  Merged result;
  std::vector<std::size_t> at(lists.size(), 0);
  const auto ended = [&](std::size_t n) { return at[n] == lists[n].size(); };
  while (true) {
    std::int64_t least = -1;
    for (std::size_t n = 0; n < lists.size(); ++n) {
      if (ended(n)) return result;
      least = least < 0 ? lists[n][at[n]] : std::min(least, lists[n][at[n]]);
    }
    ++result.steps;
    std::size_t holders = 0;
    for (std::size_t n = 0; n < lists.size(); ++n) {
      if (lists[n][at[n]] != least) continue;
      ++holders;
      ++at[n];
    }
    if (holders == lists.size()) result.common.push_back(least);
  }
}

/// Walks a tree over one input, with the coordinates bound so far.
class Counter {
 public:
  Counter(const problem::Problem& problem, const RandomInput& input, std::vector<cost::LeafNest> nests)
      : problem_(problem), input_(input), nests_(std::move(nests)) {
    for (const auto& [name, tensor] : input.operands)
      stored_.emplace(name, Stored(tensor, problem.formats.at(name)));
    for (const problem::Copy& copy : problem.copies) {
      const RandomTensor& original = input.operands.at(copy.tensor);
      stored_.emplace(copy.name, Stored(original, problem.formats.at(copy.name)));
      work_.copied += static_cast<double>(std::count(original.stored.begin(), original.stored.end(), true));
    }
  }

  CountedWork run(const StatementPtr& tree) {
    walk(tree, 0);
    return work_;
  }

 private:
  /// Counts a statement whose first leaf is number `leaf`; returns the iterations of its leaves.
  double walk(const StatementPtr& statement, std::size_t leaf) {
    if (const auto* loop = std::get_if<Forall>(&statement->node)) return over(*loop, leaf);
    if (const auto* both = std::get_if<Where>(&statement->node)) {
      const double written = walk(both->producer, leaf);
      clear(*both, written);
      return written + walk(both->consumer, leaf + leaves(both->producer));
    }
    work_.leaves += cost::weight(nests_.at(leaf).access);
    return 1;
  }

  /// Counts a loop and everything below it; returns the iterations of its leaves.
  double over(const Forall& loop, std::size_t leaf) {
    std::vector<Coordinates> lists = lists_of(loop);
    Merged visited;
    if (lists.empty()) {
      for (std::int64_t x = 0; x < input_.extents.at(loop.index); ++x) visited.common.push_back(x);
    } else if (lists.size() == 1) {
      visited.common = lists.front();
    } else {
      visited = merged(lists);
      work_.steps += visited.steps;
    }
    double iterations = 0;
    for (const std::int64_t x : visited.common) {
      bound_[loop.index] = x;
      iterations += walk(loop.body, leaf);
    }
    bound_.erase(loop.index);
    return iterations;
  }

  /// The compressed levels with the loop's index, of each access below once.
  std::vector<Coordinates> lists_of(const Forall& loop) const {
    std::vector<Coordinates> lists;
    std::set<std::pair<std::string, std::vector<std::string>>> seen;
    for (const Access& read : concrete_notation::reads(loop.body)) {
      const auto known = stored_.find(read.tensor);
      if (known == stored_.end() || !seen.insert({read.tensor, read.indices}).second) continue;
      Coordinates above;
      for (const int mode : known->second.format().mode_order) {
        const std::string& index = read.indices[static_cast<std::size_t>(mode)];
        if (index == loop.index) {
          if (known->second.compressed(above.size())) lists.push_back(known->second.below(above));
          break;
        }
        if (bound_.count(index) == 0) break;
        above.push_back(bound_.at(index));
      }
    }
    return lists;
  }

  /// Returns the number of assignments.
  static std::size_t leaves(const StatementPtr& statement) {
    if (const auto* loop = std::get_if<Forall>(&statement->node)) return leaves(loop->body);
    if (const auto* both = std::get_if<Where>(&statement->node))
      return leaves(both->producer) + leaves(both->consumer);
    return 1;
  }

  /// A temporary between phases is cleared whole; one inside a phase, where its producer's loops leave
  /// elements out, is what was written, at most.
  void clear(const Where& both, double written) {
    const auto& indices = concrete_notation::leaf_of(both.producer).target.indices;
    if (indices.empty()) return;
    double elements = 1;
    for (const std::string& index : indices) elements *= static_cast<double>(input_.extents.at(index));
    if (bound_.empty())
      work_.cleared += elements;
    else if (written < elements)
      work_.cleared += written;
  }

  const problem::Problem& problem_;
  const RandomInput& input_;
  std::vector<cost::LeafNest> nests_;
  std::map<std::string, Stored> stored_;
  std::map<std::string, std::int64_t> bound_;
  CountedWork work_;
};

/// Mean entries of a level under an entry of the level above.
double mean_fiber(const Stored& stored, std::size_t level) {
  const auto parents = stored.parents(level);
  double entries = 0;
  for (const Coordinates& parent : parents) entries += static_cast<double>(stored.below(parent).size());
  return parents.empty() ? 1 : entries / static_cast<double>(parents.size());
}

/// Every choice of an entry above each list whose indices agree.
void each_choice(const std::vector<cost::Variable>& lists, const std::map<std::string, Stored>& stored,
                 std::size_t at, std::map<std::string, std::int64_t>& bound, std::vector<Coordinates>& chosen,
                 Merged& sum, double& choices) {
  if (at == lists.size()) {
    const Merged one = merged(chosen);
    sum.common.insert(sum.common.end(), one.common.begin(), one.common.end());
    sum.steps += one.steps;
    ++choices;
    return;
  }
  const Stored& tensor = stored.at(lists[at].tensor);
  for (const Coordinates& parent : tensor.parents(static_cast<std::size_t>(lists[at].level))) {
    const auto before = bound;
    bool agrees = true;
    for (std::size_t n = 0; n < parent.size(); ++n) {
      const auto [known, added] = bound.emplace(lists[at].outer[n], parent[n]);
      agrees = agrees && known->second == parent[n];
    }
    if (agrees) {
      chosen.push_back(tensor.below(parent));
      each_choice(lists, stored, at + 1, bound, chosen, sum, choices);
      chosen.pop_back();
    }
    bound = before;
  }
}

}  // namespace

CountedWork counted_work(const StatementPtr& tree, const problem::Problem& problem,
                         const RandomInput& input) {
  return Counter(problem, input, cost::leaf_nests(tree, problem)).run(tree);
}

cost::Point counted_point(const problem::Problem& problem, const RandomInput& input) {
  const cost::Variables variables = cost::variables_of(problem);
  std::map<std::string, Stored> stored;
  for (const auto& [name, tensor] : input.operands)
    stored.emplace(name, Stored(tensor, problem.formats.at(name)));
  // What copies store says nothing here.
  const auto is_known = [&](const cost::Variable& fiber) { return stored.count(fiber.tensor) != 0; };
  cost::Point point(static_cast<std::size_t>(cost::Variables::first_fiber), 1);
  for (std::size_t n = 0; n < variables.extents.size(); ++n)
    point[n] = static_cast<double>(input.extents.at(variables.extents[n].index));
  for (const cost::Variable& variable : variables.fibers) {
    if (!(cost::is_fiber(variable) ? is_known(variable)
                                   : std::all_of(variable.lists.begin(), variable.lists.end(), is_known))) {
      point.push_back(1);
      continue;
    }
    if (cost::is_fiber(variable)) {
      point.push_back(mean_fiber(stored.at(variable.tensor), static_cast<std::size_t>(variable.level)));
      continue;
    }
    Merged sum;
    double choices = 0;
    std::map<std::string, std::int64_t> bound;
    std::vector<Coordinates> chosen;
    each_choice(variable.lists, stored, 0, bound, chosen, sum, choices);
    const double all =
        variable.kind == cost::Variable::Kind::steps ? sum.steps : static_cast<double>(sum.common.size());
    point.push_back(choices == 0 ? 0 : all / choices);
  }
  return point;
}

}  // namespace schaas::test_support
