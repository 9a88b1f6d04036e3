#include "compiler/lower/passes/threads/staged_entries.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop_ir/map_expressions.h"
#include "compiler/loop_ir/phase_range.h"
#include "compiler/loop_ir/substitute.h"
#include "compiler/loop_ir/traversal.h"
#include "compiler/loop_ir/uses.h"

// Barriers demand that the threads of a group take the same path. They have the same range, so that paths
// differ in columns alone. Where each thread has all of its columns, loops over columns have as many
// iterations in each; such groups get the staged copy of the phase. Names that are computed from a column are
// tracked: no barrier stands below a bound or a condition that mentions one.
namespace schaas::lower {
namespace {

using loop_ir::as;
using loop_ir::ExpressionPtr;
using loop_ir::make;
using loop_ir::StatementPtr;
using operators::Function;
using Statements = std::vector<StatementPtr>;

/// Entries that a group stages at a time.
constexpr int chunk_entries = 32;
/// Bytes of shared memory that each device has for a block without asking.
constexpr int max_shared_bytes = 48 << 10;

int bytes_of(loop_ir::Element element, loop_ir::ValueType type) {
  const auto value = static_cast<int>(operators::bytes_of(type));
  return element == loop_ir::Element::value ? value : element == loop_ir::Element::index32 ? 4 : 8;
}

/// Copies of the phases of a kernel in which entries are staged.
class StagedPhases {
 public:
  StagedPhases(loop_ir::Kernel& kernel, Names& names) : kernel_(kernel), names_(names) {}

  void rewrite(loop_ir::Phase& phase) {
    mapping_ = &*phase.mapping;
    varying_ = {loop_ir::column_names[0], loop_ir::column_names[1], "lane"};
    staged_some_ = false;
    const auto staged = of(phase.body, true);
    if (!staged_some_) return;
    const auto whole = loop_ir::name("staged");
    const auto ragged = loop_ir::apply(Function::equal, {whole, loop_ir::integer(0)});
    phase.body = loop_ir::block({make(loop_ir::If{whole, staged}), make(loop_ir::If{ragged, phase.body})});
  }

 private:
  /// Returns the statement of a group whose threads have all of their columns. `together`: the threads run it
  /// in step.
  StatementPtr of(const StatementPtr& statement, bool together) {
    if (const auto* let = as<loop_ir::Let>(statement); let != nullptr && varies(let->value))
      varying_.insert(let->name);
    if (const auto* counter = as<loop_ir::Counter>(statement)) varying_.insert(counter->name);
    const auto inside = [&](bool still) {
      return loop_ir::map_children(statement, [&](const StatementPtr& each) { return of(each, still); });
    };
    if (const auto* guard = as<loop_ir::If>(statement)) {
      if (is_of_columns(*guard, Function::equal)) return of(guard->body, together);
      if (is_of_columns(*guard, Function::less)) return loop_ir::block({});
      return inside(together && !varies(guard->condition));
    }
    const auto* loop = as<loop_ir::For>(statement);
    if (loop == nullptr) return inside(together && !as<loop_ir::Merge>(statement));
    const bool bound_varies = varies(loop->begin) || varies(loop->end);
    if (bound_varies) varying_.insert(loop->variable);
    if (loop_ir::is_over_columns(*loop) && mapping_->columns_grain == 1) return only_column(*loop, together);
    const bool in_step = together && (!bound_varies || loop_ir::is_over_columns(*loop));
    if (in_step && can_stage(*loop)) return staged(*loop);
    return inside(in_step);
  }

  /// Returns the body for the one column that the thread has.
  StatementPtr only_column(const loop_ir::For& loop, bool together) {
    Statements out = {make(loop_ir::Let{loop.variable, loop_ir::Type::index, loop.begin})};
    for (const auto& each : loop_ir::statements_of(of(loop.body, together))) out.push_back(each);
    return loop_ir::block(std::move(out));
  }

