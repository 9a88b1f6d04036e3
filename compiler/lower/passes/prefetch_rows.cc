#include "compiler/lower/passes/prefetch_rows.h"

#include <set>
#include <string>
#include <vector>

#include "compiler/loop_ir/entries.h"
#include "compiler/loop_ir/map_loops.h"

// Prefetches the next rows of jammed loops. Emission knows the rows that a loop runs along (RowAlong); rows
// of the jammed loop are those whose number is its variable, or the coordinate that it is at. Arrays in
// scratch are left alone, since they stay in cache. Addresses may lie past the array: a prefetch does not
// fault.
namespace schaas::lower {
namespace {

using loop_ir::For;
using loop_ir::StatementPtr;

/// Shorter rows arrive in time without a prefetch.
constexpr std::int64_t max_unprefetched_row = 32;

/// Returns the arrays other than thread-private temporaries.
std::set<std::string> far_arrays(const loop_ir::Kernel& kernel) {
  std::set<std::string> far;
  for (const auto& array : kernel.arrays) {
    if (std::holds_alternative<loop_ir::ArgumentValues>(array.origin) ||
        std::holds_alternative<loop_ir::Shared>(array.origin))
      far.insert(array.name);
  }
  return far;
}

/// The rows that a jammed loop walks.
class PrefetchedRows {
 public:
  PrefetchedRows(const For& jammed, const loop_ir::Kernel& kernel)
      : jammed_(jammed), far_(far_arrays(kernel)), numbers_{jammed.variable} {
    if (const auto* listed = loop_ir::coordinate_let(jammed)) numbers_.insert(listed->name);
  }

  /// Returns the statement of a vector loop with prefetches in its loops along rows.
  StatementPtr with_prefetches(const StatementPtr& statement) const {
    std::vector<StatementPtr> statements;
    for (const auto& each : statements_of(statement)) {
      const auto* inside = std::get_if<For>(&each->node);
      statements.push_back(inside ? along(*inside) : each);
    }
    return loop_ir::block(std::move(statements));
  }

 private:
  StatementPtr along(For loop) const {
    const auto* end = std::get_if<loop_ir::Integer>(&loop.end->node);
    const bool is_short = end != nullptr && end->value <= max_unprefetched_row;
    if (is_short || loop.part != loop_ir::Part::whole) return loop_ir::make(std::move(loop));
    auto statements = statements_of(loop.body);
    // One prefetch in each iteration, as many elements apart as the group has rows, covers the rows of the
    // next group.
    const auto next = loop_ir::multiply(loop_ir::add(loop.end, loop_ir::name(loop.variable)),
                                        loop_ir::integer(jammed_.step));
    for (const auto& row : loop.along) {
      if (far_.count(row.array) > 0 && numbers_.count(row.row) > 0)
        statements.push_back(
            loop_ir::make(loop_ir::Prefetch{row.array, loop_ir::add(loop_ir::name(row.offset), next)}));
    }
    loop.body = loop_ir::block(std::move(statements));
    return loop_ir::make(std::move(loop));
  }

  const For& jammed_;
  const std::set<std::string> far_;
  std::set<std::string> numbers_;  ///< names of the number of the group's first row
};

StatementPtr walk(const StatementPtr& statement, const loop_ir::Kernel& kernel) {
  return loop_ir::map_loops(statement, [&](const For& x) {
    For loop = x;
    if (x.part != loop_ir::Part::jammed) {
      loop.body = walk(x.body, kernel);
      return loop_ir::make(std::move(loop));
    }
    const PrefetchedRows rows(x, kernel);
    auto statements = statements_of(x.body);
    for (auto& each : statements) {
      const auto* vector_loop = std::get_if<For>(&each->node);
      if (vector_loop == nullptr || vector_loop->shape != loop_ir::Shape::vector) continue;
      For tile = *vector_loop;
      tile.body = rows.with_prefetches(vector_loop->body);
      each = loop_ir::make(std::move(tile));
    }
    loop.body = loop_ir::block(std::move(statements));
    return loop_ir::make(std::move(loop));
  });
}

}  // namespace

loop_ir::Kernel prefetch_next_rows(loop_ir::Kernel kernel) {
  for (auto& phase : kernel.phases) phase.body = walk(phase.body, kernel);
  return kernel;
}

}  // namespace schaas::lower
