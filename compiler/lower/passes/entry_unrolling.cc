#include "compiler/lower/passes/entry_unrolling.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop_ir/map_expressions.h"
#include "compiler/loop_ir/substitute.h"
#include "compiler/loop_ir/traversal.h"
#include "compiler/loop_ir/uses.h"

// A thread of a GPU that handles one entry after the other waits for memory at each: a coordinate, then what
// it locates. Copies of the body stand side by side, statement by statement. What only computes or loads
// comes first, for all copies. Folds and writes follow, copy after copy. Inner loops of the copies become
// one. A statement that does not depend on the entry stays single. Copies of a wide load stay together, since
// its lets follow each other. All threads of a group run the same trips, so folds of groups stay in step.
namespace schaas::lower {
namespace {

using loop_ir::as;
using loop_ir::ExpressionPtr;
using loop_ir::make;
using loop_ir::StatementPtr;
using loop_ir::statements_of;
using Statements = std::vector<StatementPtr>;

/// Sums over the entries, above which four copies take more registers than a thread has.
constexpr std::size_t many_sums = 8;

/// Returns the entries that a thread takes at a time, then of those that remain.
std::vector<int> entries_at_once(const StatementPtr& body) {
  std::set<std::string> sums;
  loop_ir::for_each_statement(body, [&](const StatementPtr& each) {
    if (const auto* fold = as<loop_ir::Accumulate>(each)) sums.insert(fold->name);
  });
  return sums.size() > many_sums ? std::vector<int>{2} : std::vector<int>{4, 2};
}

/// Arrays that a body loads from, and those that it writes.
struct ArrayUses {
  std::set<std::string> loaded, written;
};

ArrayUses array_uses_of(const StatementPtr& body) {
  ArrayUses arrays;
  const auto loads_in = [&](const ExpressionPtr& expression) {
    loop_ir::Uses uses;
    loop_ir::collect_uses(expression, uses);
    arrays.loaded.insert(uses.arrays.begin(), uses.arrays.end());
  };
  loop_ir::for_each_statement(body, [&](const StatementPtr& each) {
    (void)loop_ir::map_expressions(each, [&](const ExpressionPtr& expression) {
      loads_in(expression);
      return expression;
    });
    if (const auto* loop = as<loop_ir::For>(each)) loads_in(loop->begin), loads_in(loop->end);
    if (const auto* guard = as<loop_ir::If>(each)) loads_in(guard->condition);
    if (const auto* store = as<loop_ir::Store>(each)) arrays.written.insert(store->array);
    if (const auto* store = as<loop_ir::GroupStore>(each)) arrays.written.insert(store->array);
  });
  return arrays;
}

bool only_known_statements(const StatementPtr& body) {
  return !loop_ir::any_of(body, [](const StatementPtr& each) {
    return !loop_ir::is_any<loop_ir::Block, loop_ir::Let, loop_ir::Accumulator, loop_ir::Accumulate,
                            loop_ir::If, loop_ir::For, loop_ir::Store, loop_ir::GroupStore>(each);
  });
}

/// Copies of the body of one loop, side by side.
class EntryCopies {
 public:
  /// `value_arrays`: the arrays that hold values.
  EntryCopies(const loop_ir::For& loop, int count, const std::set<std::string>& value_arrays, Names& names)
      : loop_(loop),
        value_arrays_(value_arrays),
        names_(names),
        varying_{loop.variable},
        copies_(static_cast<std::size_t>(count)) {
    for (int n = 1; n < count; ++n)
      in_copy(n)[loop.variable] = loop_ir::add(loop_ir::name(loop.variable), loop_ir::integer(n * loop.step));
  }

  /// Returns false where a bound or a condition depends on the entry.
  bool append(Statements& out) { return jam(loop_.body, out); }

 private:
  loop_ir::Substitution& in_copy(int n) { return copies_[static_cast<std::size_t>(n)]; }
  int count() const { return static_cast<int>(copies_.size()); }
  ExpressionPtr in(const ExpressionPtr& expression, int n) const {
    return loop_ir::substitute(expression, copies_[static_cast<std::size_t>(n)]);
  }
  bool varies(const ExpressionPtr& expression) const { return loop_ir::mentions(expression, varying_); }

