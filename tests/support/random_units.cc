#include "tests/support/random_units.h"

#include <array>
#include <string>
#include <vector>

#include "compiler/concrete_notation/match.h"
#include "compiler/schedule/replay/apply.h"

// Random thread mappings of a GPU on a given trace. For each phase, directives are drawn for its two
// outermost loops: grain, threads per item, groups with a reduction, launches, staging, merge paths. At most
// 40 are drawn, and at most five that schedule::apply accepts stay. So mappings that replay allows are
// tested, also those that the search never proposes.
namespace schaas::test_support {
namespace {

using concrete_notation::Forall;
using concrete_notation::StatementPtr;
using concrete_notation::Where;

/// A phase: its path and its loops from the outermost on.
struct Root {
  schedule::Path path;
  std::vector<std::string> loops;
};

/// The phases: their paths and the loops above their first branch.
void roots_of(const StatementPtr& statement, schedule::Path path, std::vector<Root>& out) {
  if (const auto* branch = std::get_if<Where>(&statement->node)) {
    auto producer = path, consumer = path;
    producer.push_back(0);
    consumer.push_back(1);
    roots_of(branch->producer, producer, out);
    roots_of(branch->consumer, consumer, out);
    return;
  }
  Root root{std::move(path), {}};
  for (const auto* loop = std::get_if<Forall>(&statement->node); loop != nullptr;
       loop = std::get_if<Forall>(&loop->body->node))
    root.loops.push_back(loop->index);
  if (!root.loops.empty()) out.push_back(std::move(root));
}

/// Draws a directive for one of the two outermost loops of a phase.
schedule::Directive random_unit(const Root& root, std::mt19937_64& random) {
  using concrete_notation::GroupReduction;
  static constexpr std::array<int, 6> widths = {1, 2, 4, 8, 16, 32};
  const auto width = [&] { return widths[random() % widths.size()]; };
  const auto& loop = root.loops[random() % std::min<std::size_t>(root.loops.size(), 2)];
  const auto kind = random() % 10;
  if (kind < 2) return schedule::Threads{root.path, loop, static_cast<int>(1 + random() % 5), 1};
  if (kind < 4) return schedule::Threads{root.path, loop, 1, width()};
  if (kind < 6) {
    static constexpr std::array<GroupReduction, 3> all = {GroupReduction::atomic, GroupReduction::parallel,
                                                          GroupReduction::segment};
    return schedule::Group{root.path, loop, width(), all[random() % 3]};
  }
  if (kind == 6) {
    const int warp = random() % 2 == 0 ? 0 : width();
    return schedule::Launch{root.path, loop, 32 << (random() % 5), warp};
  }
  if (kind == 8) return schedule::Stage{root.path, loop, 8 << (random() % 3)};
  if (kind == 9) return schedule::MergePath{root.path, loop};
  return schedule::Pos{root.path, root.loops[random() % root.loops.size()], random() % 2 == 0 ? loop : ""};
}

}  // namespace

schedule::Trace with_random_units(const schedule::Trace& trace, const problem::Problem& problem,
                                  std::mt19937_64& random) {
  schedule::Trace out = trace;
  if (out.directives.empty()) out = schedule::default_trace(problem);
  const auto tree = schedule::apply(out, problem);
  if (!tree.ok()) return out;
  std::vector<Root> roots;
  roots_of(*tree, {}, roots);
  for (const auto& root : roots) {
    for (int tries = 0, kept = 0; tries < 40 && kept < 5; ++tries) {
      schedule::Trace longer = out;
      longer.directives.push_back(random_unit(root, random));
      if (!schedule::apply(longer, problem).ok()) continue;
      out = std::move(longer);
      ++kept;
    }
  }
  return out;
}

}  // namespace schaas::test_support
