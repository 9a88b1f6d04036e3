#include "compiler/concrete_notation/thread_mapping.h"

#include <algorithm>
#include <string>

#include "compiler/concrete_notation/match.h"
#include "compiler/concrete_notation/positions.h"
#include "compiler/concrete_notation/tree_checks.h"
#include "compiler/support/contains.h"

// Legality of thread mappings on a GPU, by the rules of Sgap (Zhang et al., section 3.3). Rule 1: threads
// share no entry unless a sum stands inside it. Rule 2: an exclusive write needs a group that holds all
// threads of an iteration. Rule 3: only rows or columns are divided among threads. Three extensions are ours.
// Threads may share a loop over elements of the target, each of which is one thread's (SDDMM), or one
// group's, whose threads share the sum. They may share both nests of a branch whose first sums up a scalar
// (fused SDDMM and SpMM).
namespace schaas::concrete_notation {
namespace {

using support::Result;

/// Returns the branch below a loop, or null.
const Where* branch_below(const Forall& loop) {
  const Forall* at = &loop;
  while (inner_of(*at) != nullptr) at = inner_of(*at);
  return std::get_if<Where>(&at->body->node);
}

/// The loop and those inside it stand around one assignment.
bool is_chain(const Forall& loop) {
  const Forall* at = &loop;
  while (inner_of(*at) != nullptr) at = inner_of(*at);
  return std::holds_alternative<Assign>(at->body->node);
}

bool is_power_of_two(int number, int maximum) {
  return number >= 1 && number <= maximum && (number & (number - 1)) == 0;
}

std::string threads_of(int number) {
  return number == 1 ? "one thread" : std::to_string(number) + " threads";
}

/// Returns the rows' loops, outermost first; of positions all that walk the operand.
std::vector<std::string> rows_of(const MappedLoops& loops) {
  if (loops.rows->annotation.positions > 0) return loops_of_positions(*loops.rows);
  if (loops.rows->annotation.collapsed) return {loops.rows->index, inner_of(*loops.rows)->index};
  return {loops.rows->index};
}

/// Each row writes elements of its own.
bool write_own(const MappedLoops& loops) {
  const auto rows = rows_of(loops);
  const auto& target = leaf_of(loops.rows->body).target;
  return std::all_of(rows.begin(), rows.end(),
                     [&](const std::string& index) { return support::contains(target.indices, index); });
}

/// Checks the numbers of a mapping: powers of two within a warp of 32 threads and a block of 512.
Result<void> check_numbers(const MappedLoops& loops) {
  const ThreadMapping& mapping = loops.mapping;
  const std::string rows = quoted(loops.rows->index);
  if (mapping.grain > 999) return illegal("a thread takes more than 999 iterations of loop " + rows);
  if (loops.columns_grain > 16)
    return illegal("a thread takes " + std::to_string(loops.columns_grain) +
                   " columns, one for each value of loop " + quoted(loops.columns->index) +
                   "; it has registers for 16");
  if (!is_power_of_two(mapping.threads_per_item, 32))
    return illegal(threads_of(mapping.threads_per_item) + " share an iteration of loop " + rows +
                   "; 1, 2, 4, 8, 16 or 32 do");
  if (!is_power_of_two(mapping.group_size, 32))
    return illegal("a group has " + threads_of(mapping.group_size) + "; it has 1, 2, 4, 8, 16 or 32");
  if (mapping.block < 32 || !is_power_of_two(mapping.block, 512))
    return illegal("a block has " + threads_of(mapping.block) + "; it has 32, 64, 128, 256 or 512");
  if (mapping.tile == 0) return {};
  if (!is_power_of_two(mapping.tile, 32))
    return illegal(std::to_string(mapping.tile) +
                   " iterations lie side by side in a warp; 1, 2, 4, 8, 16 or 32 do");
  if (mapping.tile * mapping.threads_per_item < mapping.group_size ||
      mapping.tile * mapping.threads_per_item > mapping.block)
    return illegal(std::to_string(mapping.tile) + " iterations side by side have " +
                   threads_of(mapping.tile * mapping.threads_per_item) + ", and a group has " +
                   std::to_string(mapping.group_size) + " of a block of " + std::to_string(mapping.block));
  return {};
}

/// Checks that columns are all values of an index of the target, whatever entries the rows have.
Result<void> check_columns(const MappedLoops& loops, const problem::Problem& problem) {
  if (loops.columns == nullptr) return {};
  const Forall& columns = *loops.columns;
  const auto& given = *columns.annotation.mapping;
  if (given.group_size != 1 || given.tile != 0 || given.stage != 0 || given.merge_path ||
      given.block != ThreadMapping{}.block)
    return illegal("loop " + quoted(columns.index) + " stands around loop " + quoted(loops.rows->index) +
                   ", which is shared out among threads too: groups, blocks and warps are of that one");
  if (columns.annotation.positions > 0 || columns.annotation.collapsed)
    return illegal("loop " + quoted(columns.index) + " is one with the loops inside it and cannot be the " +
                   "columns of loop " + quoted(loops.rows->index));
  const auto& target = leaf_of(columns.body).target;
  if (!support::contains(target.indices, columns.index))
    return illegal("iterations of loop " + quoted(columns.index) + " write the same elements of " +
                   quoted(target) + "; the loop around loop " + quoted(loops.rows->index) +
                   " is one over columns of what is written");
  for (const auto& access : reads(columns.body)) {
    if (sparse_level(access, columns.index, problem) < 0) continue;
    return illegal("loop " + quoted(columns.index) + " runs over the entries of " + quoted(access) +
                   ", and columns are all values of an index");
  }
  for (const auto& access : reads(columns.body)) {
    if (sparse_level(access, loops.rows->index, problem) < 1 || loops.rows->annotation.positions > 0)
      continue;
    return illegal("how far loop " + quoted(loops.rows->index) + " runs hangs on the entries of " +
                   quoted(access) + " below loop " + quoted(columns.index) +
                   ", so that it cannot be shared out beside it");
  }
  return {};
}

/// Checks that several threads can share the iterations of a row by a sum (Sgap, section 3.3).
Result<void> check_shared_sum(const MappedLoops& loops) {
  const std::string rows = quoted(loops.rows->index), inside = quoted(loops.inside->index);
  const auto& target = leaf_of(loops.rows->body).target;
  for (const Forall* at = loops.inside; at != nullptr; at = inner_of(*at)) {
    if (support::contains(target.indices, at->index))
      return illegal("threads share an iteration of loop " + rows + " by its loop " + inside + ", and loop " +
                     quoted(at->index) + " over elements of " + quoted(target) +
                     " stands there: reorder brings it outside");
  }
  return {};
}

/// Checks the nests that the threads of a row share. The first sums up a scalar, which all of them get. The
/// second is a loop over elements, of which each has some.
Result<void> check_shared_branch(const MappedLoops& loops) {
  const std::string rows = quoted(loops.rows->index);
  const std::string start = "threads share an iteration of loop " + rows + " around a branch where ";
  const auto* sum = std::get_if<Forall>(&loops.branch->producer->node);
  const auto* elements = std::get_if<Forall>(&loops.branch->consumer->node);
  const bool chains = sum != nullptr && elements != nullptr && is_chain(*sum) && is_chain(*elements);
  if (!chains || !leaf_of(loops.branch->producer).target.indices.empty())
    return illegal(start + "it sums up a scalar in one nest of loops and uses it in another");
  const auto& target = leaf_of(loops.branch->consumer).target;
  if (!support::contains(target.indices, elements->index))
    return illegal(start + "the loop that uses the scalar, " + quoted(elements->index) +
                   ", is one over elements of " + quoted(target));
  return {};
}

/// Checks that the loop shared by several threads can be shared.
Result<void> check_share(const MappedLoops& loops, const problem::Problem& problem) {
  if (loops.mapping.threads_per_item == 1) return {};
  const std::string rows = quoted(loops.rows->index);
  const bool entries = loops.rows->annotation.positions > 0;
  if (loops.columns != nullptr && loops.columns->annotation.mapping->threads_per_item > 1 &&
      loops.rows->annotation.mapping && loops.rows->annotation.mapping->threads_per_item > 1)
    return illegal("several threads share an iteration of loop " + rows + " and one of loop " +
                   quoted(loops.columns->index) + "; only one of them is divided (Sgap, rule 3)");
  if (loops.rows->annotation.collapsed)
    return illegal("loop " + rows + " is collapsed, and several threads share no pair of values");
  if (loops.branch != nullptr) return check_shared_branch(loops);
  if (loops.inside == nullptr)
    return illegal(entries ? "an entry is multiplied once by each thread that has it, so " +
                                 threads_of(loops.mapping.threads_per_item) +
                                 " cannot share one (Sgap, rule 1): there is no sum inside it"
                           : threads_of(loops.mapping.threads_per_item) + " share an iteration of loop " +
                                 rows + ", and no loop of a sum stands directly inside it");
  if (!distributes_elements(loops)) SCHAAS_RETURN_IF_ERROR(check_shared_sum(loops));
  int lists = 0;
  for (const auto& access : reads(loops.inside->body))
    lists += sparse_level(access, loops.inside->index, problem) >= 0 ? 1 : 0;
  if (lists > 1)
    return illegal("loop " + quoted(loops.inside->index) +
                   " walks the entries of several operands side by side, which threads cannot share");
  return {};
}

/// Checks that a group has a sum to share for each element that it gets.
Result<void> check_shared_elements(const MappedLoops& loops, const problem::Problem& problem) {
  const ThreadMapping& mapping = loops.mapping;
  const std::string group = "a group of " + threads_of(mapping.group_size);
  const auto& target = leaf_of(loops.rows->body).target;
  const Forall* sum = inner_of(*loops.inside);
  if (sum == nullptr || !is_chain(*sum) || support::contains(target.indices, sum->index))
    return illegal(group + " has nothing to reduce: each thread computes elements of " + quoted(target) +
                   " of its own");
  if (mapping.reduce != GroupReduction::parallel)
    return illegal(group + " has elements of " + quoted(target) +
                   " that no other one writes: reduce=parallel");
  if (loops.rows->annotation.positions > 0 || mapping.group_size > mapping.threads_per_item ||
      mapping.tile > 1)
    return illegal(group + " has whole elements of one iteration of loop " + quoted(loops.rows->index) +
                   ", and its threads have those of several");
  for (const auto& access : reads(sum->body)) {
    if (sparse_level(access, sum->index, problem) >= 0)
      return illegal(group + " shares all values of an index, and loop " + quoted(sum->index) +
                     " runs over the entries of " + quoted(access));
  }
  return {};
}

/// Checks that the group's reduction has something to fold and writes each element as it says.
Result<void> check_group(const MappedLoops& loops, const problem::Problem& problem) {
  const ThreadMapping& mapping = loops.mapping;
  const std::string rows = quoted(loops.rows->index);
  if (loops.branch != nullptr) {
    if (mapping.group_size == 1 && mapping.reduce != GroupReduction::parallel) return {};
    return illegal(
        "the threads that share an iteration of loop " + rows +
        " around a branch fold the sum among all of them: `threads` alone says so, without `group`");
  }
  if (mapping.group_size == 1) {
    if (mapping.reduce != GroupReduction::parallel || mapping.threads_per_item == 1) return {};
    return illegal("a group of one thread writes exclusively, and " + threads_of(mapping.threads_per_item) +
                   " share an iteration of loop " + rows + " (Sgap, rule 2): reduce=atomic");
  }
  const std::string group = "a group of " + threads_of(mapping.group_size);
  const bool own = write_own(loops);
  if (distributes_elements(loops)) return check_shared_elements(loops, problem);
  if (mapping.threads_per_item == 1 && own)
    return illegal(group + " has nothing to reduce: each thread computes elements of " +
                   quoted(leaf_of(loops.rows->body).target) + " of its own");
  if (mapping.reduce == GroupReduction::segment) return {};
  const std::string strategy = std::string("reduce=") + name(mapping.reduce);
  if (mapping.group_size > mapping.threads_per_item)
    return illegal(group + " holds " + std::to_string(mapping.group_size / mapping.threads_per_item) +
                   " iterations of loop " + rows + ", which write different elements, and " + strategy +
                   " writes exclusively: reduce=segment finds the writing threads");
  if (mapping.reduce == GroupReduction::atomic) return {};
  if (mapping.group_size < mapping.threads_per_item)
    return illegal(
        threads_of(mapping.threads_per_item) + " share an iteration of loop " + rows + " and " + group +
        " does not hold them all, so that several write one element (Sgap, rule 2): reduce=atomic");
  if (own) return {};
  return illegal("iterations of loop " + rows + " write the same elements of " +
                 quoted(leaf_of(loops.rows->body).target) +
                 ", and reduce=parallel writes exclusively: reduce=atomic or segment");
}

/// Returns the operands of the rows that have the index at a sparse level, and the level of the last of them.
struct Walked {
  int operands = 0;
  format::LevelFormat level = format::LevelFormat::dense;
};
Walked walked_by(const MappedLoops& loops, const std::string& index, const problem::Problem& problem) {
  Walked walked;
  for (const auto& access : reads(loops.rows->body)) {
    const int level = sparse_level(access, index, problem);
    if (level < 0) continue;
    ++walked.operands;
    walked.level = problem.formats.at(access.tensor).levels[static_cast<std::size_t>(level)];
  }
  return walked;
}

/// Checks that threads with columns of one row walk one list of entries, which they can stage together
/// (GE-SpMM: Huang et al., SC 2020).
Result<void> check_stage(const MappedLoops& loops, const problem::Problem& problem) {
  const ThreadMapping& mapping = loops.mapping;
  if (mapping.stage == 0) return {};
  const std::string rows = quoted(loops.rows->index);
  const std::string start = threads_of(mapping.stage) + " stage the entries of an iteration of loop " + rows;
  if (mapping.stage < 8 || !is_power_of_two(mapping.stage, 32)) return illegal(start + "; 8, 16 or 32 do");
  if (loops.columns == nullptr) return illegal(start + ", and no loop over columns stands around it");
  if (mapping.threads_per_item > 1 || mapping.group_size > 1 || mapping.tile > 1)
    return illegal(start + ", and adjacent threads differ in more than their columns");
  Walked last;
  for (const Forall* at = inner_of(*loops.rows); at != nullptr; at = inner_of(*at)) {
    const Walked walked = walked_by(loops, at->index, problem);
    if (walked.operands > 0) last = walked;
  }
  if (!is_chain(*loops.rows) || last.operands != 1 || last.level != format::LevelFormat::compressed)
    return illegal(start + ", and no loop inside it walks one compressed list by itself");
  return {};
}

/// Checks that the entries are those of a matrix by rows. Each thread takes a part of their merge with the
/// rows (Merrill and Garland, SC 2016).
Result<void> check_merge_path(const MappedLoops& loops, const problem::Problem& problem) {
  if (!loops.mapping.merge_path) return {};
  const std::string start =
      "threads take rows and entries of loop " + quoted(loops.rows->index) + " together";
  if (loops.mapping.threads_per_item > 1) return illegal(start + ", and several share an entry");
  const auto rows = rows_of(loops);
  const auto by_rows = [&](const index_notation::Access& access) {
    const auto format = problem.formats.find(access.tensor);
    return sparse_level(access, rows.back(), problem) == 1 &&
           format->second.levels[0] == format::LevelFormat::dense &&
           format->second.levels[1] == format::LevelFormat::compressed;
  };
  const auto operands = reads(loops.rows->body);
  if (loops.rows->annotation.positions == 2 && std::any_of(operands.begin(), operands.end(), by_rows))
    return {};
  return illegal(start +
                 ", and it does not walk the entries of a dense and a compressed level: `pos` does it");
}

/// Checks that elements of the target may be written in any order.
Result<void> check_target(const MappedLoops& loops, const problem::Problem& problem) {
  const auto& target = leaf_of(loops.rows->body).target;
  const auto format = problem.formats.find(target.tensor);
  if (format == problem.formats.end() || format->second.all_dense()) return {};
  if (entries_of_target(leaf_of(loops.rows->body), problem)) return {};
  return illegal(quoted(target) +
                 " is appended to in order, and the threads of a GPU come in any: declare `" + target.tensor +
                 "` dense, or compute it by a schedule for the CPU");
}

/// Calls `each` for the outermost loop of each phase, until it returns false.
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

bool has_own_mapping(const Forall& outermost) {
  const Forall* second = inner_of(outermost);
  return outermost.annotation.mapping || (second != nullptr && second->annotation.mapping);
}

}  // namespace

const char* name(GroupReduction gather) {
  switch (gather) {
    case GroupReduction::atomic:
      return "atomic";
    case GroupReduction::parallel:
      return "parallel";
    case GroupReduction::segment:
      return "segment";
  }
  return "";
}

MappedLoops mapped_loops(const Forall& outermost) {
  MappedLoops loops;
  const Forall* second = inner_of(outermost);
  const bool two = second != nullptr && outermost.annotation.mapping &&
                   (second->annotation.mapping || second->annotation.positions > 0);
  loops.rows = two ? second : &outermost;
  loops.mapping = loops.rows->annotation.mapping.value_or(ThreadMapping{});
  if (two) {
    loops.columns = &outermost;
    loops.columns_grain = outermost.annotation.mapping->grain;
    loops.mapping.threads_per_item =
        std::max(loops.mapping.threads_per_item, outermost.annotation.mapping->threads_per_item);
  }
  const Forall* last = loops.rows;
  for (int n = 1; n < loops.rows->annotation.positions && last != nullptr; ++n) last = inner_of(*last);
  loops.inside = last == nullptr ? nullptr : inner_of(*last);
  if (loops.mapping.threads_per_item > 1 && last != nullptr && !distributes_elements(loops)) {
    loops.branch = branch_below(*last);
    if (loops.branch != nullptr) loops.inside = nullptr;
  }
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
    if (stored != problem.formats.end() && stored->second.levels == levels &&
        stored->second.mode_order == format->second.mode_order && access.indices == leaf.target.indices)
      return access;
  }
  return std::nullopt;
}

