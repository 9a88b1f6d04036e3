#include "compiler/lower/passes/numeric_phase.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop_ir/traversal.h"
#include "compiler/loop_ir/uses.h"

// Copies the bodies of numeric phases without the stores to positions and coordinates of the result.
// Statements that only served these stores go, too: lets that nothing uses, loops and branches that became
// empty. Counters stay, since they are the positions at which values are stored. Bodies that fill lists are
// left alone: their structure is found while values are computed.
namespace schaas::lower {
namespace {

using loop_ir::Match;
using loop_ir::StatementPtr;

/// Returns the arrays of positions and coordinates that phases write: those of the result.
std::set<std::string> structure_of(const loop_ir::Kernel& kernel) {
  std::set<std::string> found;
  for (const auto& array : kernel.arrays) {
    const bool structure = std::holds_alternative<loop_ir::Positions>(array.origin) ||
                           std::holds_alternative<loop_ir::Coordinates>(array.origin);
    if (array.written && structure) found.insert(array.name);
  }
  return found;
}

/// The statement fills a list of coordinates.
bool gathers(const StatementPtr& statement) {
  return loop_ir::any_of(statement, [](const StatementPtr& each) {
    return loop_ir::is_any<loop_ir::Sort, loop_ir::Occupy, loop_ir::OccupyGroups, loop_ir::Compact,
                           loop_ir::Compress>(each);
  });
}

/// Removes the stores to some arrays, and statements that only served them.
class Without {
 public:
  explicit Without(const std::set<std::string>& arrays) : arrays_(arrays) {}

  /// Returns null when nothing is left.
  StatementPtr statement(const StatementPtr& from) const {
    const auto with_body = [&](auto node) -> StatementPtr {
      const auto body = statement(node.body);
      if (body == node.body) return from;
      if (!body) return nullptr;
      node.body = body;
      return loop_ir::make(std::move(node));
    };
    return std::visit(
        Match{
            [&](const loop_ir::Block& x) { return block(x, from); },
            [&](const loop_ir::Store& x) { return arrays_.count(x.array) > 0 ? nullptr : from; },
            [&](const loop_ir::Fill& x) { return arrays_.count(x.array) > 0 ? nullptr : from; },
            [&](const loop_ir::If& x) { return with_body(x); },
            [&](const loop_ir::For& x) { return with_body(x); },
            [&](const loop_ir::Merge& x) { return with_body(x); },
            [&](const auto&) { return from; },
        },
        from->node);
  }

 private:
  StatementPtr block(const loop_ir::Block& from, const StatementPtr& whole) const {
    std::vector<StatementPtr> kept;
    bool same = true;
    for (const auto& each : from.statements) {
      auto left = statement(each);
      same = same && left == each;
      if (left) kept.push_back(std::move(left));
    }
    if (same) return whole;
    kept = loop_ir::without_unused_lets(kept);
    return kept.empty() ? nullptr : loop_ir::block(std::move(kept));
  }

  const std::set<std::string>& arrays_;
};

}  // namespace

loop_ir::Kernel add_numeric_phases(loop_ir::Kernel kernel) {
  const auto structure = structure_of(kernel);
  for (auto& phase : kernel.phases) {
    if (phase.step == loop_ir::Step::symbolic || gathers(phase.body)) continue;
    const auto values = Without(structure).statement(phase.body);
    if (values && values != phase.body) phase.numeric = values;
  }
  return kernel;
}

}  // namespace schaas::lower
