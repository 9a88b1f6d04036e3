#include "compiler/lower/passes/threads/thread_coarsening.h"

#include <set>
#include <string>
#include <vector>

#include "compiler/loop_ir/phase_range.h"
#include "compiler/loop_ir/substitute.h"
#include "compiler/loop_ir/uses.h"

// Replicates statements for the columns of one thread: thread coarsening of Sgap, section 3.2. Each column
// gets its own copy of every name that varies with it; lets that do not vary are kept once. Bounds and
// conditions must not vary, so that all columns walk the same entries. Threads at the border, which have
// fewer columns, run the original loop. A loop with a statement that cannot be replicated stays as it is.
namespace schaas::lower {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::make;
using loop_ir::Match;
using loop_ir::StatementPtr;

/// Replicates the body of a loop over columns for `count` of them. Null as soon as a statement cannot be
/// replicated.
class Coarsener {
 public:
  Coarsener(const loop_ir::For& loop, int count, const std::set<std::string>& workspaces, Names& names)
      : workspaces_(workspaces),
        names_(names),
        count_(static_cast<std::size_t>(count)),
        copies_(count_),
        varying_{loop.variable} {
    for (std::size_t n = 0; n < count_; ++n)
      copies_[n][loop.variable] = loop_ir::add(loop.begin, loop_ir::integer(static_cast<std::int64_t>(n)));
  }

  StatementPtr of(const StatementPtr& statement) {
    std::vector<StatementPtr> out;
    return append(statement, out) ? loop_ir::block(std::move(out)) : nullptr;
  }

 private:
  bool varies(const ExpressionPtr& expression) const { return loop_ir::mentions(expression, varying_); }
  ExpressionPtr in(const ExpressionPtr& expression, std::size_t copy) const {
    return loop_ir::substitute(expression, copies_[copy]);
  }
  std::string named(const std::string& name, std::size_t copy) const {
    return std::get<loop_ir::Name>(copies_[copy].at(name)->node).name;
  }
  void declare(const std::string& name) {
    varying_.insert(name);
    for (std::size_t n = 0; n < count_; ++n) copies_[n][name] = loop_ir::name(names_.fresh(name));
  }
  template <class Copy>
  bool each(std::vector<StatementPtr>& out, const Copy& copy) const {
    for (std::size_t n = 0; n < count_; ++n) out.push_back(make(copy(n)));
    return true;
  }

  bool append(const StatementPtr& statement, std::vector<StatementPtr>& out) {
    return std::visit(
        Match{
            [&](const loop_ir::Block& x) {
              for (const auto& each_of : x.statements) {
                if (!append(each_of, out)) return false;
              }
              return true;
            },
            [&](const loop_ir::Let& x) {
              if (!varies(x.value)) return out.push_back(statement), true;
              std::vector<ExpressionPtr> values;
              for (std::size_t n = 0; n < count_; ++n) values.push_back(in(x.value, n));
              declare(x.name);
              return each(out, [&](std::size_t n) {
                return loop_ir::Let{named(x.name, n), x.type, values[n], 1, x.fold};
              });
            },
            [&](const loop_ir::Accumulator& x) {
              declare(x.name);
              return each(out, [&](std::size_t n) {
                return loop_ir::Accumulator{named(x.name, n), x.monoid, x.initial};
              });
            },
            [&](const loop_ir::Accumulate& x) {
              if (varying_.count(x.name) == 0) return false;
              return each(out, [&](std::size_t n) {
                return loop_ir::Accumulate{named(x.name, n), in(x.value, n)};
              });
            },
            [&](const loop_ir::Store& x) {
              // A thread has one temporary, which the columns would overwrite.
              if (workspaces_.count(x.array) > 0 && !varies(x.index)) return false;
              return each(out, [&](std::size_t n) {
                return loop_ir::Store{x.array, in(x.index, n), x.mode, in(x.value, n), x.monoid};
              });
            },
            [&](const loop_ir::GroupStore& x) {
              return each(out, [&](std::size_t n) {
                return loop_ir::GroupStore{x.array,        in(x.index, n), x.mode,
                                           in(x.value, n), x.monoid,       x.width};
              });
            },
            [&](const loop_ir::Deferred& x) {
              declare(x.name);
              return each(out, [&](std::size_t n) {
                return loop_ir::Deferred{named(x.name, n), x.array, x.monoid};
              });
            },
            [&](const loop_ir::Defer& x) {
              return each(out, [&](std::size_t n) {
                return loop_ir::Defer{named(x.name, n), in(x.index, n), in(x.value, n)};
              });
            },
            [&](const loop_ir::Flush& x) {
              return each(out, [&](std::size_t n) { return loop_ir::Flush{named(x.name, n), x.width}; });
            },
            [&](const loop_ir::If& x) {
              if (varies(x.condition)) return false;
              const auto body = of(x.body);
              if (!body) return false;
              return out.push_back(make(loop_ir::If{x.condition, body})), true;
            },
            [&](const loop_ir::For& x) {
              if (varies(x.begin) || varies(x.end)) return false;
              auto loop = x;
              loop.shape = loop_ir::Shape::scalar;
              loop.body = of(x.body);
              if (!loop.body) return false;
              return out.push_back(make(std::move(loop))), true;
            },
            // Counters, merges and lists belong to all columns at once.
            [](const auto&) { return false; },
        },
        statement->node);
  }

  const std::set<std::string>& workspaces_;
  Names& names_;
  const std::size_t count_;
  // For each column, its names of what varies.
  std::vector<loop_ir::Substitution> copies_;
  std::set<std::string> varying_;
};

/// Rewrites the loop over a thread's columns, in a block or under the guard of an empty range.
StatementPtr with_columns(const StatementPtr& statement, int count, const std::set<std::string>& workspaces,
                          Names& names) {
  if (const auto* block = std::get_if<loop_ir::Block>(&statement->node)) {
    std::vector<StatementPtr> all;
    for (const auto& each : block->statements) {
      const auto parts = loop_ir::statements_of(with_columns(each, count, workspaces, names));
      all.insert(all.end(), parts.begin(), parts.end());
    }
    return loop_ir::block(std::move(all));
  }
  if (const auto* guard = std::get_if<loop_ir::If>(&statement->node))
    return make(loop_ir::If{guard->condition, with_columns(guard->body, count, workspaces, names)});
  const auto* loop = std::get_if<loop_ir::For>(&statement->node);
  if (loop == nullptr || !loop_ir::is_over_columns(*loop)) return statement;
  const auto together = Coarsener(*loop, count, workspaces, names).of(loop->body);
  if (!together) return statement;
  const auto last = loop_ir::add(loop->begin, loop_ir::integer(count));
  using operators::Function;
  return loop_ir::block({make(loop_ir::If{loop_ir::apply(Function::equal, {loop->end, last}), together}),
                         make(loop_ir::If{loop_ir::apply(Function::less, {loop->end, last}), statement})});
}

}  // namespace

loop_ir::Kernel coarsen_threads(loop_ir::Kernel kernel, Names& names) {
  std::set<std::string> workspaces;
  for (const auto& array : kernel.arrays)
    if (std::holds_alternative<loop_ir::Scratch>(array.origin)) workspaces.insert(array.name);
  for (auto& phase : kernel.phases) {
    if (phase.mapping && phase.mapping->columns_grain > 1)
      phase.body = with_columns(phase.body, phase.mapping->columns_grain, workspaces, names);
  }
  return kernel;
}

}  // namespace schaas::lower
