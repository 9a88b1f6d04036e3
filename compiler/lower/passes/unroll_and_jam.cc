#include "compiler/lower/passes/unroll_and_jam.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/loop_ir/phase_range.h"
#include "compiler/loop_ir/substitute.h"
#include "compiler/loop_ir/traversal.h"
#include "compiler/loop_ir/uses.h"
#include "compiler/lower/analysis/names.h"
#include "compiler/support/result.h"

// Unroll and jam (Callahan, Carr, Kennedy, PLDI 1990). Copies may run side by side when no array that is
// written is read, and one statement alone writes an array that is overwritten. Inner loops must have the
// same bounds in all copies. The head of the body is replicated statement by statement, which jams its
// loops; the tail, after the last loop, runs copy after copy, since it may advance counters. Jamming pays
// when copies share a load or fold independent values. Ranges of a phase that cut rows are left alone: sums
// would depend on the number of threads. Innermost loops come first, and a loop around a jammed one stays.
namespace schaas::lower {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::Match;
using loop_ir::StatementPtr;
using loop_ir::statements_of;
using loop_ir::Substitution;

constexpr int rows_side_by_side = 6;

/// Returns the unroll factor. Four tiles of one or two registers fill half of sixteen. Six rows of a dense
/// product fill three quarters; each has two registers on x86-64-v3 and four on x86-64-v4
/// (codegen/c_vector_loops.cc). A row of the other operand is loaded once for six. Loops over few values,
/// such as those of a block, use all of them or a divisor.
int group_of(const loop_ir::For& loop) {
  const int rows = loop.product ? rows_side_by_side : 4;
  const auto* begin = std::get_if<loop_ir::Integer>(&loop.begin->node);
  const auto* end = std::get_if<loop_ir::Integer>(&loop.end->node);
  if (begin == nullptr || end == nullptr) return rows;
  std::int64_t count = 0;
  if (__builtin_sub_overflow(end->value, begin->value, &count)) return rows;
  if (count == 2 || count % rows == 0) return count == 2 ? 2 : rows;
  if (count % 4 == 0) return 4;
  return count % 3 == 0 && count <= 9 ? 3 : count < 2 * rows ? 4 : rows;
}

/// Reads and writes of a loop body, as far as it can be jammed at all.
struct Traffic {
  std::set<std::string> loaded;
  std::set<std::string> overwritten;   ///< arrays with a store that sets
  std::map<std::string, int> writers;  ///< array -> statements that store there
  std::set<std::string> counters;      ///< counters set inside
};

void loads_of(const ExpressionPtr& expression, Traffic& traffic) {
  loop_ir::Uses uses;
  loop_ir::collect_uses(expression, uses);
  traffic.loaded.insert(uses.arrays.begin(), uses.arrays.end());
}

/// Returns false for a statement that cannot be jammed.
bool collect(const StatementPtr& statement, Traffic& traffic) {
  return std::visit(Match{
                        [&](const loop_ir::Block& x) {
                          return std::all_of(
                              x.statements.begin(), x.statements.end(),
                              [&](const StatementPtr& each) { return collect(each, traffic); });
                        },
                        [&](const loop_ir::Let& x) { return loads_of(x.value, traffic), true; },
                        [](const loop_ir::Accumulator&) { return true; },
                        [&](const loop_ir::Accumulate& x) { return loads_of(x.value, traffic), true; },
                        [&](const loop_ir::Store& x) {
                          loads_of(x.index, traffic);
                          loads_of(x.value, traffic);
                          ++traffic.writers[x.array];
                          if (x.mode == loop_ir::Write::set) traffic.overwritten.insert(x.array);
                          return true;
                        },
                        [&](const loop_ir::If& x) {
                          loads_of(x.condition, traffic);
                          return collect(x.body, traffic);
                        },
                        [&](const loop_ir::SetCounter& x) {
                          loads_of(x.value, traffic);
                          traffic.counters.insert(x.name);
                          return true;
                        },
                        [&](const loop_ir::For& x) {
                          loads_of(x.begin, traffic);
                          loads_of(x.end, traffic);
                          return x.step == 1 && collect(x.body, traffic);
                        },
                        [](const auto&) { return false; },
                    },
                    statement->node);
}

/// One loop to unroll and jam.
class UnrollAndJam {
 public:
  UnrollAndJam(const loop_ir::For& loop, Names& names)
      : loop_(loop), names_(names), group_(group_of(loop)), varying_{loop.variable} {}

