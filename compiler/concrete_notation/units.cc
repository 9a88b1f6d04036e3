#include "compiler/concrete_notation/units.h"

#include <algorithm>
#include <string>

#include "compiler/concrete_notation/match.h"
#include "compiler/concrete_notation/positions.h"
#include "compiler/concrete_notation/tree_checks.h"

namespace schaas::concrete_notation {
namespace {

using support::Result;

const Forall* inner_of(const Forall& loop) { return std::get_if<Forall>(&loop.body->node); }

bool has(const index_notation::Access& access, const std::string& index) {
  return std::count(access.indices.begin(), access.indices.end(), index) > 0;
}

bool is_power_of_two(int number, int most) {
  return number >= 1 && number <= most && (number & (number - 1)) == 0;
}

std::string threads_of(int number) {
  return number == 1 ? "one thread" : std::to_string(number) + " threads";
}

/// The rows' loops, outermost first: of positions all that walk the operand.
std::vector<std::string> rows_of(const UnitLoops& loops) {
  if (loops.rows->manner.positions > 0) return loops_of_positions(*loops.rows);
  if (loops.rows->manner.collapsed) return {loops.rows->index, inner_of(*loops.rows)->index};
  return {loops.rows->index};
}

bool write_own(const UnitLoops& loops) {
  const auto rows = rows_of(loops);
  const auto& target = leaf_of(loops.rows->body).target;
  return std::all_of(rows.begin(), rows.end(), [&](const std::string& index) { return has(target, index); });
}

Result<void> check_numbers(const UnitLoops& loops) {
  const Units& units = loops.units;
  const std::string rows = quoted(loops.rows->index);
  if (units.take > 999) return illegal("a thread takes more than 999 iterations of loop " + rows);
  if (loops.columns_take > 16)
    return illegal("a thread takes " + std::to_string(loops.columns_take) +
                   " columns, one for each value of loop " + quoted(loops.columns->index) +
                   "; it has registers for 16");
  if (!is_power_of_two(units.share, 32))
    return illegal(threads_of(units.share) + " share an iteration of loop " + rows +
                   "; 1, 2, 4, 8, 16 or 32 do");
  if (!is_power_of_two(units.width, 32))
    return illegal("a group has " + threads_of(units.width) + "; it has 1, 2, 4, 8, 16 or 32");
  if (units.block < 32 || !is_power_of_two(units.block, 512))
    return illegal("a block has " + threads_of(units.block) + "; it has 32, 64, 128, 256 or 512");
  if (units.tile == 0) return {};
  if (!is_power_of_two(units.tile, 32))
    return illegal(std::to_string(units.tile) +
                   " iterations lie side by side in a warp; 1, 2, 4, 8, 16 or 32 do");
  if (units.tile * units.share < units.width || units.tile * units.share > units.block)
    return illegal(std::to_string(units.tile) + " iterations side by side have " +
                   threads_of(units.tile * units.share) + ", and a group has " + std::to_string(units.width) +
                   " of a block of " + std::to_string(units.block));
  return {};
}

Result<void> check_columns(const UnitLoops& loops, const problem::Problem& problem) {
  if (loops.columns == nullptr) return {};
  const Forall& columns = *loops.columns;
  const auto& given = *columns.manner.units;
  if (given.width != 1 || given.tile != 0 || given.block != Units{}.block)
    return illegal("loop " + quoted(columns.index) + " stands around loop " + quoted(loops.rows->index) +
                   ", which is shared out among threads too: groups, blocks and warps are of that one");
  if (columns.manner.positions > 0 || columns.manner.collapsed)
    return illegal("loop " + quoted(columns.index) + " is one with the loops inside it and cannot be the " +
                   "columns of loop " + quoted(loops.rows->index));
  const auto& target = leaf_of(columns.body).target;
  if (!has(target, columns.index))
    return illegal("iterations of loop " + quoted(columns.index) + " write the same elements of " +
                   quoted(target) + "; the loop around loop " + quoted(loops.rows->index) +
                   " is one over columns of what is written");
  for (const auto& access : reads(columns.body)) {
    if (sparse_level(access, columns.index, problem) < 0) continue;
    return illegal("loop " + quoted(columns.index) + " runs over the entries of " + quoted(access) +
                   ", and columns are all values of an index");
  }
  for (const auto& access : reads(columns.body)) {
    if (sparse_level(access, loops.rows->index, problem) < 1 || loops.rows->manner.positions > 0) continue;
    return illegal("how far loop " + quoted(loops.rows->index) + " runs hangs on the entries of " +
                   quoted(access) + " below loop " + quoted(columns.index) +
                   ", so that it cannot be shared out beside it");
  }
  return {};
}

/// Sgap, section 3.3: what several threads share must be something they can share.
Result<void> check_share(const UnitLoops& loops, const problem::Problem& problem) {
  if (loops.units.share == 1) return {};
  const std::string rows = quoted(loops.rows->index);
  const bool entries = loops.rows->manner.positions > 0;
  if (loops.columns != nullptr && loops.columns->manner.units->share > 1 && loops.rows->manner.units &&
      loops.rows->manner.units->share > 1)
    return illegal("several threads share an iteration of loop " + rows + " and one of loop " +
                   quoted(loops.columns->index) + "; only one of them is divided (Sgap, rule 3)");
  if (loops.rows->manner.collapsed)
    return illegal("loop " + rows + " is collapsed, and several threads share no pair of values");
  if (loops.inside == nullptr)
    return illegal(entries ? "an entry is multiplied once by each thread that has it, so " +
                                 threads_of(loops.units.share) +
                                 " cannot share one (Sgap, rule 1): there is no sum inside it"
                           : threads_of(loops.units.share) + " share an iteration of loop " + rows +
                                 ", and no loop of a sum stands directly inside it");
  const auto& target = leaf_of(loops.rows->body).target;
  const std::string inside = quoted(loops.inside->index);
  for (const Forall* at = loops.inside; at != nullptr; at = inner_of(*at)) {
    if (has(target, at->index))
      return illegal("threads share an iteration of loop " + rows + " by its loop " + inside + ", and loop " +
                     quoted(at->index) + " over elements of " + quoted(target) +
                     " stands there: reorder brings it outside");
    if (!inner_of(*at) && !std::holds_alternative<Assign>(at->body->node))
      return illegal("threads share an iteration of loop " + rows +
                     " where it is loops around one assignment, and there is a branch below loop " + inside);
  }
  int lists = 0;
  for (const auto& access : reads(loops.inside->body))
    lists += sparse_level(access, loops.inside->index, problem) >= 0 ? 1 : 0;
  if (lists > 1)
    return illegal("loop " + inside +
                   " walks the entries of several operands side by side, which threads cannot share");
  return {};
}

Result<void> check_group(const UnitLoops& loops) {
  const Units& units = loops.units;
  const std::string rows = quoted(loops.rows->index);
  if (units.width == 1) {
    if (units.reduce != Gather::parallel || units.share == 1) return {};
    return illegal("a group of one thread has one writer, and " + threads_of(units.share) +
                   " share an iteration of loop " + rows + " (Sgap, rule 2): reduce=atomic");
  }
  const std::string group = "a group of " + threads_of(units.width);
  const bool own = write_own(loops);
  if (units.share == 1 && own)
    return illegal(group + " has nothing to bring together: each thread computes elements of " +
                   quoted(leaf_of(loops.rows->body).target) + " of its own");
  if (units.reduce == Gather::segment) return {};
  const std::string strategy = std::string("reduce=") + name(units.reduce);
  if (units.width > units.share)
    return illegal(group + " holds " + std::to_string(units.width / units.share) + " iterations of loop " +
                   rows + ", which write different elements, and " + strategy +
                   " has one writer: reduce=segment finds out who writes");
  if (units.reduce == Gather::atomic) return {};
  if (units.width < units.share)
    return illegal(
        threads_of(units.share) + " share an iteration of loop " + rows + " and " + group +
        " does not hold them all, so that several write one element (Sgap, rule 2): reduce=atomic");
  if (own) return {};
  return illegal("iterations of loop " + rows + " write the same elements of " +
                 quoted(leaf_of(loops.rows->body).target) +
                 ", and reduce=parallel has one writer for each: reduce=atomic or segment");
}

Result<void> check_target(const UnitLoops& loops, const problem::Problem& problem) {
  const auto& target = leaf_of(loops.rows->body).target;
  const auto format = problem.formats.find(target.tensor);
  if (format == problem.formats.end() || format->second.all_dense()) return {};
  if (entries_of_target(leaf_of(loops.rows->body), problem)) return {};
  return illegal(quoted(target) +
                 " is appended to in order, and the threads of a GPU come in any: declare `" + target.tensor +
                 "` dense, or compute it by a schedule for the CPU");
}

/// Whatever phase the tree is, `outermost` of each; false ends it.
template <class Each>
bool each_phase(const StatementPtr& statement, const Each& each) {
  return match(
      statement->node, [&](const Forall& loop) { return each(loop); }, [](const Blocks&) { return true; },
      [&](const Where& branch) {
        return each_phase(branch.producer, each) && each_phase(branch.consumer, each);
      },
      [&](const Terms& sum) {
        return std::all_of(sum.terms.begin(), sum.terms.end(),
                           [&](const StatementPtr& term) { return each_phase(term, each); });
      },
      [](const Assign&) { return true; });
}

bool says_units(const Forall& outermost) {
  const Forall* second = inner_of(outermost);
  return outermost.manner.units || (second != nullptr && second->manner.units);
}

}  // namespace

const char* name(Gather gather) {
  switch (gather) {
    case Gather::atomic:
      return "atomic";
    case Gather::parallel:
      return "parallel";
    case Gather::segment:
      return "segment";
  }
  return "";
}

UnitLoops unit_loops(const Forall& outermost) {
  UnitLoops loops;
  const Forall* second = inner_of(outermost);
  const bool two =
      second != nullptr && outermost.manner.units && (second->manner.units || second->manner.positions > 0);
  loops.rows = two ? second : &outermost;
  loops.units = loops.rows->manner.units.value_or(Units{});
  if (two) {
    loops.columns = &outermost;
    loops.columns_take = outermost.manner.units->take;
    loops.units.share = std::max(loops.units.share, outermost.manner.units->share);
  }
  const Forall* last = loops.rows;
  for (int n = 1; n < loops.rows->manner.positions && last != nullptr; ++n) last = inner_of(*last);
  loops.inside = last == nullptr ? nullptr : inner_of(*last);
  return loops;
}

std::optional<index_notation::Access> entries_of_target(const Assign& leaf, const problem::Problem& problem) {
  const auto format = problem.formats.find(leaf.target.tensor);
  const bool product = index_notation::is_product(leaf.value) && leaf.monoid == problem.semiring->sum;
  if (format == problem.formats.end() || format->second.all_dense() || !product || problem.statement.update)
    return std::nullopt;
  const auto plain = [](format::LevelFormat level) {
    return level == format::LevelFormat::dense || level == format::LevelFormat::compressed;
  };
  const auto& levels = format->second.levels;
  if (!std::all_of(levels.begin(), levels.end(), plain)) return std::nullopt;
  for (const auto& access : index_notation::operands(leaf.value)) {
    const auto stored = problem.formats.find(access.tensor);
    if (stored != problem.formats.end() && stored->second == format->second &&
        access.indices == leaf.target.indices)
      return access;
  }
  return std::nullopt;
}

bool has_units(const StatementPtr& statement) {
  return !each_phase(statement, [](const Forall& outermost) { return !says_units(outermost); });
}

Result<void> check_units(const Forall& outermost, const problem::Problem& problem) {
  if (!says_units(outermost)) return {};
  if (!outermost.manner.units)
    return illegal("loop " + quoted(inner_of(outermost)->index) + " stands inside loop " +
                   quoted(outermost.index) +
                   "; threads of a GPU share the outermost loop of a phase, or that and the one inside it");
  const UnitLoops loops = unit_loops(outermost);
  if (outermost.manner.parallel || loops.rows->manner.parallel)
    return illegal("loop " + quoted(outermost.index) +
                   " is for the threads of a GPU: `group` says how they are kept apart, not `parallelize`");
  SCHAAS_RETURN_IF_ERROR(check_numbers(loops));
  SCHAAS_RETURN_IF_ERROR(check_target(loops, problem));
  SCHAAS_RETURN_IF_ERROR(check_columns(loops, problem));
  SCHAAS_RETURN_IF_ERROR(check_share(loops, problem));
  return check_group(loops);
}

bool has_one_writer(const Forall& outermost) {
  const UnitLoops loops = unit_loops(outermost);
  const bool whole = loops.units.share == 1 ||
                     (loops.units.width == loops.units.share && loops.units.reduce != Gather::segment);
  return write_own(loops) && whole;
}

int side_by_side(const Units& units) {
  if (units.tile > 0) return units.tile;
  const bool segments = units.reduce == Gather::segment && units.width > 1;
  return std::max(1, (segments ? 32 : units.width) / units.share);
}

bool order_is_chance(const StatementPtr& statement) {
  return !each_phase(statement, [](const Forall& outermost) {
    const Assign& leaf = leaf_of(outermost.body);
    if (leaf.monoid != operators::Monoid::sum && leaf.monoid != operators::Monoid::product) return true;
    if (!says_units(outermost)) return outermost.manner.parallel != Races::atomics;
    return has_one_writer(outermost);
  });
}

}  // namespace schaas::concrete_notation
