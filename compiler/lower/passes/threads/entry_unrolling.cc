#include "compiler/lower/passes/threads/entry_unrolling.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop_ir/map_expressions.h"
#include "compiler/loop_ir/phase_range.h"
#include "compiler/loop_ir/substitute.h"
#include "compiler/loop_ir/traversal.h"
#include "compiler/loop_ir/uses.h"

// A thread of a GPU that handles one entry after the other waits for memory at each: a coordinate, then what
// it locates. Copies of the body stand side by side, statement by statement. What only computes or loads
// comes first, for all copies. Folds and writes follow, copy after copy. Inner loops of the copies become
// one. A statement that does not depend on the entry stays single. Copies of a wide load stay together, since
// its lets follow each other. All threads of a group run the same trips, so folds of groups stay in step.
// Entries that remain are taken together, too, where an entry takes few steps of a thread. Copies without one
// load what the last entry locates, which is in the cache. What they would do with it is left out. So a short
// row waits for memory as often as four entries do. Where a thread runs a whole loop for each entry, two are
// taken at a time, then one.
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

/// Returns the entries that a thread takes at a time, of `grain` that it gets where the loop is one over
/// these.
int entries_at_once(const loop_ir::For& loop, int grain) {
  std::set<std::string> sums;
  loop_ir::for_each_statement(loop.body, [&](const StatementPtr& each) {
    if (const auto* fold = as<loop_ir::Accumulate>(each)) sums.insert(fold->name);
  });
  const int most = sums.size() > many_sums ? 2 : 4;
  const bool within_range = loop_ir::is_over_range(loop) ||
                            (loop_ir::is_cut_by_range(loop.begin) && loop_ir::is_cut_by_range(loop.end));
  return within_range && grain < most ? 1 : most;
}

/// A thread runs a whole loop for each entry; loops that it shares with others are short.
bool has_whole_loop(const StatementPtr& body) {
  return loop_ir::any_of(body, [](const StatementPtr& each) {
    const auto* inside = as<loop_ir::For>(each);
    return inside != nullptr && !inside->interleaved;
  });
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
  /// `value_arrays`: the arrays that hold values. `last`: copies other than the first may lack an entry.
  EntryCopies(const loop_ir::For& loop, int count, bool last, const std::set<std::string>& value_arrays,
              Names& names)
      : loop_(loop),
        last_(last),
        value_arrays_(value_arrays),
        names_(names),
        varying_{loop.variable},
        copies_(static_cast<std::size_t>(count)) {
    const auto last_entry = loop_ir::subtract(loop.end, loop_ir::integer(1));
    for (int n = 1; n < count; ++n)
      in_copy(n)[loop.variable] = last ? loop_ir::minimum(position(n), last_entry) : position(n);
  }

  /// Returns false where a bound or a condition depends on the entry.
  bool append(Statements& out) { return jam(loop_.body, out); }

 private:
  loop_ir::Substitution& in_copy(int n) { return copies_[static_cast<std::size_t>(n)]; }
  int count() const { return static_cast<int>(copies_.size()); }
  ExpressionPtr position(int n) const {
    return loop_ir::add(loop_ir::name(loop_.variable), loop_ir::integer(n * loop_.step));
  }
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
      for (int n = 0; n < count(); ++n) {
        out.push_back(make(loop_ir::Accumulator{declared(sum->name, n), sum->monoid, sum->initial}));
        own_sums_.insert(name_in(sum->name, n));
      }
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
    for (int n = 0; n < count(); ++n) append_where_entry(n, folds[static_cast<std::size_t>(n)], out);
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

  /// Appends the folds and writes of a copy, where it has an entry; folds into sums of its own are made in
  /// any case.
  void append_where_entry(int n, const Statements& effects, Statements& out) const {
    Statements guarded;
    const auto close = [&] {
      if (!guarded.empty())
        out.push_back(make(loop_ir::If{has_entry(n), loop_ir::block(std::move(guarded))}));
      guarded.clear();
    };
    for (const auto& each : effects) {
      const auto* fold = as<loop_ir::Accumulate>(each);
      if (last_ && n > 0 && (fold == nullptr || own_sums_.count(fold->name) == 0)) {
        guarded.push_back(each);
      } else {
        close();
        out.push_back(each);
      }
    }
    close();
  }
  ExpressionPtr has_entry(int n) const {
    return loop_ir::apply(operators::Function::less, {position(n), loop_.end});
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
    for (int n = 1; n < count(); ++n) {
      auto value = in(store.value, n);
      if (last_)
        value = loop_ir::choose(has_entry(n), value, loop_ir::number(operators::identity(store.monoid)));
      together.value = loop_ir::apply(operators::combine(store.monoid), {together.value, std::move(value)});
    }
    return make(std::move(together));
  }

  bool holds_value(const loop_ir::Load& load) const { return value_arrays_.count(load.array) > 0; }

  const loop_ir::For& loop_;
  const bool last_;
  const std::set<std::string>& value_arrays_;
  Names& names_;
  std::set<std::string> own_sums_;  ///< sums that the copies declare
  std::set<std::string> varying_;   ///< the loop's variable and names that depend on it
  std::vector<loop_ir::Substitution> copies_;
  std::vector<std::pair<ExpressionPtr, std::string>> loaded_;  ///< loads of the present copy that have a name
};

