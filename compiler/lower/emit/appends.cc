#include <algorithm>

#include "compiler/lower/emit/emitter.h"

// Appends entries to sparse results, in the order of the result's levels (Kjolstad et al., CGO 2019, section
// 5.3). A symbolic phase counts the entries that each iteration of the outermost loop will append to each
// compressed level. The client scans the counts and allocates; a numeric phase fills in coordinates,
// positions and values (proto/kernel_abi.h). Both phases run the same loops, so they agree by construction.
// Growing arrays on demand was rejected: iterations could not run in parallel. One-pass assembly is left to
// the client, for results whose counting costs as much as filling (Kernel::appends).
namespace schaas::lower {

using format::LevelFormat;
using loop_ir::make;
using loop_ir::Match;
using loop_ir::Step;

namespace {

int last_sparse(const Tensor& tensor) {
  const auto last = std::find_if(tensor.levels.rbegin(), tensor.levels.rend(), format::is_sparse);
  return static_cast<int>(tensor.levels.rend() - last) - 1;
}

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

/// A symbolic phase does more than add up lengths of lists. `depth`: number of loops around.
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

bool Emitter::appends_to(int target) const {
  return !tensor_of(target).temporary() && last_sparse(tensor_of(target)) >= 0;
}

/// Emits the symbolic phase, then the numeric one, between which the result is allocated.
void Emitter::emit_appending_phases(const NestPtr& nest, const Sink& sink) {
  const Tensor& result = tensor_of(sink.operand);
  const int tensor = operand(sink.operand).tensor;
  const auto iterations = describe(nest).range;
  for (int level = 0; level < static_cast<int>(result.levels.size()); ++level) {
    if (is_counted(result, level)) counts_[level] = builder_.add_counts(level, iterations);
  }
  emit_phase(nest, sink, Step::symbolic);
  // One-pass assembly by several threads pays only where counting does more than add up lengths of lists.
  const bool slow = walks(builder_.last_phase().body, 0);
  for (int level = 0; level <= last_sparse(result); ++level) {
    if (format::is_sparse(format_of(result, level)))
      builder_.set_written(builder_.coordinates(tensor, level));
    if (level > 0 && is_counted(result, level)) builder_.set_written(builder_.positions(tensor, level));
  }
  rows_follow_ = has_plain_rows(result) && iterates_rows_in_order(nest);
  emit_phase(nest, sink, Step::compute);
  const bool tables =
      std::any_of(tree_.tensors.begin(), tree_.tensors.end(), [](const Tensor& each) { return each.hashed; });
  if (!tables && rows_follow_)
    builder_.set_appended(slow ? loop_ir::Appends::always : loop_ir::Appends::alone);
  rows_follow_ = false;
}

/// The range of the phase counts the coordinates of the target's first level, one iteration for each.
bool Emitter::iterates_rows_in_order(const NestPtr& nest) const {
  const auto* loop = std::get_if<Loop>(&nest->node);
  if (loop == nullptr || level_of(operand(target_of(nest)), loop->index) != 0) return false;
  if (loop->block || loop->vector || loop->entries || loop->annotation.collapsed ||
      loop->annotation.positions > 0)
    return false;
  return loop_space(loop->body, loop->index, tree_).kind == LoopSpace::Kind::range;
}

/// The temporary is a sparse accumulator whose elements decide which entries are appended. A loop over a
/// level of the result walks its list, or the producer of another such temporary reads it. Reductions below
/// the entries do not change the set of entries.
bool Emitter::decides_entries(const Branch& branch) const {
  if (!tracks(target_of(branch.producer))) return false;
  const Loop* walk = occupied_walk(branch, tree_);
  if (walk != nullptr && level_of(operand(target_of(branch.consumer)), walk->index) >= 0) return true;
  const NestPtr* at = &branch.consumer;
  for (;;) {
    if (const auto* loop = std::get_if<Loop>(&(*at)->node)) {
      at = &loop->body;
    } else if (const auto* inner = std::get_if<Branch>(&(*at)->node)) {
      const auto read = factors_below(inner->producer, tree_);
      const bool reads = std::any_of(read.begin(), read.end(),
                                     [&](int number) { return operand(number).tensor == branch.temporary; });
      if (reads && decides_entries(*inner)) return true;
      at = &inner->consumer;
    } else {
      return false;
    }
  }
}

/// Emits the loops that decide what is appended, without values.
void Emitter::emit_count(const NestPtr& nest, const Scope& scope, Statements& out) {
  std::visit(Match{
                 [&](const Loop& loop) {
                   const int target = target_of(nest);
                   if (level_of(operand(target), loop.index) > last_sparse(tensor_of(target))) return;
                   if (level_of(operand(target), loop.index) < 0) return;
                   emit_loop(loop, scope, loop_ir::Shape::scalar, out,
                             [&](Scope& below, Statements& body) { emit_count(loop.body, below, body); });
                 },
                 [&](const Blocks&) { SCHAAS_CHECK(false, "a sparse result is appended to in blocks"); },
                 [&](const Branch& branch) {
                   const auto consume = [&] { emit_count(branch.consumer, scope, out); };
                   if (!decides_entries(branch)) return consume();
                   emit_accumulator(
                       branch, out, [&] { emit_inserts(branch.producer, scope, out); }, consume);
                 },
                 [](const Terms&) {},  // inside all loops over levels that are appended to
                 [](const Leaf&) {},
             },
             nest->node);
}

/// Emits, before the outermost loop, the offset at which each iteration begins to append: the end of the
/// previous one.
void Emitter::open_rows(const Loop& loop, Statements& out) {
  if (&loop != outermost_ || !rows_follow_) return;
  for (const auto& [level, counts] : counts_) {
    counters_[level] = builder_.names().fresh("q");
    out.push_back(make(loop_ir::Counter{counters_[level], loop_ir::load(counts, loop_ir::range_begin())}));
  }
}

/// Wraps the body of the outermost loop in the counters of an iteration.
Emitter::Body Emitter::with_counters(const Loop& loop, const Body& body) {
  if (&loop != outermost_ || !appends_to(target_of(loop.body))) return body;
  if (rows_follow_) return body;  // open_rows
  return [this, body](Scope& scope, Statements& out) {
    const auto iteration = loop_ir::name(scope.iteration);
    for (const auto& [level, counts] : counts_) {
      counters_[level] = builder_.names().fresh("q");
      const auto first = step_ == Step::symbolic ? loop_ir::integer(0) : loop_ir::load(counts, iteration);
      out.push_back(make(loop_ir::Counter{counters_[level], first}));
    }
    body(scope, out);
    if (step_ != Step::symbolic) return;
    for (const auto& [level, counts] : counts_)
      out.push_back(
          make(loop_ir::Store{counts, iteration, loop_ir::Write::set, loop_ir::name(counters_[level])}));
  };
}

/// Wraps the body of a loop over one of the result's levels, the target of the statements below, in the
/// append of its entry. A coordinate list gets one entry for all of its levels, where the last of them is
/// reached.
Emitter::Body Emitter::with_append(const Loop& loop, const Body& body) {
  const int target = target_of(loop.body);
  if (!appends_to(target)) return body;
  const int level = level_of(operand(target), loop.index);
  const Tensor& result = tensor_of(target);
  if (level < 0 || !format::is_unique(format_of(result, level))) return body;
  if (format::is_sparse(format_of(result, level))) {
    return [this, body, target, level](Scope& scope, Statements& out) {
      const int counted = counted_level(tensor_of(target), level);
      const std::string position = builder_.names().fresh("pA");
      out.push_back(make(loop_ir::Let{position, loop_ir::Type::index, loop_ir::name(counters_.at(counted))}));
      std::string before;
      if (is_counted(tensor_of(target), level + 1)) {
        before = builder_.names().fresh("q");
        out.push_back(
            make(loop_ir::Let{before, loop_ir::Type::index, loop_ir::name(counters_.at(level + 1))}));
      }
      auto& bound = scope.positions[static_cast<std::size_t>(target)].bound;
      // All levels of a coordinate list share the position of the entry.
      std::fill(bound.begin() + counted, bound.begin() + level + 1, loop_ir::name(position));
      resolve_all({target}, scope, out);
      body(scope, out);
      emit_append({target, level}, scope, position, before, out);
    };
  }
  if (!is_counted(result, level + 1)) return body;
  return [this, body, target, level](Scope& scope, Statements& out) {
    body(scope, out);
    if (step_ == Step::symbolic) return;
    const auto& position = scope.positions[static_cast<std::size_t>(target)];
    out.push_back(make(loop_ir::Store{builder_.positions(operand(target).tensor, level + 1),
                                      loop_ir::add(location(position), loop_ir::integer(1)),
                                      loop_ir::Write::set, loop_ir::name(counters_.at(level + 1))}));
  };
}

/// Keeps an entry above a compressed level when something was appended below it since `before`.
void Emitter::emit_append(const merge_lattice::LevelAccess& entry, const Scope& scope,
                          const std::string& position, const std::string& before, Statements& out) {
  const Operand& target = operand(entry.operand);
  const int counted = counted_level(tensor_of(entry.operand), entry.level);
  Statements append;
  if (step_ == Step::compute) {
    for (int level = counted; level <= entry.level; ++level) {
      const int index = target.indices[static_cast<std::size_t>(level)];
      append.push_back(
          make(loop_ir::Store{builder_.coordinates(target.tensor, level), loop_ir::name(position),
                              loop_ir::Write::set, loop_ir::name(scope.coordinates.at(index))}));
    }
    if (!before.empty())
      append.push_back(
          make(loop_ir::Store{builder_.positions(target.tensor, entry.level + 1), next(position),
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
