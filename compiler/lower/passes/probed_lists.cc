#include "compiler/lower/passes/probed_lists.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop_ir/map_loops.h"
#include "compiler/loop_ir/traversal.h"
#include "compiler/loop_ir/uses.h"

// Looks at loops from the outermost one inwards. The first loop around an intersection in which one of its
// two lists stays the same gets a table of that list; both forms of the loop stand side by side, and the
// length of the list decides between them. Arrays of the list are operands', so nothing inside changes them.
// The table is clear again behind the loop, as scratch must be.
namespace schaas::lower {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::For;
using loop_ir::Merge;
using loop_ir::StatementPtr;
using operators::Function;
using Statements = std::vector<StatementPtr>;

constexpr std::int64_t slots = 4096;  ///< 16 KiB, which stay in L1
/// Entries of a list in the table: a quarter of the slots at most, so that most look-ups of others find none.
constexpr std::int64_t max_entries = 1024;

StatementPtr let(const std::string& name, ExpressionPtr value) {
  return loop_ir::make(loop_ir::Let{name, loop_ir::Type::index, std::move(value)});
}

ExpressionPtr slot_of(const ExpressionPtr& coordinate) {
  const auto whole = loop_ir::apply(Function::divide, {coordinate, loop_ir::integer(slots)});
  return loop_ir::subtract(coordinate, loop_ir::multiply(whole, loop_ir::integer(slots)));
}

ExpressionPtr is(Function function, ExpressionPtr left, ExpressionPtr right) {
  return loop_ir::apply(function, {std::move(left), std::move(right)});
}

/// An intersection, and the cursor that the loop around does not move.
struct Intersection {
  const loop_ir::Statement* statement;
  const Merge* merge;
  const loop_ir::Cursor *probed, *walked;
};

class ProbedLists {
 public:
  ProbedLists(const loop_ir::Kernel& kernel, Names& names) : names_(names) {
    for (const auto& array : kernel.arrays)
      if (array.written) written_.insert(array.name);
  }

  StatementPtr rewritten(const StatementPtr& statement) {
    return loop_ir::map_loops(statement, [&](const For& loop) {
      const bool in_order = loop.shape == loop_ir::Shape::scalar && loop.step == 1;
      if (const auto found = in_order ? intersection_in(loop) : std::nullopt) return probing(loop, *found);
      For inside = loop;
      inside.body = rewritten(loop.body);
      return loop_ir::make(std::move(inside));
    });
  }

  const std::string& table() const { return table_; }  ///< "": none is needed

 private:
  bool stays(const loop_ir::Cursor& cursor, const std::set<std::string>& declared) const {
    loop_ir::Uses uses;
    collect_uses(cursor.begin, uses);
    collect_uses(cursor.end, uses);
    uses.arrays.insert(cursor.coordinates);
    return std::none_of(uses.names.begin(), uses.names.end(),
                        [&](const auto& name) { return declared.count(name) > 0; }) &&
           std::none_of(uses.arrays.begin(), uses.arrays.end(),
                        [&](const auto& array) { return written_.count(array) > 0; });
  }

  std::optional<Intersection> suitable(const StatementPtr& statement,
                                       const std::set<std::string>& declared) const {
    const auto* merge = loop_ir::as<Merge>(statement);
    if (merge == nullptr || merge->kind != loop_ir::MergeKind::all || merge->over ||
        merge->cursors.size() != 2)
      return std::nullopt;
    for (const auto& cursor : merge->cursors)
      if (!cursor.until.empty() || cursor.coordinates.empty()) return std::nullopt;
    const auto &first = merge->cursors.front(), &second = merge->cursors.back();
    const bool first_stays = stays(first, declared);
    if (first_stays == stays(second, declared)) return std::nullopt;
    return Intersection{statement.get(), merge, first_stays ? &first : &second,
                        first_stays ? &second : &first};
  }

  /// Returns the first intersection that is inside no other merge.
  std::optional<Intersection> intersection_in(const For& loop) const {
    std::set<std::string> declared{loop.variable};
    collect_declared(loop.body, declared);
    return first_of(loop.body, declared);
  }

  std::optional<Intersection> first_of(const StatementPtr& statement,
                                       const std::set<std::string>& declared) const {
    if (auto found = suitable(statement, declared)) return found;
    if (loop_ir::as<Merge>(statement) != nullptr) return std::nullopt;
    std::optional<Intersection> found;
    for_each_child(statement, [&](const StatementPtr& each) {
      if (!found) found = first_of(each, declared);
    });
    return found;
  }