bool has_thread_mapping(const StatementPtr& statement) {
  return !each_phase(statement, [](const Forall& outermost) { return !has_own_mapping(outermost); });
}

Result<void> check_thread_mapping(const Forall& outermost, const problem::Problem& problem) {
  if (!has_own_mapping(outermost)) return {};
  if (!outermost.annotation.mapping)
    return illegal("loop " + quoted(inner_of(outermost)->index) + " stands inside loop " +
                   quoted(outermost.index) +
                   "; threads of a GPU share the outermost loop of a phase, or that and the one inside it");
  const MappedLoops loops = mapped_loops(outermost);
  if (outermost.annotation.parallel || loops.rows->annotation.parallel)
    return illegal("loop " + quoted(outermost.index) +
                   " is for the threads of a GPU: `group` says how they are kept apart, not `parallelize`");
  // Numbers first: the checks of groups divide by them.
  SCHAAS_RETURN_IF_ERROR(check_numbers(loops));
  SCHAAS_RETURN_IF_ERROR(check_target(loops, problem));
  SCHAAS_RETURN_IF_ERROR(check_columns(loops, problem));
  SCHAAS_RETURN_IF_ERROR(check_share(loops, problem));
  SCHAAS_RETURN_IF_ERROR(check_stage(loops, problem));
  SCHAAS_RETURN_IF_ERROR(check_merge_path(loops, problem));
  return check_group(loops, problem);
}

