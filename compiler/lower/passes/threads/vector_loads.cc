#include "compiler/lower/passes/threads/vector_loads.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop_ir/map_expressions.h"
#include "compiler/loop_ir/store_target.h"
#include "compiler/loop_ir/uses.h"
#include "compiler/lower/passes/threads/adjacent_elements.h"
#include "compiler/lower/passes/threads/widened_loops.h"

// Packs loads of adjacent elements (compare superword-level parallelism: Larsen and Amarasinghe, PLDI 2000).
// An index is a sum of terms and a constant. Loads of an array with equal terms form a family, in which runs
// of constants become one load. It is aligned when the width divides the first constant and all terms;
// extents count as multiples where the launch finds them so. Loops over whole extents are widened first,
// which makes such runs. Only arrays that the kernel never writes are packed, so loads may move before
// earlier statements.
namespace schaas::lower {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::make;
using loop_ir::StatementPtr;
using operators::Function;
using Statements = std::vector<StatementPtr>;

class VectorLoads {
 public:
  VectorLoads(const loop_ir::Kernel& kernel, const loop_ir::Phase& phase, Names& names)
      : names_(names),
        width_(vector_elements(kernel.value_type)),
        divisibility_(kernel, phase.mapping->columns_grain),
        widening_(divisibility_, arrays_, width_, needs_, names) {
    for (const auto& array : kernel.arrays) {
      if (array.element != loop_ir::Element::value) continue;
      if (!array.written)
        arrays_.read.insert(array.name);
      else if (std::holds_alternative<loop_ir::ArgumentValues>(array.origin))
        arrays_.written.insert(array.name);
    }
  }

  StatementPtr of(const StatementPtr& statement) {
    Statements out;
    for (const auto& each : with_vector_guards(loop_ir::statements_of(statement))) append(each, out);
    return loop_ir::block(with_wide_stores(packed(out)));
  }

  loop_ir::Alignment alignment() const {
    loop_ir::Alignment out;
    out.width = needs_.width;
    out.extents.assign(needs_.extents.begin(), needs_.extents.end());
    out.arrays.assign(needs_.arrays.begin(), needs_.arrays.end());
    return out;
  }

 private:
  void append(const StatementPtr& statement, Statements& out) {
    if (const auto* let = loop_ir::as<loop_ir::Let>(statement)) divisibility_.note(*let);
    if (const auto* guard = loop_ir::as<loop_ir::If>(statement)) {
      loop_ir::Uses uses;
      loop_ir::collect_uses(guard->body, uses);
      out.push_back(make(loop_ir::If{widening_.moved_test(guard->condition, uses.names), of(guard->body)}));
    } else if (const auto* loop = loop_ir::as<loop_ir::For>(statement)) {
      auto wide = widening_.widened(*loop);
      divisibility_.note(wide);
      wide.body = of(wide.body);
      out.push_back(make(std::move(wide)));
    } else {
      out.push_back(
          loop_ir::map_expressions(statement, [&](const ExpressionPtr& e) { return widening_.moved(e); }));
    }
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
    IndexSum sum = index_sum_of((*sides)[0]);
    const std::int64_t further = sum.constant % width_;
    std::set<std::string> extents;
    if (further <= 0 || !divisibility_.is_multiple(sum, width_, extents) ||
        !divisibility_.is_multiple((*sides)[1], width_, extents))
      return condition;
    needs_.extents.insert(extents.begin(), extents.end());
    needs_.width = width_;
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
    if (!first || arrays_.written.count(first->array) == 0) return 1;
    const IndexSum begin = index_sum_of(first->index);
    for (int width = width_; width > 1; width /= 2) {
      std::set<std::string> extents;
      if (at + static_cast<std::size_t>(width) > statements.size() || begin.constant % width != 0 ||
          !divisibility_.is_multiple(begin, width, extents))
        continue;
      bool all = true;
      for (int n = 1; n < width && all; ++n) {
        const auto next = loop_ir::store_target(statements[at + static_cast<std::size_t>(n)]);
        if (!next || !loop_ir::write_alike(*next, *first)) {
          all = false;
          continue;
        }
        const IndexSum index = index_sum_of(next->index);
        all = index.constant == begin.constant + n && index.text() == begin.text();
      }
      if (!all) continue;
      needs_.extents.insert(extents.begin(), extents.end());
      needs_.arrays.insert(first->array);
      needs_.width = std::max(needs_.width, width);
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
    IndexSum base;
    std::map<std::int64_t, std::size_t> first;  ///< constant -> the statement that loads it first
  };
  using Families = std::map<std::string, Family>;

  /// Collects the loads of a block by array and terms.
  Families families_of(const Statements& statements) const {
    Families out;
    for (std::size_t s = 0; s < statements.size(); ++s) {
      collect_loads(statements[s], [&](const loop_ir::Load& load) {
        if (arrays_.read.count(load.array) == 0) return;
        const IndexSum sum = index_sum_of(load.index);
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
        needs_.width = std::max(needs_.width, width);
        needs_.arrays.insert(family.array);
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
      if (!all || !divisibility_.is_multiple(family.base, width, extents)) continue;
      needs_.extents.insert(extents.begin(), extents.end());
      return width;
    }
    return 1;
  }

  static ExpressionPtr with_names(const ExpressionPtr& expression,
                                  const std::map<std::string, std::map<std::int64_t, std::string>>& loaded) {
    if (const auto* load = std::get_if<loop_ir::Load>(&expression->node)) {
      const IndexSum sum = index_sum_of(load->index);
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
  const int width_;
  LoopWidening::Arrays arrays_;  ///< those of values that the kernel only reads, and the result's
  AlignmentNeeds needs_;
  Divisibility divisibility_;
  LoopWidening widening_;
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