  bool jam(const StatementPtr& body, Statements& out) {
    const auto all = statements_of(body);
    for (std::size_t s = 0; s < all.size(); ++s) {
      if (const auto* let = as<loop_ir::Let>(all[s])) {
        const auto width = static_cast<std::size_t>(std::max(let->wide, 1));
        append_lets({all.begin() + static_cast<std::ptrdiff_t>(s),
                     all.begin() + static_cast<std::ptrdiff_t>(s + width)},
                    out);
        s += width - 1;
      } else if (const auto* loop = as<loop_ir::For>(all[s])) {
        if (varies(loop->begin) || varies(loop->end)) return false;
        auto joined = *loop;
        Statements inside;
        if (!jam(loop->body, inside)) return false;
        joined.body = loop_ir::block(std::move(inside));
        out.push_back(make(std::move(joined)));
      } else if (const auto* guard = as<loop_ir::If>(all[s])) {
        Statements inside;
        if (varies(guard->condition) || !jam(guard->body, inside)) return false;
        out.push_back(make(loop_ir::If{guard->condition, loop_ir::block(std::move(inside))}));
      } else {
        // Folds and writes that follow each other wait for the loads of all of them.
        const auto end = std::find_if(
            all.begin() + static_cast<std::ptrdiff_t>(s), all.end(),
            [](const auto& each) { return loop_ir::is_any<loop_ir::Let, loop_ir::For, loop_ir::If>(each); });
        append_effects({all.begin() + static_cast<std::ptrdiff_t>(s), end}, out);
        s = static_cast<std::size_t>(end - all.begin()) - 1;
      }
    }
    return true;
  }

  /// Appends a let, or those of a wide load, for each copy, or once.
  void append_lets(const Statements& lets, Statements& out) {
    const bool once = std::none_of(lets.begin(), lets.end(), [&](const StatementPtr& each) {
      return varies(as<loop_ir::Let>(each)->value);
    });
    for (int n = 0; n < (once ? 1 : count()); ++n) {
      for (const auto& each : lets) {
        loop_ir::Let let = *as<loop_ir::Let>(each);
        let.value = in(let.value, n);
        let.name = declared(let.name, n);
        out.push_back(make(std::move(let)));
      }
    }
    if (once) return;
    for (const auto& each : lets) varying_.insert(as<loop_ir::Let>(each)->name);
  }

  /// Returns the name of a declaration in a copy; the first copy keeps its names.
  std::string declared(const std::string& name, int n) {
    if (n == 0) return name;
    const std::string fresh = names_.numbered(name);
    in_copy(n)[name] = loop_ir::name(fresh);
    return fresh;
  }
  std::string name_in(const std::string& name, int n) {
    const auto found = in_copy(n).find(name);
    return found == in_copy(n).end() ? name : std::get<loop_ir::Name>(found->second->node).name;
  }

  void append_effects(const Statements& effects, Statements& out) {
    for (const auto& each : effects) {
      const auto* sum = as<loop_ir::Accumulator>(each);
      if (sum == nullptr) continue;
      for (int n = 0; n < count(); ++n)
        out.push_back(make(loop_ir::Accumulator{declared(sum->name, n), sum->monoid, sum->initial}));
      varying_.insert(sum->name);
    }
    std::vector<Statements> folds(copies_.size());
    for (int n = 0; n < count(); ++n) {
      loaded_.clear();
      for (const auto& each : effects) {
        if (as<loop_ir::Accumulator>(each) == nullptr && !is_folded_once(each))
          folds[static_cast<std::size_t>(n)].push_back(effect(each, n, out));
      }
    }
    for (const auto& copy : folds) out.insert(out.end(), copy.begin(), copy.end());
    for (const auto& each : effects) {
      if (is_folded_once(each)) out.push_back(folded_once(*as<loop_ir::Store>(each)));
    }
  }

  /// Returns a fold or write of a copy; its loads become lets before it.
  StatementPtr effect(const StatementPtr& statement, int n, Statements& out) {
    const auto map = [&](const ExpressionPtr& expression) { return with_lets(in(expression, n), out); };
    const auto mapped = loop_ir::map_expressions(statement, map);
    const auto* fold = as<loop_ir::Accumulate>(mapped);
    return fold == nullptr ? mapped : make(loop_ir::Accumulate{name_in(fold->name, n), fold->value});
  }

  /// Names the loads that the expression makes in any case.
  ExpressionPtr with_lets(const ExpressionPtr& expression, Statements& out) {
    if (const auto* load = std::get_if<loop_ir::Load>(&expression->node);
        load != nullptr && holds_value(*load)) {
      for (const auto& [known, name] : loaded_)
        if (loop_ir::equal(known, expression)) return loop_ir::name(name);
      const std::string name = names_.fresh("v");
      out.push_back(make(loop_ir::Let{name, loop_ir::Type::value, expression}));
      loaded_.emplace_back(expression, name);
      return loop_ir::name(name);
    }
    const auto* apply = std::get_if<loop_ir::Apply>(&expression->node);
    if (apply == nullptr) return expression;
    std::vector<ExpressionPtr> arguments;
    for (const auto& each : apply->arguments) arguments.push_back(with_lets(each, out));
    return loop_ir::apply(apply->function, std::move(arguments));
  }