bool distributes_elements(const MappedLoops& loops) {
  return loops.mapping.threads_per_item > 1 && loops.inside != nullptr &&
         support::contains(leaf_of(loops.rows->body).target.indices, loops.inside->index);
}

bool writes_exclusively(const Forall& outermost) {
  const MappedLoops loops = mapped_loops(outermost);
  const bool whole = loops.mapping.threads_per_item == 1 || distributes_elements(loops) ||
                     loops.branch != nullptr ||
                     (loops.mapping.group_size == loops.mapping.threads_per_item &&
                      loops.mapping.reduce != GroupReduction::segment);
  return write_own(loops) && whole;
}

int adjacent_iterations(const ThreadMapping& mapping) {
  if (mapping.tile > 0) return mapping.tile;
  const bool segments = mapping.reduce == GroupReduction::segment && mapping.group_size > 1;
  return std::max(1, (segments ? 32 : mapping.group_size) / mapping.threads_per_item);
}

bool is_nondeterministic(const StatementPtr& statement) {
  return !each_phase(statement, [](const Forall& outermost) {
    const Assign& leaf = leaf_of(outermost.body);
    // Minima, maxima and logical folds do not round.
    if (leaf.monoid != operators::Monoid::sum && leaf.monoid != operators::Monoid::product) return true;
    if (!has_own_mapping(outermost)) return outermost.annotation.parallel != Races::atomics;
    return writes_exclusively(outermost);
  });
}

}  // namespace schaas::concrete_notation
