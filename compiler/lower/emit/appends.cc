#include "compiler/lower/emit/appends.h"

#include <algorithm>

// EntryAppends entries to sparse results, in the order of the result's levels (Kjolstad et al., CGO 2019,
// section 5.3). A symbolic phase counts the entries that each iteration of the outermost loop will append to
// each compressed level. The client scans the counts and allocates; a numeric phase fills in coordinates,
// positions and values (proto/kernel_abi.h). Both phases run the same loops, so they agree by construction.
// Growing arrays on demand was rejected: iterations could not run in parallel. One-pass assembly is left to
// the client, for results whose counting costs as much as filling (Kernel::appends).
namespace schaas::lower {

using format::LevelFormat;
using loop_ir::ExpressionPtr;
using loop_ir::make;
using loop_ir::Step;

namespace {

LevelFormat format_of(const Tensor& tensor, int level) {
  return tensor.levels[static_cast<std::size_t>(level)];
}

/// A level with a counter of its own: sparse and no singleton, which shares the entries of the level above.
bool is_counted(const Tensor& tensor, int level) {
  return level >= 0 && level < static_cast<int>(tensor.levels.size()) &&
         format::is_sparse(format_of(tensor, level)) && !format::is_singleton(format_of(tensor, level));
}

/// Returns the counted level whose positions `level` shares.
int counted_level(const Tensor& tensor, int level) {
  while (format::is_singleton(format_of(tensor, level))) --level;
  return level;
}

loop_ir::ExpressionPtr next(const std::string& name) {
  return loop_ir::add(loop_ir::name(name), loop_ir::integer(1));
}

/// A row of the result is one range of its only counted level; the levels below are dense.
bool has_plain_rows(const Tensor& tensor) {
  if (tensor.levels.size() < 2 || tensor.levels.front() != LevelFormat::dense || !is_counted(tensor, 1))
    return false;
  return std::all_of(tensor.levels.begin() + 2, tensor.levels.end(),
                     [](LevelFormat level) { return level == LevelFormat::dense; });
}

}  // namespace

int last_sparse(const Tensor& tensor) {
  const auto last = std::find_if(tensor.levels.rbegin(), tensor.levels.rend(), format::is_sparse);
  return static_cast<int>(tensor.levels.rend() - last) - 1;
}

namespace {

/// `depth`: number of loops around.
bool walks(const loop_ir::StatementPtr& statement, int depth) {
  if (const auto* block = std::get_if<loop_ir::Block>(&statement->node)) {
    return std::any_of(block->statements.begin(), block->statements.end(),
                       [depth](const auto& each) { return walks(each, depth); });
  }
  if (const auto* loop = std::get_if<loop_ir::For>(&statement->node))
    return depth == 2 || walks(loop->body, depth + 1);
  if (std::holds_alternative<loop_ir::Let>(statement->node)) return false;
  if (std::holds_alternative<loop_ir::Counter>(statement->node)) return false;
  if (std::holds_alternative<loop_ir::SetCounter>(statement->node)) return false;
  return depth == 2 || !std::holds_alternative<loop_ir::Store>(statement->node);
}

}  // namespace

bool counts_entry_by_entry(const loop_ir::Phase& symbolic) { return walks(symbolic.body, 0); }

bool iterates_rows_in_order(const NestPtr& nest, const NestTree& tree) {
  const auto* loop = std::get_if<Loop>(&nest->node);
  if (loop == nullptr || level_of(operand(tree, target_of(nest)), loop->index) != 0) return false;
  if (loop->block || loop->vector || loop->entries || loop->annotation.collapsed ||
      loop->annotation.positions > 0)
    return false;
  return loop_space(loop->body, loop->index, tree).kind == LoopSpace::Kind::range;
}

bool decides_entries(const Branch& branch, const NestTree& tree) {
  if (tensor_of(tree, target_of(branch.producer)).occupancy_levels == 0) return false;
  const Loop* walk = occupied_walk(branch, tree);
  if (walk != nullptr && level_of(operand(tree, target_of(branch.consumer)), walk->index) >= 0) return true;
  const NestPtr* at = &branch.consumer;
  for (;;) {
    if (const auto* loop = std::get_if<Loop>(&(*at)->node)) {
      at = &loop->body;
    } else if (const auto* inner = std::get_if<Branch>(&(*at)->node)) {
      const auto read = factors_below(inner->producer, tree);
      const bool reads = std::any_of(read.begin(), read.end(), [&](int number) {
        return operand(tree, number).tensor == branch.temporary;
      });
      if (reads && decides_entries(*inner, tree)) return true;
      at = &inner->consumer;
    } else {
      return false;
    }
  }
}

void EntryAppends::declare_counts(int target, const ExpressionPtr& iterations) {
  const Tensor& result = facts_.tensor_of(target);
  for (int level = 0; level < static_cast<int>(result.levels.size()); ++level) {
    if (is_counted(result, level)) counts_[level] = facts_.builder.shared.add_counts(level, iterations);
  }
}

void EntryAppends::open_numeric_phase(const NestPtr& nest, int target) {
  const Tensor& result = facts_.tensor_of(target);
  const int tensor = facts_.operand(target).tensor;
  for (int level = 0; level <= last_sparse(result); ++level) {
    if (format::is_sparse(format_of(result, level)))
      facts_.builder.arrays.set_written(facts_.builder.arrays.coordinates(tensor, level));
    if (level > 0 && is_counted(result, level))
      facts_.builder.arrays.set_written(facts_.builder.arrays.positions(tensor, level));
  }
  rows_follow_ = has_plain_rows(result) && iterates_rows_in_order(nest, facts_.tree);
}

void EntryAppends::add_to_count(const ExpressionPtr& entries, Statements& out) const {
  const std::string& counter = counters_.rbegin()->second;
  out.push_back(make(loop_ir::SetCounter{counter, loop_ir::add(loop_ir::name(counter), entries)}));
}

void EntryAppends::open_rows(const Loop& loop, Statements& out) {
  if (&loop != facts_.outermost || !rows_follow_) return;
  for (const auto& [level, counts] : counts_) {
    counters_[level] = facts_.fresh("q");
    out.push_back(make(loop_ir::Counter{counters_[level], loop_ir::load(counts, loop_ir::range_begin())}));
  }
}

Body EntryAppends::with_counters(const Loop& loop, const Body& body) {
  if (&loop != facts_.outermost || !facts_.appends_to(target_of(loop.body))) return body;
  if (rows_follow_) return body;  // open_rows
  return [this, body](Scope& scope, Statements& out) {
    const auto iteration = loop_ir::name(scope.iteration);
    for (const auto& [level, counts] : counts_) {
      counters_[level] = facts_.fresh("q");
      const auto first =
          facts_.step == Step::symbolic ? loop_ir::integer(0) : loop_ir::load(counts, iteration);
      out.push_back(make(loop_ir::Counter{counters_[level], first}));
    }
    body(scope, out);
    if (facts_.step != Step::symbolic) return;
    for (const auto& [level, counts] : counts_)
      out.push_back(
          make(loop_ir::Store{counts, iteration, loop_ir::Write::set, loop_ir::name(counters_[level])}));
  };
}

Body EntryAppends::with_append(const Loop& loop, const Body& body) {
  const int target = target_of(loop.body);
  if (!facts_.appends_to(target)) return body;
  const int level = level_of(facts_.operand(target), loop.index);
  const Tensor& result = facts_.tensor_of(target);
  if (level < 0 || !format::is_unique(format_of(result, level))) return body;
  if (format::is_sparse(format_of(result, level))) {
    const Body append = [this, body, target, level, of = &loop](Scope& scope, Statements& out) {
      const int counted = counted_level(facts_.tensor_of(target), level);
      const std::string position = facts_.fresh("pA");
      out.push_back(make(loop_ir::Let{position, loop_ir::Type::index, loop_ir::name(counters_.at(counted))}));
      std::string before;
      if (is_counted(facts_.tensor_of(target), level + 1)) {
        before = facts_.fresh("q");
        out.push_back(
            make(loop_ir::Let{before, loop_ir::Type::index, loop_ir::name(counters_.at(level + 1))}));
      }
      auto& bound = scope.positions[static_cast<std::size_t>(target)].bound;
      // All levels of a coordinate list share the position of the entry.
      std::fill(bound.begin() + counted, bound.begin() + level + 1, loop_ir::name(position));
      levels_.resolve_all({target}, scope, out);
      body(scope, out);
      emit_append({target, level}, scope, position, before, out);
      if (before.empty()) appended_[of] = {{counters_.at(counted), position}, out.back()};
    };
    const auto lists = met_lists(loop, facts_.tree);
    if (!lists) return append;
    return
        [this, append, lists](Scope& scope, Statements& out) { emit_where_met(*lists, scope, out, append); };
  }
  if (!is_counted(result, level + 1)) return body;
  return [this, body, target, level](Scope& scope, Statements& out) {
    body(scope, out);
    if (facts_.step == Step::symbolic) return;
    const auto& position = scope.positions[static_cast<std::size_t>(target)];
    out.push_back(
        make(loop_ir::Store{facts_.builder.arrays.positions(facts_.operand(target).tensor, level + 1),
                            loop_ir::add(location(position), loop_ir::integer(1)), loop_ir::Write::set,
                            loop_ir::name(counters_.at(level + 1))}));
  };
}

void EntryAppends::emit_where_met(const MetLists& lists, Scope& scope, Statements& out,
                                  const Body& body) const {
  const std::string met = facts_.fresh("met"), letter = facts_.letter_of(lists.index);
  // A list of which a phase before has made a vector is read here alone.
  levels_.resolve_all({lists.first.operand, lists.second.operand}, scope, out);
  out.push_back(make(loop_ir::Counter{met, loop_ir::integer(0)}));
  loop_ir::Merge merge;
  merge.kind = loop_ir::MergeKind::first;
  for (const auto& list : {lists.first, lists.second})
    merge.cursors.push_back(levels_.cursor(list, letter, scope));
  merge.variable = facts_.fresh(letter);
  merge.body = loop_ir::block({make(loop_ir::SetCounter{met, loop_ir::integer(1)})});
  out.push_back(make(std::move(merge)));
  Statements inside;
  body(scope, inside);
  out.push_back(make(loop_ir::If{loop_ir::name(met), loop_ir::block(std::move(inside))}));
}

std::optional<loop_ir::AppendedEntry> EntryAppends::appended_by(const Loop& loop,
                                                                const Statements& body) const {
  const auto found = appended_.find(&loop);
  // Each iteration of these has counters of its own.
  if (&loop == facts_.outermost && !rows_follow_) return std::nullopt;
  // Under a condition, the counter is advanced by a statement of another block.
  if (found == appended_.end() || std::count(body.begin(), body.end(), found->second.advance) == 0)
    return std::nullopt;
  return found->second.entry;
}

void EntryAppends::emit_append(const merge_lattice::LevelAccess& entry, const Scope& scope,
                               const std::string& position, const std::string& before, Statements& out) {
  const Operand& target = facts_.operand(entry.operand);
  const int counted = counted_level(facts_.tensor_of(entry.operand), entry.level);
  Statements append;
  if (facts_.step == Step::compute) {
    for (int level = counted; level <= entry.level; ++level) {
      const int index = target.indices[static_cast<std::size_t>(level)];
      append.push_back(make(loop_ir::Store{facts_.builder.arrays.coordinates(target.tensor, level),
                                           loop_ir::name(position), loop_ir::Write::set,
                                           loop_ir::name(scope.coordinates.at(index))}));
    }
    if (!before.empty())
      append.push_back(
          make(loop_ir::Store{facts_.builder.arrays.positions(target.tensor, entry.level + 1), next(position),
                              loop_ir::Write::set, loop_ir::name(counters_.at(entry.level + 1))}));
  }
  append.push_back(make(loop_ir::SetCounter{counters_.at(counted), next(position)}));
  if (before.empty()) {
    out.insert(out.end(), append.begin(), append.end());
    return;
  }
  const auto some = loop_ir::apply(operators::Function::less,
                                   {loop_ir::name(before), loop_ir::name(counters_.at(entry.level + 1))});
  out.push_back(make(loop_ir::If{some, loop_ir::block(std::move(append))}));
}

}  // namespace schaas::lower