  bool varies(const ExpressionPtr& expression) const { return loop_ir::mentions(expression, varying_); }

  /// The guard compares the end of a thread's columns with that of all columns that a thread may have.
  bool is_of_columns(const loop_ir::If& guard, Function function) const {
    const auto* sides = loop_ir::arguments_of(guard.condition, function);
    const auto last = loop_ir::add(loop_ir::column_begin(), loop_ir::integer(mapping_->columns_grain));
    return sides != nullptr && loop_ir::equal((*sides)[0], loop_ir::column_end()) &&
           loop_ir::equal((*sides)[1], last);
  }

  bool can_stage(const loop_ir::For& loop) {
    if (loop.entries.empty() || loop.part != loop_ir::Part::whole || loop.interleaved || loop.step != 1 ||
        loop.shape == loop_ir::Shape::vector || varies(loop.begin) || varies(loop.end))
      return false;
    const bool plain = !loop_ir::any_of(loop.body, [](const StatementPtr& each) {
      const auto* inside = as<loop_ir::For>(each);
      return (inside != nullptr && !inside->entries.empty()) ||
             !loop_ir::is_any<loop_ir::Block, loop_ir::Let, loop_ir::Accumulator, loop_ir::Accumulate,
                              loop_ir::If, loop_ir::For, loop_ir::Store, loop_ir::GroupStore>(each);
    });
    return plain && has_room(loaded_by(loop));
  }

  /// Returns the arrays of which the loop loads the element of each entry.
  std::set<std::string> loaded_by(const loop_ir::For& loop) const {
    std::set<std::string> arrays;
    (void)mapped(loop.body, [&](const ExpressionPtr& expression) {
      return with_loads(expression, [&](const loop_ir::Load& load) -> ExpressionPtr {
        if (loop_ir::is_name(load.index, loop.variable) && !is_written(load.array)) arrays.insert(load.array);
        return nullptr;
      });
    });
    return arrays;
  }

  const loop_ir::Array& array(const std::string& name) const {
    return *std::find_if(kernel_.arrays.begin(), kernel_.arrays.end(),
                         [&](const loop_ir::Array& each) { return each.name == name; });
  }
  bool is_written(const std::string& name) const { return array(name).written; }

  bool has_room(const std::set<std::string>& arrays) const {
    int bytes = 0;
    std::set<std::string> all = arrays;
    for (const auto& [from, to] : staged_) all.insert(from);
    for (const auto& each : all) {
      const auto* values = std::get_if<loop_ir::ArgumentValues>(&array(each).origin);
      const auto stored = values != nullptr ? values->stored : std::nullopt;
      bytes += bytes_of(array(each).element, stored.value_or(kernel_.value_type));
    }
    return !arrays.empty() && bytes * chunk_entries * (mapping_->block / mapping_->stage) <= max_shared_bytes;
  }

  /// Returns the staged array for an array, declared when first needed.
  std::string staged_array(const std::string& from) {
    auto& to = staged_[from];
    if (!to.empty()) return to;
    to = names_.fresh(from + "_staged");
    kernel_.arrays.push_back({to, array(from).element, loop_ir::Staged{chunk_entries}, true});
    return to;
  }