  StatementPtr probing(const For& loop, const Intersection& found) {
    if (table_.empty()) table_ = names_.fresh("table");
    const std::string first = names_.fresh("first"), last = names_.fresh("last"), few = names_.fresh("few");
    const auto count = loop_ir::subtract(loop_ir::name(last), loop_ir::name(first));
    const auto fits = is(Function::logical_and, is(Function::greater_equal, count, loop_ir::integer(1)),
                         is(Function::less_equal, count, loop_ir::integer(max_entries)));
    For with_table = loop;
    with_table.body = replaced(loop.body, found, walk(found, first, last));
    const std::string p = names_.fresh("p");
    const auto number =
        loop_ir::add(loop_ir::subtract(loop_ir::name(p), loop_ir::name(first)), loop_ir::integer(1));
    return loop_ir::block(
        {let(first, found.probed->begin), let(last, found.probed->end),
         let(few, is(Function::logical_and, fits, is(Function::less, loop.begin, loop.end))),
         loop_ir::make(
             loop_ir::If{loop_ir::name(few),
                         loop_ir::block({fill(*found.probed, p, {first, last}, number),
                                         loop_ir::make(std::move(with_table)),
                                         fill(*found.probed, p, {first, last}, loop_ir::integer(0))})}),
         loop_ir::make(loop_ir::If{is(Function::equal, loop_ir::name(few), loop_ir::integer(0)),
                                   loop_ir::make(loop)})});
  }

  /// Sets the slots of a list's coordinates.
  StatementPtr fill(const loop_ir::Cursor& list, const std::string& position,
                    const std::pair<std::string, std::string>& range, ExpressionPtr value) {
    const std::string coordinate = names_.fresh("k");
    loop_ir::Store store{table_, slot_of(loop_ir::name(coordinate)), loop_ir::Write::set, std::move(value)};
    return loop_ir::make(
        For{position, loop_ir::name(range.first), loop_ir::name(range.second), loop_ir::Shape::scalar,
            loop_ir::block({let(coordinate, loop_ir::load(list.coordinates, loop_ir::name(position))),
                            loop_ir::make(std::move(store))})});
  }

  /// Returns the loop over the other list, whose coordinates are looked up.
  StatementPtr walk(const Intersection& found, const std::string& first, const std::string& last) {
    const auto& [statement, merge, probed, walked] = found;
    const std::string slot = names_.fresh("slot"), guess = names_.fresh("guess");
    const auto coordinate = loop_ir::name(merge->variable), position = loop_ir::name(probed->position);
    const auto at = [&](const ExpressionPtr& where) { return loop_ir::load(probed->coordinates, where); };
    const auto here = is(Function::equal, at(loop_ir::name(guess)), coordinate);
    const auto searched =
        loop_ir::search(probed->coordinates, loop_ir::name(first), loop_ir::name(last), coordinate);
    const auto held = is(Function::logical_and, is(Function::less, position, loop_ir::name(last)),
                         is(Function::equal, at(position), coordinate));
    const auto look =
        loop_ir::block({let(guess, loop_ir::subtract(loop_ir::add(loop_ir::name(first), loop_ir::name(slot)),
                                                     loop_ir::integer(1))),
                        let(probed->position, loop_ir::choose(here, loop_ir::name(guess), searched)),
                        loop_ir::make(loop_ir::If{held, merge->body})});
    return loop_ir::make(
        For{walked->position, walked->begin, walked->end, loop_ir::Shape::scalar,
            loop_ir::block(
                {let(merge->variable, loop_ir::load(walked->coordinates, loop_ir::name(walked->position))),
                 let(slot, loop_ir::load(table_, slot_of(coordinate))),
                 loop_ir::make(loop_ir::If{loop_ir::name(slot), look})})});
  }

  static StatementPtr replaced(const StatementPtr& statement, const Intersection& found,
                               const StatementPtr& by) {
    if (statement.get() == found.statement) return by;
    return map_children(statement, [&](const StatementPtr& each) { return replaced(each, found, by); });
  }

  Names& names_;
  std::set<std::string> written_;
  std::string table_;
};

}  // namespace

loop_ir::Kernel probe_lists(loop_ir::Kernel kernel, Names& names) {
  ProbedLists lists(kernel, names);
  for (auto& phase : kernel.phases) phase.body = lists.rewritten(phase.body);
  if (!lists.table().empty())
    kernel.arrays.push_back({lists.table(), loop_ir::Element::index32,
                             loop_ir::Scratch{loop_ir::integer(slots)}, /*written=*/true});
  return kernel;
}

}  // namespace schaas::lower
