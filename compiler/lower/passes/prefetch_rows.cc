#include "compiler/lower/passes/prefetch_rows.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/loop_ir/map_loops.h"

// Prefetches the next rows of jammed loops. A row is recognised by its offset, a let that multiplies the
// number of the group's first row by a length. The loop along the row must cover that length. Arrays in
// scratch are left alone, since they stay in cache. Addresses may lie past the array: a prefetch does not
// fault.
namespace schaas::lower {
namespace {

using loop_ir::For;
using loop_ir::StatementPtr;

/// Shorter rows arrive in time without a prefetch.
constexpr std::int64_t max_unprefetched_row = 32;

/// The rows that a jammed loop walks.
class PrefetchedRows {
 public:
  PrefetchedRows(const For& loop, const loop_ir::Kernel& kernel) : loop_(loop) {
    for (const auto& array : kernel.arrays) {
      if (std::holds_alternative<loop_ir::ArgumentValues>(array.origin) ||
          std::holds_alternative<loop_ir::Shared>(array.origin))
        far_.insert(array.name);
    }
    std::string first = loop.variable;  // number of the group's first row, in order or from a list
    for (const auto& each : statements_of(loop.body)) {
      const auto* let = std::get_if<loop_ir::Let>(&each->node);
      if (let == nullptr) continue;
      const auto* listed = std::get_if<loop_ir::Load>(&let->value->node);
      const auto* listed_index = listed ? std::get_if<loop_ir::Name>(&listed->index->node) : nullptr;
      if (listed_index && listed_index->name == loop.variable) first = let->name;
      const auto* product = arguments_of(let->value, operators::Function::multiply);
      const auto* row = product ? std::get_if<loop_ir::Name>(&product->front()->node) : nullptr;
      if (row && row->name == first) lengths_[let->name] = product->back();
    }
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
    auto statements = statements_of(loop.body);
    std::vector<loop_ir::Prefetch> prefetches;
    for (const auto& each : statements) {
      if (const auto* fold = std::get_if<loop_ir::Accumulate>(&each->node))
        collect(fold->value, loop, prefetches);
    }
    for (auto& each : prefetches) statements.push_back(loop_ir::make(std::move(each)));
    loop.body = loop_ir::block(std::move(statements));
    return loop_ir::make(std::move(loop));
  }

  void collect(const loop_ir::ExpressionPtr& value, const For& loop,
               std::vector<loop_ir::Prefetch>& prefetches) const {
    if (const auto* load = std::get_if<loop_ir::Load>(&value->node)) {
      const auto* parts = arguments_of(load->index, operators::Function::add);
      if (parts == nullptr || far_.count(load->array) == 0 || !is_along(*parts, loop)) return;
      // One prefetch in each iteration, as many elements apart as the group has rows, covers the rows of the
      // next group.
      const auto next = loop_ir::multiply(loop_ir::add(loop.end, loop_ir::name(loop.variable)),
                                          loop_ir::integer(loop_.step));
      loop_ir::Prefetch prefetch{load->array, loop_ir::add(parts->front(), next)};
      for (const auto& each : prefetches) {
        if (each.array == prefetch.array && equal(each.index, prefetch.index)) return;
      }
      prefetches.push_back(std::move(prefetch));
    } else if (const auto* apply = std::get_if<loop_ir::Apply>(&value->node)) {
      for (const auto& each : apply->arguments) collect(each, loop, prefetches);
    }
  }

  /// The index is a row's first element plus the loop's variable, which covers the row.
  bool is_along(const std::vector<loop_ir::ExpressionPtr>& parts, const For& loop) const {
    const auto* first = std::get_if<loop_ir::Name>(&parts.front()->node);
    const auto* at = std::get_if<loop_ir::Name>(&parts.back()->node);
    const auto* begin = std::get_if<loop_ir::Integer>(&loop.begin->node);
    const auto* end = std::get_if<loop_ir::Integer>(&loop.end->node);
    if (parts.size() != 2 || !first || !at || !begin || begin->value != 0 || at->name != loop.variable ||
        (end && end->value <= max_unprefetched_row))
      return false;
    const auto row = lengths_.find(first->name);
    return row != lengths_.end() && equal(row->second, loop.end);
  }

  const For& loop_;
  std::set<std::string> far_;                              ///< arrays other than thread-private temporaries
  std::map<std::string, loop_ir::ExpressionPtr> lengths_;  ///< row lengths, by the name of the row's offset
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