  /// A fold of all copies into one element, which is read and written once.
  bool is_folded_once(const StatementPtr& statement) const {
    const auto* store = as<loop_ir::Store>(statement);
    return store != nullptr && store->mode != loop_ir::Write::set && !varies(store->index);
  }
  StatementPtr folded_once(const loop_ir::Store& store) const {
    auto together = store;
    for (int n = 1; n < count(); ++n)
      together.value = loop_ir::apply(operators::combine(store.monoid), {together.value, in(store.value, n)});
    return make(std::move(together));
  }

  bool holds_value(const loop_ir::Load& load) const { return value_arrays_.count(load.array) > 0; }

  const loop_ir::For& loop_;
  const std::set<std::string>& value_arrays_;
  Names& names_;
  std::set<std::string> varying_;  ///< the loop's variable and names that depend on it
  std::vector<loop_ir::Substitution> copies_;
  std::vector<std::pair<ExpressionPtr, std::string>> loaded_;  ///< loads of the present copy that have a name
};

class EntryUnrolling {
 public:
  EntryUnrolling(const loop_ir::Kernel& kernel, Names& names) : names_(names) {
    for (const auto& array : kernel.arrays)
      if (array.element == loop_ir::Element::value) value_arrays_.insert(array.name);
  }

  StatementPtr of(const StatementPtr& statement) {
    const auto* loop = as<loop_ir::For>(statement);
    if (loop != nullptr && can_unroll(*loop)) {
      if (auto unrolled = unrolled_loops(*loop)) return unrolled;
    }
    return loop_ir::map_children(statement, [&](const StatementPtr& each) { return of(each); });
  }

 private:
  static bool can_unroll(const loop_ir::For& loop) {
    if (loop.entries.empty() || loop.part != loop_ir::Part::whole || loop.shape == loop_ir::Shape::vector)
      return false;
    const bool walks_again = loop_ir::any_of(loop.body, [](const StatementPtr& each) {
      const auto* inside = as<loop_ir::For>(each);
      return inside != nullptr && !inside->entries.empty();
    });
    if (walks_again || !only_known_statements(loop.body)) return false;
    const ArrayUses arrays = array_uses_of(loop.body);
    return std::none_of(arrays.written.begin(), arrays.written.end(),
                        [&](const std::string& array) { return arrays.loaded.count(array) > 0; });
  }

  /// Returns a loop for each number of entries, which go on where the one before ended; null: the body cannot
  /// be jammed.
  StatementPtr unrolled_loops(const loop_ir::For& loop) {
    const std::string next = names_.fresh("next");
    Statements out = {make(loop_ir::Counter{next, loop.begin})};
    for (const int count : entries_at_once(loop.body)) {
      auto jammed = loop;
      EntryCopies copies(loop, count, value_arrays_, names_);
      Statements body;
      if (!copies.append(body)) return nullptr;
      body.push_back(make(loop_ir::SetCounter{
          next, loop_ir::add(loop_ir::name(loop.variable), loop_ir::integer(count * loop.step))}));
      jammed.begin = loop_ir::name(next);
      jammed.end = loop_ir::subtract(loop.end, loop_ir::integer((count - 1) * loop.step));
      jammed.step = count * loop.step;
      jammed.shape = loop_ir::Shape::scalar;
      jammed.interleaved = jammed.cut = false;
      jammed.part = loop_ir::Part::jammed;
      jammed.body = loop_ir::block(std::move(body));
      out.push_back(make(std::move(jammed)));
    }
    auto last = loop;
    last.begin = loop_ir::name(next);
    last.interleaved = last.cut = false;
    last.part = loop_ir::Part::remainder;
    out.push_back(make(std::move(last)));
    return loop_ir::block(std::move(out));
  }

  Names& names_;
  std::set<std::string> value_arrays_;
};

}  // namespace

loop_ir::Kernel unroll_entries(loop_ir::Kernel kernel, Names& names) {
  for (auto& phase : kernel.phases) phase.body = EntryUnrolling(kernel, names).of(phase.body);
  return kernel;
}

}  // namespace schaas::lower
