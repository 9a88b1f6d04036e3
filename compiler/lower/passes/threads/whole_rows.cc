#include "compiler/lower/passes/threads/whole_rows.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/loop_ir/phase_range.h"
#include "compiler/loop_ir/traversal.h"

// The result starts at zero, so a row that one thread sums alone may be stored in place of being added. An
// atomic step costs as much as many stores, and short rows mostly lie inside of a range. Emission marks the
// loops whose rows are cut by nothing but the range (For::cut).
namespace schaas::lower {
namespace {

using loop_ir::as;
using loop_ir::make;
using loop_ir::StatementPtr;
using operators::Function;
using Statements = std::vector<StatementPtr>;

bool adds_atomically(const StatementPtr& statement) {
  if (const auto* store = as<loop_ir::Store>(statement)) return store->mode == loop_ir::Write::atomic;
  const auto* guard = as<loop_ir::If>(statement);
  if (guard == nullptr) return false;
  const auto inside = loop_ir::statements_of(guard->body);
  return std::all_of(inside.begin(), inside.end(), [](const StatementPtr& each) {
    const auto* store = as<loop_ir::Store>(each);
    return store != nullptr && store->mode == loop_ir::Write::atomic;
  });
}

/// Returns the statement with plain stores in place of atomic ones.
StatementPtr stored(const StatementPtr& statement) {
  if (const auto* store = as<loop_ir::Store>(statement)) {
    auto plain = *store;
    plain.mode = loop_ir::Write::set;
    return make(std::move(plain));
  }
  return loop_ir::map_children(statement, [](const StatementPtr& each) { return stored(each); });
}

class WholeRows {
 public:
  explicit WholeRows(Names& names) : names_(names) {}

  StatementPtr of(const StatementPtr& statement) {
    const auto all = loop_ir::statements_of(statement);
    Statements out;
    for (auto at = all.begin(); at != all.end(); ++at) {
      const auto* loop = as<loop_ir::For>(*at);
      const bool last = at + 1 == all.end();
      if (loop != nullptr && loop->cut && !last && std::all_of(at + 1, all.end(), adds_atomically)) {
        out.push_back(*at);
        append_stores(*loop, {at + 1, all.end()}, out);
        break;
      }
      out.push_back(loop_ir::map_children(*at, [&](const StatementPtr& each) { return of(each); }));
    }
    return loop_ir::block(std::move(out));
  }

 private:
  void append_stores(const loop_ir::For& loop, const Statements& stores, Statements& out) {
    const auto first = loop_ir::arguments_of(loop.begin, Function::maximum)->front();
    const auto past = loop_ir::arguments_of(loop.end, Function::minimum)->front();
    const std::string whole = names_.fresh("whole");
    const auto inside = loop_ir::apply(Function::logical_and,
                                       {loop_ir::apply(Function::less_equal, {loop_ir::range_begin(), first}),
                                        loop_ir::apply(Function::less_equal, {past, loop_ir::range_end()})});
    out.push_back(make(loop_ir::Let{whole, loop_ir::Type::index, inside}));
    Statements plain;
    for (const auto& each : stores) plain.push_back(stored(each));
    out.push_back(make(loop_ir::If{loop_ir::name(whole), loop_ir::block(std::move(plain))}));
    const auto parts = loop_ir::apply(Function::equal, {loop_ir::name(whole), loop_ir::integer(0)});
    out.push_back(make(loop_ir::If{parts, loop_ir::block(stores)}));
  }

  Names& names_;
};

}  // namespace

loop_ir::Kernel store_whole_rows(loop_ir::Kernel kernel, Names& names) {
  for (auto& phase : kernel.phases) phase.body = WholeRows(names).of(phase.body);
  return kernel;
}

}  // namespace schaas::lower
