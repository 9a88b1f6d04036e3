#include "compiler/lower/passes/loop_flattening.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop_ir/phase_range.h"
#include "compiler/loop_ir/uses.h"
#include "compiler/lower/passes/unroll_and_jam.h"

// Applies to numeric bodies with a jammed loop over the entries of a row (For::part, For::entries). Flattens
// a fixed number of rows into one loop (header). The body of the remainder, one entry at a time, becomes the
// body of the flattened loop; it is jammed again, now across rows. Each entry looks up its row in a list of
// bytes, which is written by whole vectors. Lists of many entries keep the loop over rows: a row of an
// operand is then loaded once for several entries.
namespace schaas::lower {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::For;
using loop_ir::StatementPtr;
using loop_ir::statements_of;
using operators::Function;
using Statements = std::vector<StatementPtr>;

// Their numbers fit a byte.
constexpr std::int64_t rows_at_once = 64;
/// Rows are short below so many entries on average, where operand rows have at most `narrow` values; wider
/// ones are loaded once for four entries of a row. docs/performance/kernels.md.
constexpr std::int64_t max_short_row = 6;
constexpr std::int64_t narrow = 16;
/// Entries recorded for each row without a test of its length: one vector of the widest kind.
constexpr std::int64_t noted = 32;

/// A loop over rows: lets, then a jammed loop over the entries of the row.
struct ShortRows {
  const For* loop = nullptr;
  Statements lets;
  const loop_ir::Counter* position = nullptr;
  const For* groups = nullptr;
  const For* remainder = nullptr;  ///< remainder loop, below a whole group
  std::string positions;           ///< array of positions of the rows
  ExpressionPtr width;             ///< values of operand rows that are summed along
};

/// Returns the end of a loop that sums along dense rows, or null.
ExpressionPtr width_of(const For& entries) {
  for (const auto& each : statements_of(entries.body)) {
    const auto* loop = as<For>(each);
    if (loop != nullptr && loop->shape == loop_ir::Shape::simd) return loop->end;
  }
  return nullptr;
}

/// Sorts the statements of a row: its lets, the counter of its entries, their jammed loop and its remainder.
/// Returns false for another statement, or a second one of a kind.
bool add_statement(const StatementPtr& statement, ShortRows& rows) {
  // A let after the counter may depend on it.
  if (as<loop_ir::Let>(statement) != nullptr) return rows.lets.push_back(statement), rows.position == nullptr;
  const auto keeps = [](auto*& kept, const auto* found) { return kept == nullptr && (kept = found); };
  if (const auto* counter = as<loop_ir::Counter>(statement)) return keeps(rows.position, counter);
  const auto* loop = as<For>(statement);
  if (loop == nullptr || loop->part == loop_ir::Part::whole) return false;
  return keeps(loop->part == loop_ir::Part::jammed ? rows.groups : rows.remainder, loop);
}

/// Returns the parts of a jammed loop over the rows of the phase's range; nothing for other statements.
std::optional<ShortRows> rows_of(const StatementPtr& statement) {
  ShortRows rows;
  rows.loop = as<For>(statement);
  if (rows.loop == nullptr || !loop_ir::is_over_range(*rows.loop)) return std::nullopt;
  for (const auto& each : statements_of(rows.loop->body))
    if (!add_statement(each, rows)) return std::nullopt;
  if (rows.position == nullptr || rows.groups == nullptr || rows.remainder == nullptr) return std::nullopt;
  const auto& row = rows.remainder->row;
  if (!row || row->row != rows.loop->variable || row->positions.size() != 1) return std::nullopt;
  rows.width = width_of(*rows.remainder);
  rows.positions = row->positions.front();
  // A band's width is known inside the loop alone.
  std::set<std::string> inside;
  loop_ir::collect_declared(statement, inside);
  if (rows.width == nullptr || loop_ir::mentions(rows.width, inside)) return std::nullopt;
  return rows;
}

/// Builds the flattened loop, beside the loop over rows for lists that are too long.
class Joined {
 public:
  Joined(const ShortRows& rows, Names& names)
      : rows_(rows),
        names_(names),
        list_(names.fresh("rows")),
        first_(names.fresh("first")),
        last_(names.fresh("last")),
        from_(names.fresh("from")),
        entries_(names.fresh("entries")),
        few_(names.fresh("few")) {}

