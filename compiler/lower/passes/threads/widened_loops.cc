#include "compiler/lower/passes/threads/widened_loops.h"

#include <algorithm>

#include "compiler/loop_ir/map_expressions.h"
#include "compiler/loop_ir/substitute.h"
#include "compiler/loop_ir/uses.h"

namespace schaas::lower {

using loop_ir::ExpressionPtr;
using loop_ir::make;
using operators::Function;
using Statements = std::vector<loop_ir::StatementPtr>;

namespace {

/// Returns the accumulators that the loop folds into.
std::set<std::string> sums_of(const loop_ir::For& loop) {
  std::set<std::string> sums;
  for (const auto& each : loop_ir::statements_of(loop.body)) {
    if (const auto* fold = loop_ir::as<loop_ir::Accumulate>(each)) sums.insert(fold->name);
  }
  return sums;
}

}  // namespace

ExpressionPtr LoopWidening::moved(const ExpressionPtr& expression) const {
  if (moved_.empty()) return expression;
  if (const auto* apply = std::get_if<loop_ir::Apply>(&expression->node)) {
    std::vector<ExpressionPtr> arguments;
    for (const auto& each : apply->arguments) arguments.push_back(moved(each));
    return loop_ir::apply(apply->function, std::move(arguments));
  }
  const auto* choice = std::get_if<loop_ir::Choose>(&expression->node);
  if (choice == nullptr) return expression;
  loop_ir::Uses uses;
  loop_ir::collect_uses(expression, uses);
  return loop_ir::choose(moved_test(choice->condition, uses.names), moved(choice->then),
                         moved(choice->otherwise));
}

ExpressionPtr LoopWidening::moved_test(const ExpressionPtr& test, const std::set<std::string>& used) const {
  for (const Moved& each : moved_) {
    const bool uses_sum = std::any_of(each.sums.begin(), each.sums.end(),
                                      [&](const std::string& sum) { return used.count(sum) > 0; });
    if (uses_sum && loop_ir::equal(test, each.ran)) return each.runs;
  }
  return test;
}

/// The load's elements follow each other along the loop, from one that may be aligned.
bool LoopWidening::advances(const loop_ir::Load& load, const std::string& variable) const {
  return arrays_.read.count(load.array) > 0 && advances(load.index, variable);
}

bool LoopWidening::advances(const ExpressionPtr& index, const std::string& variable) const {
  IndexSum sum = index_sum_of(index);
  const auto at = std::find_if(sum.terms.begin(), sum.terms.end(),
                               [&](const auto& term) { return loop_ir::is_name(term, variable); });
  if (at == sum.terms.end() || sum.constant % width_ != 0) return false;
  sum.terms.erase(at);
  std::set<std::string> extents;
  return divisibility_.is_multiple(sum, width_, extents) &&
         std::none_of(sum.terms.begin(), sum.terms.end(),
                      [&](const auto& term) { return loop_ir::mentions(term, {variable}); });
}

/// A loop over a whole extent, by one thread or interleaved, around plain statements with such a load.
bool LoopWidening::can_widen(const loop_ir::For& loop) const {
  const auto* end = std::get_if<loop_ir::Name>(&loop.end->node);
  // The loop is run by one thread, or interleaved from a thread's lane.
  const bool whole = loop.step == 1 && loop_ir::equal(loop.begin, loop_ir::integer(0));
  const bool shared = loop.interleaved && loop_ir::is_name(loop.begin, "lane");
  if (end == nullptr || !divisibility_.is_extent(end->name) || loop.unroll > 1 || !(whole || shared))
    return false;
  bool some = false;
  for (const auto& each : loop_ir::statements_of(loop.body)) {
    if (const auto* let = loop_ir::as<loop_ir::Let>(each); let != nullptr && let->fold) return false;
    if (!loop_ir::as<loop_ir::Let>(each) && !loop_ir::as<loop_ir::Accumulate>(each) &&
        !loop_ir::as<loop_ir::Store>(each) && !loop_ir::as<loop_ir::Defer>(each))
      return false;
    collect_loads(each, [&](const loop_ir::Load& load) { some = some || advances(load, loop.variable); });
    const auto* store = loop_ir::as<loop_ir::Store>(each);
    some = some || (store != nullptr && arrays_.written.count(store->array) > 0 &&
                    advances(store->index, loop.variable));
  }
  return some;
}

loop_ir::For LoopWidening::widened(const loop_ir::For& loop) {
  if (!can_widen(loop)) return loop;
  // No remainder follows: the launch finds that the extent is a multiple of the width.
  needs_.extents.insert(std::get<loop_ir::Name>(loop.end->node).name);
  needs_.width = width_;
  loop_ir::For out = loop;
  out.shape = loop_ir::Shape::scalar;
  out.step = loop.step * width_;
  // A thread now takes whole vectors in turn.
  if (loop.interleaved) {
    out.begin = loop_ir::multiply(loop.begin, loop_ir::integer(width_));
    moved_.push_back({loop_ir::apply(Function::less, {loop.begin, loop.end}),
                      loop_ir::apply(Function::less, {out.begin, loop.end}), sums_of(loop)});
  }
  Statements body;
  for (int n = 0; n < width_; ++n) {
    loop_ir::Substitution copy;
    copy[loop.variable] = loop_ir::add(loop_ir::name(loop.variable), loop_ir::integer(n));
    for (const auto& each : loop_ir::statements_of(loop.body)) {
      auto next = loop_ir::map_expressions(
          each, [&](const ExpressionPtr& e) { return loop_ir::substitute(e, copy); });
      if (const auto* let = loop_ir::as<loop_ir::Let>(next); let != nullptr && n > 0) {
        const std::string name = names_.fresh(let->name);
        copy[let->name] = loop_ir::name(name);
        next = make(loop_ir::Let{name, let->type, let->value});
      }
      body.push_back(next);
    }
  }
  out.body = loop_ir::block(std::move(body));
  return out;
}

}  // namespace schaas::lower
