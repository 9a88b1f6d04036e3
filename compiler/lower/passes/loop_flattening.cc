#include "compiler/lower/passes/loop_flattening.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/lower/passes/unroll_and_jam.h"

// Matches the numeric bodies that unroll_and_jam makes of loops over the entries of a row. Flattens a fixed
// number of rows into one loop (header). The body of the remainder, one entry at a time, becomes the body of
// the flattened loop; it is jammed again, now across rows. Each entry looks up its row in a list of bytes,
// which is written by whole vectors. Lists of many entries keep the loop over rows: a row of an operand is
// then loaded once for several entries.
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

/// Returns the parts of a jammed loop over the rows of the phase's range; nothing for other statements.
std::optional<ShortRows> rows_of(const StatementPtr& statement) {
  ShortRows rows;
  rows.loop = as<For>(statement);
  if (rows.loop == nullptr || rows.loop->shape != loop_ir::Shape::scalar || rows.loop->step != 1 ||
      !is_name(rows.loop->begin, "begin") || !is_name(rows.loop->end, "end"))
    return std::nullopt;
  const auto body = statements_of(rows.loop->body);
  const auto parts = std::find_if(body.begin(), body.end(),
                                  [](const auto& each) { return as<loop_ir::Let>(each) == nullptr; });
  // A counter, the loop over groups and its remainder.
  if (body.end() - parts != 3) return std::nullopt;
  rows.lets.assign(body.begin(), parts);
  const auto* position = as<loop_ir::Counter>(parts[0]);
  const auto* groups = as<For>(parts[1]);
  rows.remainder = as<For>(parts[2]);
  if (position == nullptr || groups == nullptr || rows.remainder == nullptr || groups->step == 1 ||
      rows.remainder->step != 1 || !is_name(rows.remainder->begin, position->name))
    return std::nullopt;
  rows.width = width_of(*rows.remainder);
  if (rows.width == nullptr) return std::nullopt;
  const auto* begin = std::get_if<loop_ir::Load>(&position->initial->node);
  const auto* end = std::get_if<loop_ir::Load>(&rows.remainder->end->node);
  const auto row = loop_ir::name(rows.loop->variable);
  if (begin == nullptr || end == nullptr || begin->array != end->array || !equal(begin->index, row) ||
      !equal(end->index, loop_ir::add(row, loop_ir::integer(1))))
    return std::nullopt;
  rows.positions = begin->array;
  return rows;
}

/// Builds the flattened loop, beside the loop over rows for lists that are too long.
class Joined {
 public:
  Joined(const ShortRows& rows, const loop_ir::Kernel& kernel, Names& names)
      : rows_(rows),
        kernel_(kernel),
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
        Function::minimum, {loop_ir::add(first, loop_ir::integer(rows_at_once)), loop_ir::name("end")});
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
        first_, loop_ir::name("begin"), loop_ir::name("end"), loop_ir::Shape::scalar,
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
    entries.body = loop_ir::block(std::move(body));
    return unroll_and_jam(loop_ir::make(std::move(entries)), kernel_);
  }

  const ShortRows& rows_;
  const loop_ir::Kernel& kernel_;
  std::string list_, first_, last_, from_, entries_, few_;
};

}  // namespace

loop_ir::Kernel flatten_loops(loop_ir::Kernel kernel, Names& names) {
  for (std::size_t n = 0; n < kernel.phases.size(); ++n) {
    if (!kernel.phases[n].numeric) continue;
    auto statements = statements_of(kernel.phases[n].numeric);
    const auto rows = statements.empty() ? std::nullopt : rows_of(statements.back());
    if (!rows) continue;
    const Joined joined(*rows, kernel, names);
    kernel.arrays.push_back(joined.list());
    statements.back() = joined.result();
    kernel.phases[n].numeric = loop_ir::block(std::move(statements));
  }
  return kernel;
}

}  // namespace schaas::lower
