#include "compiler/lower/passes/vector_loads.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop_ir/map_expressions.h"
#include "compiler/loop_ir/phase_range.h"
#include "compiler/loop_ir/printer.h"
#include "compiler/loop_ir/store_target.h"
#include "compiler/loop_ir/substitute.h"
#include "compiler/loop_ir/uses.h"

// Packs loads of adjacent elements (compare superword-level parallelism: Larsen and Amarasinghe, PLDI 2000).
// An index is a sum of terms and a constant. Loads of an array with equal terms form a family, in which runs
// of constants become one load. It is aligned when the width divides the first constant and all terms;
// extents count as multiples where the launch finds them so. Loops over whole extents are unrolled first,
// which makes such runs. Only arrays that the kernel never writes are packed, so loads may move before
// earlier statements.
namespace schaas::lower {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::make;
using loop_ir::StatementPtr;
using operators::Function;
using Statements = std::vector<StatementPtr>;

/// Calls `each` for the loads that the expression makes in any case.
void collect_loads(const ExpressionPtr& expression, const std::function<void(const loop_ir::Load&)>& each) {
  if (const auto* load = std::get_if<loop_ir::Load>(&expression->node)) each(*load);
  if (const auto* apply = std::get_if<loop_ir::Apply>(&expression->node)) {
    for (const auto& argument : apply->arguments) collect_loads(argument, each);
  }
}

void collect_loads(const StatementPtr& statement, const std::function<void(const loop_ir::Load&)>& each) {
  (void)loop_ir::map_expressions(statement, [&](const ExpressionPtr& expression) {
    collect_loads(expression, each);
    return expression;
  });
}

/// An index as a sum: its terms, and what is constant.
struct Sum {
  std::vector<ExpressionPtr> terms;
  std::int64_t constant = 0;

  void add(const ExpressionPtr& expression) {
    if (const auto* both = loop_ir::arguments_of(expression, Function::add)) {
      for (const auto& each : *both) add(each);
      return;
    }
    const auto* number = std::get_if<loop_ir::Integer>(&expression->node);
    std::int64_t sum = 0;
    if (number == nullptr || __builtin_add_overflow(constant, number->value, &sum)) {
      terms.push_back(expression);
    } else {
      constant = sum;
    }
  }
  std::string text() const {
    std::vector<std::string> texts;
    for (const auto& term : terms) texts.push_back(loop_ir::print(term));
    std::sort(texts.begin(), texts.end());
    std::string all;
    for (const auto& each : texts) all += each + " + ";
    return all;
  }
};
Sum sum_of(const ExpressionPtr& index) {
  Sum sum;
  sum.add(index);
  return sum;
}

class VectorLoads {
 public:
  VectorLoads(const loop_ir::Kernel& kernel, const loop_ir::Phase& phase, Names& names)
      : names_(names),
        columns_grain_(phase.mapping->columns_grain),
        width_(vector_elements(kernel.value_type)) {
    for (const auto& let : kernel.lets) known_[let.name] = let.value;
    for (const auto& extent : kernel.extents) extents_.insert(extent.name);
    for (const auto& array : kernel.arrays) {
      if (array.element != loop_ir::Element::value) continue;
      if (!array.written)
        arrays_.insert(array.name);
      else if (std::holds_alternative<loop_ir::ArgumentValues>(array.origin))
        written_.insert(array.name);
    }
  }

  StatementPtr of(const StatementPtr& statement) {
    Statements out;
    for (const auto& each : with_vector_guards(loop_ir::statements_of(statement))) append(each, out);
    return loop_ir::block(with_wide_stores(packed(out)));
  }

  loop_ir::Alignment alignment() const {
    loop_ir::Alignment out;
    out.width = used_width_;
    out.extents.assign(used_extents_.begin(), used_extents_.end());
    out.arrays.assign(used_arrays_.begin(), used_arrays_.end());
    return out;
  }