  /// Returns the loop over lists: each takes rows_at_once rows and decides by their number of entries.
  StatementPtr result() const {
    const auto first = loop_ir::name(first_), last = loop_ir::name(last_), few = loop_ir::name(few_);
    const auto let = [](const std::string& name, ExpressionPtr value) {
      return loop_ir::make(loop_ir::Let{name, loop_ir::Type::index, std::move(value)});
    };
    const auto end = loop_ir::apply(
        Function::minimum, {loop_ir::add(first, loop_ir::integer(rows_at_once)), loop_ir::range_end()});
    const auto rows = loop_ir::subtract(last, first), entries = loop_ir::name(entries_);
    const auto is_narrow = loop_ir::apply(Function::less_equal, {rows_.width, loop_ir::integer(narrow)});
    const auto most = loop_ir::multiply(
        rows, loop_ir::choose(is_narrow, loop_ir::integer(max_short_row), loop_ir::integer(0)));
    const auto is_few = loop_ir::apply(Function::less, {entries, most});
    For as_before = *rows_.loop;
    as_before.begin = first;
    as_before.end = last;
    const auto many = loop_ir::apply(Function::equal, {few, loop_ir::integer(0)});
    For chunks{
        first_, loop_ir::range_begin(), loop_ir::range_end(), loop_ir::Shape::scalar,
        loop_ir::block(
            {let(last_, end), let(from_, loop_ir::load(rows_.positions, first)),
             let(entries_, loop_ir::subtract(loop_ir::load(rows_.positions, last), loop_ir::name(from_))),
             let(few_, is_few), loop_ir::make(loop_ir::If{few, loop_ir::block({note(), entry_by_entry()})}),
             loop_ir::make(loop_ir::If{many, loop_ir::make(as_before)})})};
    chunks.step = rows_at_once;
    return loop_ir::make(std::move(chunks));
  }

  loop_ir::Array list() const {
    // Fewer entries than max_short_row for each row, and the vector that begins at the last of them.
    return {list_, loop_ir::Element::byte,
            loop_ir::Scratch{loop_ir::integer(rows_at_once * max_short_row + noted)}, /*written=*/true};
  }

 private:
  ExpressionPtr row() const { return loop_ir::name(rows_.loop->variable); }

  /// Records the row of each entry. Bytes written beyond a row are overwritten by the rows that follow.
  StatementPtr note() const {
    const auto begin = loop_ir::load(rows_.positions, row());
    const auto end = loop_ir::load(rows_.positions, loop_ir::add(row(), loop_ir::integer(1)));
    const auto position = loop_ir::subtract(begin, loop_ir::name(from_));
    const auto length = loop_ir::subtract(end, begin);
    const auto number = loop_ir::subtract(row(), loop_ir::name(first_));
    const auto more =
        loop_ir::make(loop_ir::Fill{list_, loop_ir::add(position, loop_ir::integer(noted)),
                                    loop_ir::subtract(length, loop_ir::integer(noted)), number});
    const auto is_longer = loop_ir::apply(Function::greater, {length, loop_ir::integer(noted)});
    return loop_ir::make(
        For{rows_.loop->variable, loop_ir::name(first_), loop_ir::name(last_), loop_ir::Shape::scalar,
            loop_ir::block({loop_ir::make(loop_ir::Fill{list_, position, loop_ir::integer(noted), number}),
                            loop_ir::make(loop_ir::If{is_longer, more})})});
  }

  /// Returns the loop over all entries of the list; it repeats the lets of a row for each of them.
  StatementPtr entry_by_entry() const {
    const auto entry = loop_ir::name(rows_.remainder->variable);
    const auto number = loop_ir::load(list_, loop_ir::subtract(entry, loop_ir::name(from_)));
    Statements body{loop_ir::make(loop_ir::Let{rows_.loop->variable, loop_ir::Type::index,
                                               loop_ir::add(loop_ir::name(first_), number)})};
    body.insert(body.end(), rows_.lets.begin(), rows_.lets.end());
    for (const auto& each : statements_of(rows_.remainder->body)) body.push_back(each);
    For entries = *rows_.remainder;
    entries.begin = loop_ir::name(from_);
    entries.end = loop_ir::load(rows_.positions, loop_ir::name(last_));
    entries.part = loop_ir::Part::whole;
    entries.row.reset();
    entries.body = loop_ir::block(std::move(body));
    return unroll_and_jam(loop_ir::make(std::move(entries)), names_);
  }

  const ShortRows& rows_;
  Names& names_;
  std::string list_, first_, last_, from_, entries_, few_;
};

}  // namespace

loop_ir::Kernel flatten_loops(loop_ir::Kernel kernel, Names& names) {
  for (std::size_t n = 0; n < kernel.phases.size(); ++n) {
    if (!kernel.phases[n].numeric) continue;
    auto statements = statements_of(kernel.phases[n].numeric);
    const auto rows = statements.empty() ? std::nullopt : rows_of(statements.back());
    if (!rows) continue;
    const Joined joined(*rows, names);
    kernel.arrays.push_back(joined.list());
    statements.back() = joined.result();
    kernel.phases[n].numeric = loop_ir::block(std::move(statements));
  }
  return kernel;
}

}  // namespace schaas::lower