  /// Returns the jammed loop and its remainder, or null.
  StatementPtr result() {
    if (loop_.shape != loop_ir::Shape::scalar || loop_.step != 1 || loop_.unroll != 1 ||
        loop_.part != loop_ir::Part::whole)
      return nullptr;
    // Sums of rows that a range cuts would depend on the number of threads.
    if (loop_ir::is_cut_by_range(loop_.begin) || loop_ir::is_cut_by_range(loop_.end)) return nullptr;
    if (!collect(loop_.body, traffic_) || !independent() || !divide() || !pays_) return nullptr;
    for (auto& copy : copies_) copy.emplace(loop_.variable, loop_ir::name(loop_.variable));
    std::vector<StatementPtr> body;
    for (int n = 1; n < group_; ++n) {
      copies_[static_cast<std::size_t>(n)][loop_.variable] =
          loop_ir::add(loop_ir::name(loop_.variable), loop_ir::integer(n));
    }
    for (const auto& statement : head_) replicate(statement, body);
    finish(body);
    return in_two_parts(std::move(body));
  }

 private:
  using Copies = std::vector<Substitution>;

  /// Stores of one copy do not affect loads or stores of another.
  bool independent() const {
    for (const auto& [array, statements] : traffic_.writers) {
      if (traffic_.loaded.count(array) > 0) return false;
      if (statements > 1 && traffic_.overwritten.count(array) > 0) return false;
    }
    return true;
  }

  /// Splits the body. Head: lets, accumulators and loops, which run for all copies together. Tail: statements
  /// after the last loop and lets that read a counter, which run copy after copy.
  bool divide() {
    const auto all = statements_of(loop_.body);
    std::size_t loops_end = 0;
    for (std::size_t n = 0; n < all.size(); ++n) {
      if (as<loop_ir::For>(all[n])) loops_end = n + 1;
    }
    std::set<std::string> late = traffic_.counters;
    for (std::size_t n = 0; n < all.size(); ++n) {
      const auto* let = as<loop_ir::Let>(all[n]);
      if (let && loop_ir::mentions(let->value, late)) {
        late.insert(let->name);
        tail_.push_back(all[n]);
      } else if (n < loops_end) {
        loop_ir::Uses uses;
        loop_ir::collect_uses(all[n], uses);
        if (std::any_of(late.begin(), late.end(),
                        [&](const auto& name) { return uses.names.count(name) > 0; }))
          return false;
        if (!joins(all[n])) return false;
        head_.push_back(all[n]);
      } else if (!let && !as<loop_ir::Store>(all[n]) && !as<loop_ir::SetCounter>(all[n]) &&
                 !as<loop_ir::Accumulate>(all[n]) && !as<loop_ir::Accumulator>(all[n]) &&
                 !only_folds(all[n])) {
        return false;
      } else {
        tail_.push_back(all[n]);
      }
    }
    return loops_end > 0;
  }

  /// The condition holds only folds.
  static bool only_folds(const StatementPtr& statement) {
    const auto* guard = as<loop_ir::If>(statement);
    if (!guard) return false;
    const auto inside = statements_of(guard->body);
    return std::all_of(inside.begin(), inside.end(),
                       [](const StatementPtr& each) { return as<loop_ir::Accumulate>(each) != nullptr; });
  }

  /// Copies of a statement of the head may stand next to each other.
  bool joins(const StatementPtr& statement) {
    if (const auto* let = as<loop_ir::Let>(statement)) {
      if (loop_ir::mentions(let->value, varying_)) varying_.insert(let->name);
      return true;
    }
    if (const auto* accumulator = as<loop_ir::Accumulator>(statement)) {
      varying_.insert(accumulator->name);
      return true;
    }
    const auto* loop = as<loop_ir::For>(statement);
    return loop && joins(*loop);
  }

  bool joins(const loop_ir::For& loop) {
    if (loop_ir::mentions(loop.begin, varying_) || loop_ir::mentions(loop.end, varying_)) return false;
    inner_.insert(loop.variable);
    return join(loop, loop.body);
  }

  /// Statements inside a loop of the head may be jammed.
  bool join(const loop_ir::For& loop, const StatementPtr& body) {
    for (const auto& statement : statements_of(body)) {
      if (const auto* inside = as<loop_ir::For>(statement)) {
        if (!joins(*inside)) return false;
      } else if (const auto* guard = as<loop_ir::If>(statement)) {
        if (!only_folds(statement) || loop_ir::mentions(guard->condition, varying_)) return false;
        if (!join(loop, guard->body)) return false;
      } else if (const auto* let = as<loop_ir::Let>(statement)) {
        note(let->value);
        if (loop_ir::mentions(let->value, varying_)) varying_.insert(let->name);
        if (loop_ir::mentions(let->value, inner_)) inner_.insert(let->name);
      } else if (const auto* accumulator = as<loop_ir::Accumulator>(statement)) {
        varying_.insert(accumulator->name);
      } else if (const auto* accumulate = as<loop_ir::Accumulate>(statement)) {
        // Four folds into one accumulator would wait for each other.
        if (varying_.count(accumulate->name) == 0) return false;
        note(accumulate->value);
        pays_ = pays_ || loop.shape == loop_ir::Shape::simd;
      } else if (const auto* store = as<loop_ir::Store>(statement)) {
        note(store->value);
        const bool moves = loop_ir::mentions(store->index, varying_);
        if (store->mode == loop_ir::Write::set && !moves) return false;
        pays_ = pays_ || (store->mode == loop_ir::Write::fold && !moves);
      } else {
        return false;
      }
    }
    return true;
  }