class EntryUnrolling {
 public:
  /// `grain`: iterations of a thread.
  EntryUnrolling(const loop_ir::Kernel& kernel, int grain, Names& names) : names_(names), grain_(grain) {
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

  /// Returns loops over fewer and fewer entries at a time, each of which goes on where the one before ended;
  /// null: the body cannot be jammed.
  StatementPtr unrolled_loops(const loop_ir::For& loop) {
    const int most = entries_at_once(loop, grain_);
    if (most == 1) return nullptr;
    const std::string next = names_.fresh("next");
    Statements out = {make(loop_ir::Counter{next, loop.begin})};
    const bool one_by_one = has_whole_loop(loop.body);
    for (int count = most; count > 1; count = one_by_one ? count / 2 : 1)
      out.push_back(jammed_loop(loop, next, count, false));
    out.push_back(jammed_loop(loop, next, one_by_one ? 1 : most - 1, true));
    const bool all = std::all_of(out.begin(), out.end(), [](const auto& each) { return each != nullptr; });
    return all ? loop_ir::block(std::move(out)) : nullptr;
  }

  /// Returns a loop that goes on at the counter and takes so many entries at a time, the `last` one all that
  /// remain; null: the body cannot be jammed.
  StatementPtr jammed_loop(const loop_ir::For& loop, const std::string& next, int count, bool last) {
    auto jammed = loop;
    EntryCopies copies(loop, count, last, value_arrays_, names_);
    Statements body;
    if (!copies.append(body)) return nullptr;
    if (!last) {
      body.push_back(make(loop_ir::SetCounter{
          next, loop_ir::add(loop_ir::name(loop.variable), loop_ir::integer(count * loop.step))}));
      jammed.end = loop_ir::subtract(loop.end, loop_ir::integer((count - 1) * loop.step));
    }
    jammed.begin = loop_ir::name(next);
    jammed.step = count * loop.step;
    jammed.shape = loop_ir::Shape::scalar;
    jammed.interleaved = jammed.cut = false;
    jammed.part = last ? loop_ir::Part::remainder : loop_ir::Part::jammed;
    jammed.body = loop_ir::block(std::move(body));
    return make(std::move(jammed));
  }

  Names& names_;
  const int grain_;
  std::set<std::string> value_arrays_;
};

}  // namespace

loop_ir::Kernel unroll_entries(loop_ir::Kernel kernel, Names& names) {
  for (auto& phase : kernel.phases)
    phase.body = EntryUnrolling(kernel, phase.mapping ? phase.mapping->grain : 1, names).of(phase.body);
  return kernel;
}

}  // namespace schaas::lower
