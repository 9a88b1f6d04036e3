#include "compiler/lower/passes.h"

#include <algorithm>

#include "compiler/lower/passes/coalesce_rows.h"
#include "compiler/lower/passes/expand_rows.h"
#include "compiler/lower/passes/fused_phases.h"
#include "compiler/lower/passes/loop_flattening.h"
#include "compiler/lower/passes/nests/register_blocking.h"
#include "compiler/lower/passes/nests/row_calls.h"
#include "compiler/lower/passes/nests/row_index.h"
#include "compiler/lower/passes/nests/row_splitting.h"
#include "compiler/lower/passes/nests/unstored.h"
#include "compiler/lower/passes/numeric_phase.h"
#include "compiler/lower/passes/packed_panels.h"
#include "compiler/lower/passes/prefetch_gathers.h"
#include "compiler/lower/passes/prefetch_rows.h"
#include "compiler/lower/passes/probed_lists.h"
#include "compiler/lower/passes/specialisation.h"
#include "compiler/lower/passes/split_unions.h"
#include "compiler/lower/passes/supernodes.h"
#include "compiler/lower/passes/threads/entry_unrolling.h"
#include "compiler/lower/passes/threads/row_registers.h"
#include "compiler/lower/passes/threads/staged_entries.h"
#include "compiler/lower/passes/threads/thread_coarsening.h"
#include "compiler/lower/passes/threads/vector_loads.h"
#include "compiler/lower/passes/threads/whole_rows.h"
#include "compiler/lower/passes/unroll_and_jam.h"
#include "compiler/lower/passes/zero_rows.h"
#include "compiler/support/nearest_name.h"