  /// Notes a load inside a loop that all copies do alike: it is then done once.
  void note(const ExpressionPtr& value) {
    std::visit(Match{
                   [](const loop_ir::Integer&) {},
                   [](const loop_ir::Number&) {},
                   [](const loop_ir::Name&) {},
                   [&](const loop_ir::Load& x) {
                     pays_ = pays_ ||
                             (!loop_ir::mentions(x.index, varying_) && loop_ir::mentions(x.index, inner_));
                   },
                   [&](const loop_ir::Apply& x) {
                     for (const auto& each : x.arguments) note(each);
                   },
                   [&](const loop_ir::Choose& x) { note(x.then), note(x.otherwise); },
                   [](const loop_ir::Search&) {},
                   [](const loop_ir::Convert&) {},
               },
               value->node);
  }

  /// Returns the name of a declaration in a copy; the first copy keeps its names.
  std::string renamed(const std::string& name, int copy) {
    if (copy == 0) return name;
    auto& names = copies_[static_cast<std::size_t>(copy)];
    const std::string fresh = names_.numbered(name);
    names[name] = loop_ir::name(fresh);
    return fresh;
  }
  std::string name_in(const std::string& name, int copy) const {
    const auto& names = copies_[static_cast<std::size_t>(copy)];
    const auto found = names.find(name);
    return found == names.end() ? name : std::get<loop_ir::Name>(found->second->node).name;
  }
  ExpressionPtr in(const ExpressionPtr& expression, int copy) const {
    return loop_ir::substitute(expression, copies_[static_cast<std::size_t>(copy)]);
  }

  /// Emits a statement of the head for all copies.
  void replicate(const StatementPtr& statement, std::vector<StatementPtr>& out) {
    if (const auto* loop = as<loop_ir::For>(statement)) {
      auto joined = *loop;
      std::vector<StatementPtr> body;
      for (const auto& each : statements_of(loop->body)) replicate(each, body);
      joined.body = loop_ir::block(std::move(body));
      out.push_back(loop_ir::make(std::move(joined)));
      return;
    }
    if (const auto* guard = as<loop_ir::If>(statement)) {
      std::vector<StatementPtr> body;
      for (const auto& each : statements_of(guard->body)) replicate(each, body);
      return out.push_back(loop_ir::make(loop_ir::If{guard->condition, loop_ir::block(std::move(body))}));
    }
    if (const auto* store = as<loop_ir::Store>(statement);
        store && store->mode == loop_ir::Write::fold && !loop_ir::mentions(store->index, varying_)) {
      return out.push_back(folded_once(*store));
    }
    const auto* let = as<loop_ir::Let>(statement);
    const bool invariant = let && !loop_ir::mentions(let->value, varying_);
    for (int n = 0; n < (invariant ? 1 : group_); ++n) out.push_back(copy(statement, n));
  }

  /// Folds the values of copies that go to one element, so that it is read and written once.
  StatementPtr folded_once(const loop_ir::Store& store) const {
    auto together = store;
    for (int n = 1; n < group_; ++n) {
      together.value = loop_ir::apply(operators::combine(store.monoid), {together.value, in(store.value, n)});
    }
    return loop_ir::make(std::move(together));
  }

  StatementPtr copy(const StatementPtr& statement, int n) {
    return std::visit(
        Match{
            [&](const loop_ir::Let& x) {
              const auto value = in(x.value, n);
              return loop_ir::make(loop_ir::Let{renamed(x.name, n), x.type, value});
            },
            [&](const loop_ir::Accumulator& x) {
              return loop_ir::make(loop_ir::Accumulator{renamed(x.name, n), x.monoid, x.initial});
            },
            [&](const loop_ir::Accumulate& x) {
              return loop_ir::make(loop_ir::Accumulate{name_in(x.name, n), in(x.value, n)});
            },
            [&](const loop_ir::Store& x) {
              return loop_ir::make(loop_ir::Store{x.array, in(x.index, n), x.mode, in(x.value, n), x.monoid});
            },
            [&](const loop_ir::SetCounter& x) {
              return loop_ir::make(loop_ir::SetCounter{x.name, in(x.value, n)});
            },
            [&](const loop_ir::If& x) {
              std::vector<StatementPtr> body;
              for (const auto& each : statements_of(x.body)) body.push_back(copy(each, n));
              return loop_ir::make(loop_ir::If{in(x.condition, n), loop_ir::block(std::move(body))});
            },
            [](const auto&) -> StatementPtr {
              SCHAAS_CHECK(false, "a statement that jamming does not know");
              return nullptr;
            },
        },
        statement->node);
  }

