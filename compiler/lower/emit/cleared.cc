#include "compiler/lower/emit/cleared.h"

#include <algorithm>
#include <set>

#include "compiler/lower/emit/facts/temporaries.h"

// Clears rows of a dense result inside the phase that adds to them. The client then need not clear the whole
// result beforehand, and each row is in the cache when it is added to. Rows that the phase skips are cleared
// by the iteration after them, those behind the last one by the last. So the ranges of the phase together
// clear every row exactly once, in parallel, too. A phase without iterations clears nothing; the client then
// clears the whole result.
namespace schaas::lower {

using format::LevelFormat;
using loop_ir::make;
using loop_ir::Match;
using operators::Function;

namespace {

/// Elements of a row that fits in few registers: clearing and adding costs less than a mispredicted branch
/// about its blocks.
constexpr int cheaply_cleared = 32;

loop_ir::ExpressionPtr elements_of_row(const Operand& target, KernelBuilder& builder) {
  loop_ir::ExpressionPtr size = loop_ir::integer(1);
  for (std::size_t level = 1; level < target.indices.size(); ++level)
    size = loop_ir::multiply(size, builder.extents.of(target.indices[level]));
  return size;
}

loop_ir::Fill filled(const Operand& target, KernelBuilder& builder, const loop_ir::ExpressionPtr& first,
                     const loop_ir::ExpressionPtr& rows) {
  const auto size = elements_of_row(target, builder);
  return {builder.arrays.values(target.tensor), loop_ir::multiply(first, size), loop_ir::multiply(rows, size),
          loop_ir::number(0)};
}

loop_ir::StatementPtr cleared(const Operand& target, KernelBuilder& builder,
                              const loop_ir::ExpressionPtr& first, const loop_ir::ExpressionPtr& rows) {
  return make(filled(target, builder, first, rows));
}

/// Clears one row; what follows in the block computes it.
loop_ir::StatementPtr cleared_row(const Operand& target, KernelBuilder& builder,
                                  const loop_ir::ExpressionPtr& row) {
  auto fill = filled(target, builder, row, loop_ir::integer(1));
  fill.row = true;
  return make(std::move(fill));
}

/// Only zeros are summed where the row of operand `factor` is empty; it multiplies all values written,
/// directly or through one of the temporaries in `zeros`.
bool vanishes(const NestPtr& nest, int factor, const NestTree& tree, std::set<int>& zeros) {
  const auto below = [&](const NestPtr& part) { return vanishes(part, factor, tree, zeros); };
  return std::visit(
      Match{
          [&](const Loop& loop) { return below(loop.body); },
          [](const Blocks&) { return false; },
          [&](const Branch& branch) {
            if (below(branch.producer)) zeros.insert(branch.temporary);
            return below(branch.consumer);
          },
          [&](const Terms& sum) { return std::all_of(sum.terms.begin(), sum.terms.end(), below); },
          [&](const Leaf& leaf) {
            const auto is_zero = [&](int number) {
              return number == factor ||
                     zeros.count(tree.operands[static_cast<std::size_t>(number)].tensor) > 0;
            };
            return is_plain_product(leaf) && std::any_of(leaf.factors.begin(), leaf.factors.end(), is_zero);
          },
      },
      nest->node);
}

/// A sum over all values of an index runs in a row without entries too.
bool sums_anyway(const NestPtr& nest, const Operand& target, const NestTree& tree) {
  const auto below = [&](const NestPtr& part) { return sums_anyway(part, target, tree); };
  return std::visit(
      Match{
          [&](const Loop& loop) {
            if (is_sparse(loop, tree)) return false;
            return level_of(target, loop.index) < 0 || below(loop.body);
          },
          [&](const Blocks& blocks) { return below(blocks.body); },
          [&](const Branch& branch) { return below(branch.producer) || below(branch.consumer); },
          [&](const Terms& sum) { return std::any_of(sum.terms.begin(), sum.terms.end(), below); },
          [](const Leaf&) { return false; },
      },
      nest->node);
}

/// Returns the operand with CSR rows for which a test of emptiness pays, or -1.
int factor_of_rows(const Loop& rows, int target, const NestTree& tree) {
  if (!sums_anyway(rows.body, tree.operands[static_cast<std::size_t>(target)], tree)) return -1;
  for (const int number : factors_below(rows.body, tree)) {
    const Operand& factor = tree.operands[static_cast<std::size_t>(number)];
    const Tensor& tensor = tree.tensors[static_cast<std::size_t>(factor.tensor)];
    const bool by_rows = !tensor.temporary() && tensor.levels.size() > 1 &&
                         tensor.levels[0] == LevelFormat::dense &&
                         tensor.levels[1] == LevelFormat::compressed && level_of(factor, rows.index) == 0;
    std::set<int> zeros;
    if (by_rows && vanishes(rows.body, number, tree, zeros)) return number;
  }
  return -1;
}

}  // namespace

/// Threads of a GPU share each row around a branch, and each alone adds to its elements of the row.
bool RowClearing::lanes_own_elements(const Operand& target) const {
  return facts_.mapped.consumer != nullptr && facts_.mapped.columns == nullptr &&
         facts_.mapped.rows->annotation.positions == 0 && target.indices.size() == 2 &&
         target.indices[1] == facts_.mapped.consumer->index && writes_.are_exclusive();
}

/// Returns the loop in which each thread clears its elements of a row.
loop_ir::StatementPtr RowClearing::cleared_by_lanes(const Operand& target,
                                                    const loop_ir::ExpressionPtr& row) const {
  const auto extent = facts_.builder.extents.of(target.indices[1]);
  const std::string element = facts_.fresh("l");
  const auto index = loop_ir::add(loop_ir::multiply(row, extent), loop_ir::name(element));
  loop_ir::For loop;
  loop.variable = element, loop.begin = loop_ir::integer(0), loop.end = extent;
  loop.body = make(loop_ir::Store{facts_.builder.arrays.values(target.tensor), index, loop_ir::Write::set,
                                  loop_ir::number(0)});
  loop.clears = true;
  return writes_.interleaved(make(std::move(loop)), false);
}

/// Decides whether the phase clears rows of its target; nothing where the client does, or no row needs it.
std::optional<ClearedRows> RowClearing::decide(const NestPtr& nest, const Sink& sink) const {
  const auto* loop = std::get_if<Loop>(&nest->node);
  const Operand& target = facts_.operand(sink.operand);
  const Tensor& result = facts_.tensor_of(sink.operand);
  if ((facts_.for_gpu && !lanes_own_elements(target)) || facts_.adds_terms || facts_.atomic >= 0 ||
      loop == nullptr || result.temporary() || facts_.tree.update)
    return {};
  if (loop->block || loop->vector || loop->annotation.collapsed || loop->annotation.positions > 0) return {};
  const bool dense = std::all_of(result.levels.begin(), result.levels.end(),
                                 [](LevelFormat level) { return level == LevelFormat::dense; });
  if (!dense || result.fill != 0 || sink.monoid != operators::Monoid::sum) return {};
  if (level_of(target, loop->index) != 0) return {};
  const auto row_split = facts_.tree.row_splits.find(nest.get());
  if (row_split != facts_.tree.row_splits.end() && row_split->second.carry_out < 0) return {};
  const auto below = factors_below(loop->body, facts_.tree);
  const auto is_dense = [&](int number) {
    const auto& levels = facts_.tensor_of(number).levels;
    return std::all_of(levels.begin(), levels.end(),
                       [](LevelFormat level) { return level == LevelFormat::dense; });
  };
  // Unroll and jam serves dense loops better than clearing (unroll_and_jam.h).
  if (std::all_of(below.begin(), below.end(), is_dense)) return {};
  const LoopSpace space = loop_space(loop->body, loop->index, facts_.tree);
  if (space.condition || !space.located.empty()) return {};
  const bool stores = sink.mode == loop_ir::Write::set && writes_rows_once(*loop, sink.operand, facts_.tree);
  ClearedRows rows{sink.operand, loop, !stores, nullptr, {}, -1};
  const auto* blocks = std::get_if<Blocks>(&loop->body->node);
  if (rows.own && blocks != nullptr && blocks->parts == 0 && level_of(target, blocks->index) < 0 &&
      writes_rows_once(*loop, sink.operand, facts_.tree, blocks->body))
    rows.blocks = blocks;
  if (space.kind == LoopSpace::Kind::range) {
    if (stores) rows.factor = factor_of_rows(*loop, sink.operand, facts_.tree);
    if (stores && rows.factor < 0) return {};
    return rows;
  }
  if (space.kind != LoopSpace::Kind::walk || space.cursors.size() != 1) return {};
  if (facts_.level_format(space.cursors.front()) != LevelFormat::compressed) return {};
  rows.walked = space.cursors.front();
  return rows;
}

bool RowClearing::open(const NestPtr& nest, const Sink& sink) {
  rows_ = decide(nest, sink);
  return rows_.has_value();
}

Body RowClearing::around(const Loop& loop, const Body& body) const {
  if (!rows_ || rows_->rows != &loop) return body;
  return [this, body](Scope& scope, Statements& out) {
    const auto row = scope.positions[static_cast<std::size_t>(rows_->target)].bound.front();
    if (rows_->factor < 0) {
      clear(loop_ir::name(scope.iteration), row, rows_->own && rows_->blocks == nullptr, out);
      return body(scope, out);
    }
    const std::string positions = facts_.builder.arrays.positions(facts_.operand(rows_->factor).tensor, 1);
    const std::string some = facts_.fresh("some");
    const auto begin = loop_ir::load(positions, row);
    const auto end = loop_ir::load(positions, loop_ir::add(row, loop_ir::integer(1)));
    out.push_back(
        make(loop_ir::Let{some, loop_ir::Type::index, loop_ir::apply(Function::less, {begin, end})}));
    Statements whole;
    body(scope, whole);
    out.push_back(make(loop_ir::If{loop_ir::name(some), loop_ir::block(std::move(whole))}));
    const auto none = loop_ir::apply(Function::equal, {loop_ir::name(some), loop_ir::integer(0)});
    const auto zeros = cleared(facts_.operand(rows_->target), facts_.builder, row, loop_ir::integer(1));
    out.push_back(make(loop_ir::If{none, loop_ir::block({zeros})}));
  };
}

void RowClearing::emit_blocks(const BlocksOfRow& row, const Scope& scope, Statements& out) const {
  const Blocks& blocks = row.blocks;
  const Sink& sink = row.sink;
  Scope only = scope;
  const auto all = block_loops_.open(blocks, only);
  const OpenBlock& open = only.blocks.at(blocks.index);
  const auto fits =
      loop_ir::apply(Function::less_equal, {all.end, loop_ir::add(all.begin, loop_ir::integer(blocks.size))});
  const auto wide = loop_ir::apply(
      Function::less,
      {loop_ir::integer(cheaply_cleared), elements_of_row(facts_.operand(sink.operand), facts_.builder)});
  const auto some = loop_ir::apply(Function::less, {all.begin, all.end});
  const auto both = loop_ir::apply(Function::logical_and, {some, fits});
  const std::string one = facts_.fresh("one");
  out.push_back(
      make(loop_ir::Let{one, loop_ir::Type::index, loop_ir::apply(Function::logical_and, {wide, both})}));
  Sink stored = sink;
  stored.mode = loop_ir::Write::set;
  Statements whole{make(loop_ir::Let{open.begin, loop_ir::Type::index, all.begin}),
                   make(loop_ir::Let{open.end, loop_ir::Type::index, all.end})};
  row.into(stored)(only, whole);
  out.push_back(make(loop_ir::If{loop_ir::name(one), loop_ir::block(std::move(whole))}));
  const auto& at = scope.positions[static_cast<std::size_t>(sink.operand)].bound.front();
  Statements several{cleared(facts_.operand(sink.operand), facts_.builder, at, loop_ir::integer(1))};
  block_loops_.emit(blocks, scope, several, row.into(sink));
  const auto others = loop_ir::apply(Function::equal, {loop_ir::name(one), loop_ir::integer(0)});
  out.push_back(make(loop_ir::If{others, loop_ir::block(std::move(several))}));
}

void RowClearing::clear(const loop_ir::ExpressionPtr& position, const loop_ir::ExpressionPtr& coordinate,
                        bool own, Statements& out) const {
  const Operand& target = facts_.operand(rows_->target);
  const auto less = [](const loop_ir::ExpressionPtr& a, const loop_ir::ExpressionPtr& b) {
    return loop_ir::apply(Function::less, {a, b});
  };
  const auto one = loop_ir::integer(1);
  if (!rows_->walked) {
    if (own)
      out.push_back(facts_.for_gpu ? cleared_by_lanes(target, coordinate)
                                   : cleared_row(target, facts_.builder, coordinate));
    return;
  }
  // Rows between the previous one and this, and after the last one: no iteration reaches them.
  const Operand& walked = facts_.operand(rows_->walked->operand);
  const std::string coordinates = facts_.builder.arrays.coordinates(walked.tensor, 0);
  const std::string from = facts_.fresh("from");
  const auto before = loop_ir::load(coordinates, loop_ir::add(position, loop_ir::integer(-1)));
  const auto begin =
      loop_ir::choose(less(loop_ir::integer(0), position), loop_ir::add(before, one), loop_ir::integer(0));
  out.push_back(make(loop_ir::Let{from, loop_ir::Type::index, begin}));
  const auto between = loop_ir::subtract(coordinate, loop_ir::name(from));
  out.push_back(
      make(loop_ir::If{less(loop_ir::name(from), coordinate),
                       loop_ir::block({cleared(target, facts_.builder, loop_ir::name(from), between)})}));
  const auto after = loop_ir::add(coordinate, one);
  const auto rest = loop_ir::subtract(facts_.builder.extents.of(target.indices.front()), after);
  const auto last =
      less(facts_.builder.arrays.entries(walked, 0), loop_ir::add(position, loop_ir::integer(2)));
  out.push_back(make(loop_ir::If{last, loop_ir::block({cleared(target, facts_.builder, after, rest)})}));
  if (own) out.push_back(cleared_row(target, facts_.builder, coordinate));
}

}  // namespace schaas::lower