// The pipeline as a table, so that the order of passes has one home. A row names the code that its pass
// rewrites and the passes that make such code. It also names the passes that come before it, why, and what
// later ones may rely on. tests/unit/compiler/passes_test.cc shuffles rows within what `after` allows, leaves
// each out, and compares results with the oracle. Selections point into the table: their order is that of
// addresses.
namespace schaas::lower {
namespace {

/// The pipeline. A row may be exchanged with a neighbour that its `after` does not name.
const std::vector<Pass>& table() {
  static const std::vector<Pass> passes = {
      {.name = "count-unstored",
       .run = &count_unstored,
       .rewrites = "reduction that folds equal values of unstored elements at once",
       .keeps = "loops and their order",
       .baseline = true},
      {.name = "index-rows",
       .run = &index_rows,
       .rewrites = "loop over all rows that looks for those of a list of entries",
       .keeps = "loops and their order"},
      {.name = "block-registers",
       .run = &block_registers,
       .rewrites = "sum over loops into dense rows of its target",
       .after = {},
       .keeps = "order of summation",
       .baseline = true},
      {.name = "block-calls",
       .run = &block_calls,
       .rewrites = "phase whose rows compute scalars and a costly function of them",
       .keeps = "values and their order of summation"},
      {.name = "split-rows",
       .run = &split_rows,
       .rewrites = "phase that is linear in the entries of its rows",
       .after = {"count-unstored", "index-rows", "block-registers", "block-calls"},
       .why = "it marks phases of rows, and they make phases anew or give them rows",
       .keeps = "the tree"},
      {.name = "fuse-phases",
       .run = &fuse_phases,
       .rewrites = "two phases that walk the rows of one operand and add to the result",
       .keeps = "values up to the order of summation"},
      {.name = "split-unions",
       .run = &split_unions,
       .rewrites = "store of each element of an extent, some of which lists hold",
       .keeps = "values"},
      {.name = "coalesce-rows",
       .run = &coalesce_rows,
       .rewrites = "fold over entries that does not know their row, or append of one entry for each",
       .keeps = "values up to the order of summation"},
      {.name = "prefetch-gathers",
       .run = &prefetch_gathers,
       .rewrites = "vector loop over entries that gathers rows beside other loops or below other entries",
       .keeps = "statements and their order"},
      {.name = "unroll-and-jam",
       .run = static_cast<Pass::OnKernelWithNames>(&unroll_and_jam),
       .rewrites = "loop whose copies share a load or fold independent values",
       .after = {"coalesce-rows", "prefetch-gathers"},
       .why = "jammed loops are no longer one, and remainder loops look like other loops beside a gather",
       .keeps = "attributes of loops; values up to the order of summation"},
      {.name = "prefetch-rows",
       .run = &prefetch_next_rows,
       .rewrites = "register tile whose factors are rows in memory",
       .needs = {"unroll-and-jam"},
       .after = {"unroll-and-jam"},
       .why = "register tiles are jammed loops",
       .keeps = "statements and their order"},
      {.name = "pack-panels",
       .run = &pack_panels,
       .rewrites = "register tile with a factor that is computed from several operands",
       .needs = {"unroll-and-jam"},
       .after = {"unroll-and-jam", "prefetch-rows"},
       .why = "rows are prefetched beside the products, not where they are packed",
       .keeps = "values and their order of summation"},
      {.name = "supernodes",
       .run = &add_supernodes,
       .rewrites = "loop that adds clustered rows to a sparse accumulator, all indices of one width",
       .keeps = "values and their order of summation"},
      {.name = "expand-rows",
       .run = &expand_rows,
       .rewrites = "row of a sparse accumulator whose terms are entries times known factors",
       .keeps = "the general case as it was"},
      {.name = "probe-lists",
       .run = &probe_lists,
       .rewrites = "intersection with a list that stays the same in a loop around it",
       .keeps = "values and their order of summation"},
      {.name = "numeric-phases",
       .run = &add_numeric_phases,
       .rewrites = "phase that writes structure and values of a sparse result without a sparse accumulator",
       .after = {"coalesce-rows", "prefetch-gathers", "unroll-and-jam", "prefetch-rows", "pack-panels",
                 "probe-lists"},
       .why = "the numeric body is a copy of the phase's body",
       .keeps = "the phase's body"},
      {.name = "flatten-loops",
       .run = &flatten_loops,
       .rewrites = "numeric body that is a jammed loop over the entries of each row",
       .needs = {"unroll-and-jam", "numeric-phases"},
       .after = {"unroll-and-jam", "numeric-phases"},
       .why = "it walks the groups of jammed loops in numeric bodies",
       .keeps = "order of statements"},
      {.name = "skip-zero-rows",
       .run = &skip_zero_rows,
       .rewrites =
           "loop over entries that folds products with a factor from before it, with or-and or of integers",
       .after = {"unroll-and-jam", "numeric-phases"},
       .why = "they look for loops that are not under a condition",
       .keeps = "values"},
      {.name = "specialise",
       .run = &specialise,
       .rewrites = "vector loop over an extent that no sparse level has",
       .after = {"pack-panels"},
       .why = "packing adds vector loops",
       .keeps = "statements"},
      {.name = "coarsen-threads",
       .run = &coarsen_threads,
       .rewrites = "thread mapping with several columns for each thread",
       .keeps = "order of summation of each column",
       .machine = Machine::gpu,
       .baseline = true},
      {.name = "keep-rows",
       .run = &keep_rows_in_registers,
       .rewrites = "sum into elements of a row that a thread folds term by term",
       .after = {"coarsen-threads"},
       .why = "its bodies have one loop for each column of a thread",
       .keeps = "order of summation",
       .machine = Machine::gpu,
       .baseline = true},
      {.name = "vectorise-loads",
       .run = &vectorize_loads,
       .rewrites = "loads of adjacent values that a thread uses together",
       .after = {"coarsen-threads", "keep-rows"},
       .why = "they make the loads of a thread adjacent",
       .keeps = "the phase's body",
       .machine = Machine::gpu,
       .baseline = true},
      {.name = "store-whole-rows",
       .run = &store_whole_rows,
       .rewrites = "atomic sum of a row of which a thread may have all entries",
       .after = {"coarsen-threads", "keep-rows", "vectorise-loads"},
       .why = "they put the sums of a thread next to each other",
       .keeps = "loops and their order",
       .machine = Machine::gpu,
       .baseline = true},
      {.name = "stage-entries",
       .run = &stage_entries,
       .rewrites = "loop over the entries of a row that threads with columns of it walk in step",
       .after = {"coarsen-threads", "keep-rows", "vectorise-loads", "store-whole-rows"},
       .why = "they rewrite the loops of single entries",
       .keeps = "order of summation",
       .machine = Machine::gpu,
       .baseline = true},
      {.name = "unroll-entries",
       .run = &unroll_entries,
       .rewrites = "loop of a thread over entries that reads nothing it writes",
       .after = {"coarsen-threads", "keep-rows", "vectorise-loads", "store-whole-rows", "stage-entries"},
       .why = "they rewrite the loops of single entries",
       .keeps = "values up to the order of summation",
       .machine = Machine::gpu,
       .baseline = true},
  };
  return passes;
}

std::size_t index_of(const Pass* pass) { return static_cast<std::size_t>(pass - table().data()); }

/// Sorts a selection and drops repetitions.
PassList in_table_order(PassList passes) {
  std::sort(passes.begin(), passes.end());
  passes.erase(std::unique(passes.begin(), passes.end()), passes.end());
  return passes;
}

/// Returns the error for a name that nothing has: the nearest known one, then all.
support::Diagnostic unknown(std::string_view name, std::vector<std::string> others) {
  std::string listed;
  std::vector<std::string> known = std::move(others);
  for (const auto& pass : table()) known.emplace_back(pass.name);
  for (const auto& each : known) listed += (listed.empty() ? "" : ", ") + each;
  return support::invalid("pass", "unknown pass `" + std::string(name) + "`" +
                                      support::did_you_mean(name, known) + "; known are " + listed);
}

/// Returns the passes that a word of a selection names.
support::Result<PassList> named(std::string_view word) {
  if (word == "all") return all_passes();
  if (word == "baseline") return baseline_passes();
  const Pass* pass = find_pass(word);
  if (pass == nullptr) return unknown(word, {"all", "baseline"});
  return PassList{pass};
}

/// Removes the passes after `last`; after `emission`, all that rewrite kernels.
support::Result<void> cut_after(PassList& passes, std::string_view last) {
  if (last.empty()) return {};
  const Pass* pass = find_pass(last);
  if (pass == nullptr && last != emission) return unknown(last, {std::string(emission)});
  passes.erase(std::remove_if(passes.begin(), passes.end(),
                              [&](const Pass* each) {
                                return pass == nullptr ? !rewrites_nest(*each)
                                                       : index_of(each) > index_of(pass);
                              }),
               passes.end());
  return {};
}

}  // namespace

PassList all_passes() {
  PassList passes;
  for (const auto& pass : table()) passes.push_back(&pass);
  return passes;
}

PassList baseline_passes() {
  PassList passes;
  for (const auto& pass : table()) {
    if (pass.baseline) passes.push_back(&pass);
  }
  return passes;
}

const Pass* find_pass(std::string_view name) {
  const auto found =
      std::find_if(table().begin(), table().end(), [&](const Pass& pass) { return pass.name == name; });
  return found == table().end() ? nullptr : &*found;
}

support::Result<PassList> parse_passes(std::string_view text, std::string_view last) {
  PassList passes;
  if (text.empty() || text.front() == '-') passes = all_passes();
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    const auto word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    // Words apply in order: `-` removes from what is selected so far.
    const bool removes = word.starts_with('-');
    SCHAAS_ASSIGN_OR_RETURN(const PassList found, named(word.substr(removes ? 1 : 0)));
    if (!removes) passes.insert(passes.end(), found.begin(), found.end());
    if (!removes) continue;
    passes.erase(
        std::remove_if(passes.begin(), passes.end(),
                       [&](const Pass* each) { return std::count(found.begin(), found.end(), each) > 0; }),
        passes.end());
  }
  passes = in_table_order(std::move(passes));
  SCHAAS_RETURN_IF_ERROR(cut_after(passes, last));
  return passes;
}

bool is_in_order(const PassList& passes) {
  for (auto later = passes.begin(); later != passes.end(); ++later) {
    for (const auto& name : (*later)->after) {
      // A pass wanted before this one may not stand at or after it.
      if (std::count(later, passes.end(), find_pass(name)) > 0) return false;
    }
  }
  return true;
}

bool rewrites_nest(const Pass& pass) { return std::holds_alternative<Pass::OnNest>(pass.run); }

}  // namespace schaas::lower