 private:
  /// An interleaved loop that starts elsewhere now. Later statements test `ran` to learn if its sums are
  /// empty.
  struct Moved {
    ExpressionPtr ran, runs;
    std::set<std::string> sums;
  };
  struct Steps {
    ExpressionPtr begin;
    std::int64_t step;
  };

  void append(const StatementPtr& statement, Statements& out) {
    if (const auto* let = loop_ir::as<loop_ir::Let>(statement)) known_[let->name] = let->value;
    if (const auto* guard = loop_ir::as<loop_ir::If>(statement)) {
      loop_ir::Uses uses;
      loop_ir::collect_uses(guard->body, uses);
      out.push_back(make(loop_ir::If{moved_test(guard->condition, uses.names), of(guard->body)}));
    } else if (const auto* loop = loop_ir::as<loop_ir::For>(statement)) {
      auto wide = widened(*loop);
      steps_[wide.variable] = {wide.begin, wide.step};
      wide.body = of(wide.body);
      out.push_back(make(std::move(wide)));
    } else {
      out.push_back(loop_ir::map_expressions(statement, [&](const ExpressionPtr& e) { return moved(e); }));
    }
  }

  /// Replaces the tests of choices that use a sum of a moved loop.
  ExpressionPtr moved(const ExpressionPtr& expression) const {
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

  /// Returns the test that a moved loop ran, for a test of what uses one of its sums. A test of the same text
  /// guards a single element where rows are kept in registers; it uses no such sum and stays.
  ExpressionPtr moved_test(const ExpressionPtr& test, const std::set<std::string>& used) const {
    for (const Moved& each : moved_) {
      const bool uses_sum = std::any_of(each.sums.begin(), each.sums.end(),
                                        [&](const std::string& sum) { return used.count(sum) > 0; });
      if (uses_sum && loop_ir::equal(test, each.ran)) return each.runs;
    }
    return test;
  }

  /// The expression is a multiple of `number` where the extents that are added are.
  bool is_multiple(const ExpressionPtr& expression, int number, std::set<std::string>& extents) const {
    if (const auto* integer = std::get_if<loop_ir::Integer>(&expression->node))
      return integer->value % number == 0;
    if (const auto* name = std::get_if<loop_ir::Name>(&expression->node))
      return is_multiple(name->name, number, extents);
    if (const auto* sum = loop_ir::arguments_of(expression, Function::add))
      return std::all_of(sum->begin(), sum->end(),
                         [&](const auto& each) { return is_multiple(each, number, extents); });
    if (const auto* product = loop_ir::arguments_of(expression, Function::multiply))
      return std::any_of(product->rbegin(), product->rend(),
                         [&](const auto& each) { return is_multiple(each, number, extents); });
    return false;
  }
  bool is_multiple(const std::string& name, int number, std::set<std::string>& extents) const {
    if (name == loop_ir::column_names[0]) return columns_grain_ % number == 0;
    if (extents_.count(name) > 0) return extents.insert(name), true;
    if (const auto loop = steps_.find(name); loop != steps_.end())
      return loop->second.step % number == 0 && is_multiple(loop->second.begin, number, extents);
    const auto value = known_.find(name);
    return value != known_.end() && is_multiple(value->second, number, extents);
  }
  bool is_multiple(const Sum& sum, int number, std::set<std::string>& extents) const {
    return std::all_of(sum.terms.begin(), sum.terms.end(),
                       [&](const auto& term) { return is_multiple(term, number, extents); });
  }

  /// The load's elements follow each other along the loop, from one that may be aligned.
  bool advances(const loop_ir::Load& load, const std::string& variable) const {
    return arrays_.count(load.array) > 0 && advances(load.index, variable);
  }
  bool advances(const ExpressionPtr& index, const std::string& variable) const {
    Sum sum = sum_of(index);
    const auto at = std::find_if(sum.terms.begin(), sum.terms.end(),
                                 [&](const auto& term) { return loop_ir::is_name(term, variable); });
    if (at == sum.terms.end() || sum.constant % width_ != 0) return false;
    sum.terms.erase(at);
    std::set<std::string> extents;
    return is_multiple(sum, width_, extents) &&
           std::none_of(sum.terms.begin(), sum.terms.end(),
                        [&](const auto& term) { return loop_ir::mentions(term, {variable}); });
  }

  /// A loop over a whole extent, by one thread or interleaved, around plain statements with such a load.
  bool can_widen(const loop_ir::For& loop) const {
    const auto* end = std::get_if<loop_ir::Name>(&loop.end->node);
    // The loop is run by one thread, or interleaved from a thread's lane.
    const bool whole = loop.step == 1 && loop_ir::equal(loop.begin, loop_ir::integer(0));
    const bool shared = loop.interleaved && loop_ir::is_name(loop.begin, "lane");
    if (end == nullptr || extents_.count(end->name) == 0 || loop.unroll > 1 || !(whole || shared))
      return false;
    bool some = false;
    for (const auto& each : loop_ir::statements_of(loop.body)) {
      if (const auto* let = loop_ir::as<loop_ir::Let>(each); let != nullptr && let->fold) return false;
      if (!loop_ir::as<loop_ir::Let>(each) && !loop_ir::as<loop_ir::Accumulate>(each) &&
          !loop_ir::as<loop_ir::Store>(each) && !loop_ir::as<loop_ir::Defer>(each))
        return false;
      collect_loads(each, [&](const loop_ir::Load& load) { some = some || advances(load, loop.variable); });
      const auto* store = loop_ir::as<loop_ir::Store>(each);
      some = some ||
             (store != nullptr && written_.count(store->array) > 0 && advances(store->index, loop.variable));
    }
    return some;
  }

  /// Returns the accumulators that the loop folds into.
  static std::set<std::string> sums_of(const loop_ir::For& loop) {
    std::set<std::string> sums;
    for (const auto& each : loop_ir::statements_of(loop.body)) {
      if (const auto* fold = loop_ir::as<loop_ir::Accumulate>(each)) sums.insert(fold->name);
    }
    return sums;
  }

  /// Unrolls the loop by a vector's elements.
  loop_ir::For widened(const loop_ir::For& loop) {
    if (!can_widen(loop)) return loop;
    // No remainder follows: the launch finds that the extent is a multiple of the width.
    used_extents_.insert(std::get<loop_ir::Name>(loop.end->node).name);
    used_width_ = width_;
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

  /// Makes the guards of the elements of one vector one: `(lane * 4) + 3 < n` holds where `lane * 4 < n` does
  /// when both sides are multiples of four.
  Statements with_vector_guards(const Statements& statements) {
    Statements out;
    for (const auto& each : statements) {
      const auto* guard = loop_ir::as<loop_ir::If>(each);
      if (guard == nullptr) {
        out.push_back(each);
        continue;
      }
      const auto condition = vector_guard(guard->condition);
      const auto* before = out.empty() ? nullptr : loop_ir::as<loop_ir::If>(out.back());
      if (before != nullptr && condition != guard->condition &&
          loop_ir::equal(before->condition, condition) && declare_apart(before->body, guard->body)) {
        Statements both = loop_ir::statements_of(before->body);
        for (const auto& inside : loop_ir::statements_of(guard->body)) both.push_back(inside);
        out.back() = make(loop_ir::If{condition, loop_ir::block(std::move(both))});
      } else {
        out.push_back(make(loop_ir::If{condition, guard->body}));
      }
    }
    return out;
  }

  /// Returns the guard of the first element of the vector that the guard's element is of.
  ExpressionPtr vector_guard(const ExpressionPtr& condition) {
    const auto* sides = loop_ir::arguments_of(condition, Function::less);
    if (sides == nullptr) return condition;
    Sum sum = sum_of((*sides)[0]);
    const std::int64_t further = sum.constant % width_;
    std::set<std::string> extents;
    if (further <= 0 || !is_multiple(sum, width_, extents) || !is_multiple((*sides)[1], width_, extents))
      return condition;
    used_extents_.insert(extents.begin(), extents.end());
    used_width_ = width_;
    ExpressionPtr first = loop_ir::integer(sum.constant - further);
    for (const auto& term : sum.terms) first = loop_ir::add(term, first);
    return loop_ir::apply(Function::less, {first, (*sides)[1]});
  }

  static bool declare_apart(const StatementPtr& one, const StatementPtr& other) {
    std::set<std::string> first, second;
    loop_ir::collect_declared(one, first);
    loop_ir::collect_declared(other, second);
    return std::none_of(first.begin(), first.end(), [&](const auto& name) { return second.count(name) > 0; });
  }

  /// Returns how many stores from `at` on write adjacent elements, from an aligned one; 1: it stays single.
  int stores_at(const Statements& statements, std::size_t at) {
    const auto first = loop_ir::store_target(statements[at]);
    if (!first || written_.count(first->array) == 0) return 1;
    const Sum begin = sum_of(first->index);
    for (int width = width_; width > 1; width /= 2) {
      std::set<std::string> extents;
      if (at + static_cast<std::size_t>(width) > statements.size() || begin.constant % width != 0 ||
          !is_multiple(begin, width, extents))
        continue;
      bool all = true;
      for (int n = 1; n < width && all; ++n) {
        const auto next = loop_ir::store_target(statements[at + static_cast<std::size_t>(n)]);
        if (!next || !loop_ir::write_alike(*next, *first)) {
          all = false;
          continue;
        }
        const Sum index = sum_of(next->index);
        all = index.constant == begin.constant + n && index.text() == begin.text();
      }
      if (!all) continue;
      used_extents_.insert(extents.begin(), extents.end());
      used_arrays_.insert(first->array);
      used_width_ = std::max(used_width_, width);
      return width;
    }
    return 1;
  }

  /// Writes runs of adjacent elements together.
  Statements with_wide_stores(Statements statements) {
    for (std::size_t at = 0; at < statements.size(); ++at) {
      const int width = stores_at(statements, at);
      if (width == 1) continue;
      const ExpressionPtr base = loop_ir::store_target(statements[at])->index;
      for (int n = 0; n < width; ++n) {
        StatementPtr& each = statements[at + static_cast<std::size_t>(n)];
        const auto change = [&](auto store) {
          store.index = loop_ir::add(base, loop_ir::integer(n));
          store.wide = n == 0 ? width : 1;
          each = make(std::move(store));
        };
        if (const auto* store = loop_ir::as<loop_ir::Store>(each))
          change(*store);
        else
          change(*loop_ir::as<loop_ir::GroupStore>(each));
      }
      at += static_cast<std::size_t>(width) - 1;
    }
    return statements;
  }

  /// Loads of one array whose indices differ by constants.
  struct Family {
    std::string array;
    Sum base;
    std::map<std::int64_t, std::size_t> first;  ///< constant -> the statement that loads it first
  };
  using Families = std::map<std::string, Family>;

  /// Collects the loads of a block by array and terms.
  Families families_of(const Statements& statements) const {
    Families out;
    for (std::size_t s = 0; s < statements.size(); ++s) {
      collect_loads(statements[s], [&](const loop_ir::Load& load) {
        if (arrays_.count(load.array) == 0) return;
        const Sum sum = sum_of(load.index);
        Family& family = out[load.array + "[" + sum.text()];
        family.array = load.array;
        family.base = sum;
        family.first.emplace(sum.constant, s);
      });
    }
    return out;
  }

  /// Loads runs of adjacent elements before the first statement that needs one.
  Statements packed(const Statements& statements) {
    std::map<std::size_t, Statements> before;
    std::map<std::string, std::map<std::int64_t, std::string>> loaded;
    for (const auto& [key, family] : families_of(statements)) {
      for (const auto& [constant, first] : family.first) {
        if (loaded[key].count(constant) > 0) continue;
        const int width = run_at(family, constant);
        if (width < 2) continue;
        std::size_t at = first;
        std::vector<std::string> names;
        for (int n = 0; n < width; ++n) {
          at = std::min(at, family.first.at(constant + n));
          names.push_back(loaded[key][constant + n] = names_.fresh("v"));
        }
        used_width_ = std::max(used_width_, width);
        used_arrays_.insert(family.array);
        ExpressionPtr index = loop_ir::integer(constant);
        for (const auto& term : family.base.terms) index = loop_ir::add(index, term);
        for (int n = 0; n < width; ++n)
          before[at].push_back(make(loop_ir::Let{
              names[static_cast<std::size_t>(n)], loop_ir::Type::value,
              loop_ir::load(family.array, loop_ir::add(index, loop_ir::integer(n))), n == 0 ? width : 1}));
      }
    }
    if (before.empty()) return statements;
    Statements out;
    for (std::size_t s = 0; s < statements.size(); ++s) {
      for (const auto& each : before[s]) out.push_back(each);
      out.push_back(loop_ir::map_expressions(statements[s],
                                             [&](const ExpressionPtr& e) { return with_names(e, loaded); }));
    }
    return out;
  }

  /// Returns the most elements from a constant on that one aligned load brings; 1: none.
  int run_at(const Family& family, std::int64_t constant) {
    for (int width = width_; width > 1; width /= 2) {
      bool all = constant % width == 0;
      for (int n = 0; n < width; ++n) all = all && family.first.count(constant + n) > 0;
      std::set<std::string> extents;
      if (!all || !is_multiple(family.base, width, extents)) continue;
      used_extents_.insert(extents.begin(), extents.end());
      return width;
    }
    return 1;
  }

  static ExpressionPtr with_names(const ExpressionPtr& expression,
                                  const std::map<std::string, std::map<std::int64_t, std::string>>& loaded) {
    if (const auto* load = std::get_if<loop_ir::Load>(&expression->node)) {
      const Sum sum = sum_of(load->index);
      const auto family = loaded.find(load->array + "[" + sum.text());
      if (family == loaded.end() || family->second.count(sum.constant) == 0) return expression;
      return loop_ir::name(family->second.at(sum.constant));
    }
    const auto* apply = std::get_if<loop_ir::Apply>(&expression->node);
    if (apply == nullptr) return expression;
    std::vector<ExpressionPtr> arguments;
    for (const auto& each : apply->arguments) arguments.push_back(with_names(each, loaded));
    return loop_ir::apply(apply->function, std::move(arguments));
  }

  Names& names_;
  const int columns_grain_, width_;
  std::set<std::string> extents_, arrays_;  ///< extents; arrays of values that the kernel only reads
  std::set<std::string> written_;           ///< arrays of the result's values
  std::map<std::string, ExpressionPtr> known_;
  std::map<std::string, Steps> steps_;
  std::vector<Moved> moved_;
  int used_width_ = 1;
  std::set<std::string> used_extents_, used_arrays_;
};

}  // namespace

int vector_elements(loop_ir::ValueType type) {
  // The widest store of a GPU bounds it: results of narrow operands are not narrow.
  constexpr int vector_bytes = 16;
  return vector_bytes / static_cast<int>(operators::bytes_of(type));
}

loop_ir::Kernel vectorize_loads(loop_ir::Kernel kernel, Names& names) {
  for (auto& phase : kernel.phases) {
    VectorLoads loads(kernel, phase, names);
    const auto body = loads.of(phase.body);
    auto alignment = loads.alignment();
    if (alignment.arrays.empty()) continue;
    const auto aligned = loop_ir::name("aligned");
    const auto not_aligned = loop_ir::apply(Function::equal, {aligned, loop_ir::integer(0)});
    phase.body =
        loop_ir::block({make(loop_ir::If{aligned, body}), make(loop_ir::If{not_aligned, phase.body})});
    phase.alignment = std::move(alignment);
  }
  return kernel;
}

}  // namespace schaas::lower
