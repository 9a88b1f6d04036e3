#include "compiler/space/space.h"

#include <algorithm>
#include <map>

#include "compiler/space/classes.h"
#include "compiler/space/count.h"
#include "compiler/space/loop_trees.h"
#include "compiler/space/recursion.h"
#include "compiler/space/sums.h"

namespace schaas::space {
namespace {

constexpr std::uint64_t max_loop_trees = 4'000'000;

mpz_class wide(Multiplicity value) {
  mpz_class high = static_cast<unsigned long>(value >> 64);
  return (high << 64) + mpz_class(static_cast<unsigned long>(value));
}

cost::Cost cost_of(const Sums& sums, SumId time, SumId memory) {
  const auto t = sums.at(time);
  const auto m = sums.at(memory);
  return {{t.begin(), t.end()}, {m.begin(), m.end()}};
}

void sort_by_cost(std::vector<ClassCount>& classes) {
  std::sort(classes.begin(), classes.end(), [](const ClassCount& a, const ClassCount& b) { return a.cost < b.cost; });
}

}  // namespace

class Space::Implementation {
 public:
  Implementation(const problem::Problem& problem, Options options) : recursion(problem, options), counter(recursion) {}
  Recursion recursion;
  Counter counter;
};

Space::Space(const problem::Problem& problem, Options options)
    : implementation_(std::make_unique<Implementation>(problem, options)) {}
Space::~Space() = default;
Space::Space(Space&&) noexcept = default;

std::size_t Space::states() const { return implementation_->recursion.size(); }

support::Result<mpz_class> Space::count(const support::Cancellation& cancellation) {
  Watch watch(implementation_->recursion, cancellation, "counting the schedule space");
  mpz_class sum = 0;
  for (StateId root : implementation_->recursion.roots()) sum += implementation_->counter.of(root, watch);
  if (watch.stopped()) return watch.error();
  return sum;
}

support::Result<std::vector<ClassCount>> Space::classes(int max_memory_depth,
                                                        const support::Cancellation& cancellation) {
  Recursion& recursion = implementation_->recursion;
  Watch watch(recursion, cancellation, "collecting cost classes");
  Sums sums;
  Classes by_state(recursion, sums, max_memory_depth);
  std::map<std::pair<SumId, SumId>, mpz_class> total;
  for (StateId root : recursion.roots()) {
    for (const Classes::Entry& entry : by_state.of(root, watch)) total[{entry.time, entry.memory}] += wide(entry.members);
  }
  if (watch.stopped()) return watch.error();
  std::vector<ClassCount> classes;
  for (auto& [key, members] : total) classes.push_back({cost_of(sums, key.first, key.second), members});
  sort_by_cost(classes);
  return classes;
}

support::Result<std::uint64_t> Space::loop_trees(int max_memory_depth, const support::Cancellation& cancellation) {
  return loop_trees(std::vector<Depths>{{max_indices, max_memory_depth}}, cancellation);
}

support::Result<std::uint64_t> Space::loop_trees(const std::vector<Depths>& bounds,
                                                 const support::Cancellation& cancellation) {
  Recursion& recursion = implementation_->recursion;
  Watch watch(recursion, cancellation, "counting loop trees");
  TreeTable table;
  LoopTrees by_state(recursion, table, max_loop_trees);
  std::vector<TreeId> all;
  for (const Depths& bound : bounds) {
    for (StateId root : recursion.roots()) {
      const auto& trees = by_state.of(root, bound.loops, bound.memory, watch);
      all.insert(all.end(), trees.begin(), trees.end());
    }
  }
  if (watch.stopped()) return watch.error();
  std::sort(all.begin(), all.end());
  return static_cast<std::uint64_t>(std::unique(all.begin(), all.end()) - all.begin());
}

}  // namespace schaas::space