  /// Emits the tail, copy after copy, with its stores at the end, so that stores to adjacent elements can be
  /// vectorised.
  void finish(std::vector<StatementPtr>& body) {
    std::set<std::string> changed = traffic_.counters;
    for (const auto& statement : tail_) {
      if (const auto* fold = as<loop_ir::Accumulate>(statement)) changed.insert(fold->name);
      if (const auto* guard = as<loop_ir::If>(statement)) {
        for (const auto& each : statements_of(guard->body))
          changed.insert(as<loop_ir::Accumulate>(each)->name);
      }
    }
    // A store that depends on values which the copies change in turn stays with its copy.
    const auto stays = [&](const StatementPtr& statement) {
      const auto* store = as<loop_ir::Store>(statement);
      return !store || loop_ir::mentions(store->index, changed) || loop_ir::mentions(store->value, changed);
    };
    for (int n = 0; n < group_; ++n) {
      for (const auto& statement : tail_) {
        if (stays(statement)) body.push_back(copy(statement, n));
      }
    }
    for (const auto& statement : tail_) {
      for (int n = 0; n < group_ && !stays(statement); ++n) body.push_back(copy(statement, n));
    }
  }

  /// Splits the loop: a counter passes the end of the last whole group to the remainder loop.
  StatementPtr in_two_parts(std::vector<StatementPtr> body) {
    const std::string remainder = names_.numbered(loop_.variable + "_remainder");
    body.push_back(loop_ir::make(loop_ir::SetCounter{
        remainder, loop_ir::add(loop_ir::name(loop_.variable), loop_ir::integer(group_))}));
    auto groups = loop_, last = loop_;
    // The copies are made: both facts told of a loop with one iteration at a time.
    groups.product = last.product = false;
    groups.appends.reset();
    groups.step = group_;
    groups.part = loop_ir::Part::jammed;
    groups.end = loop_ir::subtract(loop_.end, loop_ir::integer(group_ - 1));
    groups.body = loop_ir::block(std::move(body));
    last.begin = loop_ir::name(remainder);
    last.part = loop_ir::Part::remainder;
    return loop_ir::block({loop_ir::make(loop_ir::Counter{remainder, loop_.begin}),
                           loop_ir::make(std::move(groups)), loop_ir::make(std::move(last))});
  }

  const loop_ir::For& loop_;
  Names& names_;
  const int group_;
  Traffic traffic_;
  std::vector<StatementPtr> head_, tail_;
  std::set<std::string> varying_;  ///< the loop's variable and values that depend on it
  std::set<std::string> inner_;    ///< variables of the loops inside and values that depend on them
  Copies copies_ = Copies(static_cast<std::size_t>(group_));
  bool pays_ = false;  ///< jamming does: copies share a load or fold independent values
};

/// Jams innermost loops first; a loop around a jammed one stays. Sets `*jammed` when there is one inside.
StatementPtr walk(const StatementPtr& statement, Names& names, bool* jammed) {
  const auto* found = as<loop_ir::For>(statement);
  if (found == nullptr) {
    return loop_ir::map_children(statement,
                                 [&](const StatementPtr& each) { return walk(each, names, jammed); });
  }
  auto loop = *found;
  bool inside = false;
  if (loop.shape == loop_ir::Shape::scalar) loop.body = walk(found->body, names, &inside);
  if (!inside) {
    if (auto result = UnrollAndJam(loop, names).result()) {
      *jammed = true;
      return result;
    }
  }
  *jammed = *jammed || inside;
  return loop_ir::make(std::move(loop));
}

}  // namespace

StatementPtr unroll_and_jam(const StatementPtr& statement, Names& names) {
  bool jammed = false;
  return walk(statement, names, &jammed);
}

loop_ir::Kernel unroll_and_jam(loop_ir::Kernel kernel, Names& names) {
  for (auto& phase : kernel.phases) phase.body = unroll_and_jam(phase.body, names);
  return kernel;
}

}  // namespace schaas::lower