  StatementPtr staged(const loop_ir::For& loop) {
    staged_some_ = true;
    const std::string stop = names_.fresh("stop"), chunk = names_.fresh("chunk"),
                      count = names_.fresh("count"), entry = names_.fresh(loop.variable);
    loop_ir::Stage stage{mapping_->stage, loop_ir::name(chunk), loop_ir::name(count), {}};
    const auto arrays = loaded_by(loop);
    for (const auto& each : arrays) stage.copies.push_back({staged_array(each), each});
    loop_ir::Substitution position;
    position[loop.variable] = loop_ir::add(loop_ir::name(chunk), loop_ir::name(entry));
    const auto body = mapped(loop.body, [&](const ExpressionPtr& expression) {
      const auto loads = with_loads(expression, [&](const loop_ir::Load& load) -> ExpressionPtr {
        const bool is_staged = loop_ir::is_name(load.index, loop.variable) && arrays.count(load.array) > 0;
        return is_staged ? loop_ir::load(staged_.at(load.array), loop_ir::name(entry)) : nullptr;
      });
      return loop_ir::substitute(loads, position);
    });
    loop_ir::For entries;
    entries.variable = entry, entries.begin = loop_ir::integer(0), entries.end = loop_ir::name(count);
    entries.entries = arrays.count(loop.entries) > 0 ? staged_.at(loop.entries) : loop.entries;
    entries.body = body;
    loop_ir::For chunks;
    chunks.variable = chunk, chunks.begin = loop.begin, chunks.end = loop_ir::name(stop);
    chunks.step = chunk_entries;
    const auto left = loop_ir::subtract(loop_ir::name(stop), loop_ir::name(chunk));
    chunks.body = loop_ir::block({make(loop_ir::Let{count, loop_ir::Type::index,
                                                    loop_ir::minimum(left, loop_ir::integer(chunk_entries))}),
                                  make(std::move(stage)), make(std::move(entries))});
    return loop_ir::block(
        {make(loop_ir::Let{stop, loop_ir::Type::index, loop.end}), make(std::move(chunks))});
  }

  /// Replaces the loads of an expression for which `map` returns another one.
  template <class Map>
  static ExpressionPtr with_loads(const ExpressionPtr& expression, const Map& map) {
    const auto rebuilt = [&](const ExpressionPtr& part) { return with_loads(part, map); };
    if (const auto* load = std::get_if<loop_ir::Load>(&expression->node)) {
      if (const auto other = map(*load)) return other;
      return loop_ir::load(load->array, rebuilt(load->index));
    }
    if (const auto* apply = std::get_if<loop_ir::Apply>(&expression->node)) {
      std::vector<ExpressionPtr> arguments;
      for (const auto& each : apply->arguments) arguments.push_back(rebuilt(each));
      return loop_ir::apply(apply->function, std::move(arguments));
    }
    if (const auto* choice = std::get_if<loop_ir::Choose>(&expression->node))
      return loop_ir::choose(rebuilt(choice->condition), rebuilt(choice->then), rebuilt(choice->otherwise));
    if (const auto* search = std::get_if<loop_ir::Search>(&expression->node))
      return loop_ir::search(search->array, rebuilt(search->begin), rebuilt(search->end),
                             rebuilt(search->key), search->layout);
    return expression;
  }

  /// Replaces all expressions of a body of plain statements, bounds and conditions included.
  template <class Map>
  static StatementPtr mapped(const StatementPtr& statement, const Map& map) {
    const auto inside = loop_ir::map_children(loop_ir::map_expressions(statement, map),
                                              [&](const StatementPtr& each) { return mapped(each, map); });
    if (const auto* guard = as<loop_ir::If>(inside))
      return make(loop_ir::If{map(guard->condition), guard->body});
    const auto* loop = as<loop_ir::For>(inside);
    if (loop == nullptr) return inside;
    auto out = *loop;
    out.begin = map(loop->begin), out.end = map(loop->end);
    return make(std::move(out));
  }

  loop_ir::Kernel& kernel_;
  Names& names_;
  const loop_ir::ThreadMapping* mapping_ = nullptr;
  std::set<std::string> varying_;  ///< names that differ between the threads of a group
  bool staged_some_ = false;
  std::map<std::string, std::string> staged_;  ///< staged arrays by what they hold elements of
};

}  // namespace

loop_ir::Kernel stage_entries(loop_ir::Kernel kernel, Names& names) {
  StagedPhases phases(kernel, names);
  for (auto& phase : kernel.phases) {
    if (phase.mapping && phase.mapping->stage > 0) phases.rewrite(phase);
  }
  return kernel;
}

}  // namespace schaas::lower
