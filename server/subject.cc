#include "server/subject.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/concrete_notation/printer.h"
#include "compiler/frontier/contradiction.h"
#include "compiler/index_notation/printer.h"
#include "compiler/schedule/apply.h"
#include "compiler/schedule/section.h"
#include "compiler/support/nearest_name.h"
#include "server/stored_frontier.h"

namespace schaas::server {
namespace {

using problem::Canonical;
using support::Result;

using concrete_notation::StatementPtr;

/// Ways to run entries that are told of one answer, beyond one for each: making a tree takes 0.1 ms.
constexpr std::size_t most_more_variants = 48;
constexpr std::size_t most_more_of_an_entry = 4;
/// Values in a block (docs/notes/performance.md, "Blocks of rows"): entries of a sparse row, or rows.
constexpr int entries_in_block = 8;
constexpr int rows_in_block = 48;
constexpr int summed_in_block = 32;

NamedVariant variant_of(const schedule::Trace& user_trace, const StatementPtr& tree, const UserNames& names) {
  const problem::Problem with_copies = schedule::problem_of(user_trace, names.problem()).value();
  return {schedule::print(user_trace), concrete_notation::print_loop_tree(tree),
          cost::leaf_nests(tree, with_copies)};
}

/// Blocks of the branches that have a loop in common with nothing but their own section, outermost first.
void add_blocks(const StatementPtr& tree, const schedule::Path& path, bool in_common, bool sparse,
                const cost::Variables& variables, std::vector<schedule::Block>& blocks) {
  if (const auto* loop = std::get_if<concrete_notation::Forall>(&tree->node)) {
    // A loop that merges several lists finds its place in each of them anew for every block.
    const auto fibers = std::count_if(variables.fibers.begin(), variables.fibers.end(),
                                      [&](const cost::Variable& v) { return v.index == loop->index; });
    add_blocks(loop->body, path, fibers <= 1, fibers > 0, variables, blocks);
  } else if (const auto* branch = std::get_if<concrete_notation::Where>(&tree->node)) {
    if (in_common) blocks.push_back({path, sparse ? entries_in_block : rows_in_block});
    for (const int side : {0, 1}) {
      schedule::Path below = path;
      below.push_back(side);
      add_blocks(side == 0 ? branch->producer : branch->consumer, below, false, false, variables, blocks);
    }
  }
}

/// `blocked`, whose last directive is a block of entries, where the branch sums over these: more of them in a
/// block, and the sum next to the row it adds to, which stays in registers for all of a block; none where it
/// does not.
std::optional<schedule::Trace> summed_by_block(schedule::Trace blocked, const StatementPtr& tree) {
  auto& block = std::get<schedule::Block>(blocked.directives.back());
  schedule::Path consumer = block.path;
  consumer.push_back(1);
  const auto section = schedule::find_section(tree, consumer);
  if (!section.ok() || section->loops.size() < 3) return std::nullopt;
  std::vector<std::string> order = section->loops;
  const auto& written = section->target.indices;
  if (std::find(written.begin(), written.end(), order.front()) != written.end()) return std::nullopt;
  std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  block.size = summed_in_block;
  blocked.directives.emplace_back(schedule::Reorder{consumer, order});
  return blocked;
}

/// The entry's own trace; then it with temporaries of one block, and other members of its class.
std::vector<NamedVariant> variants_of(const frontier::Survivor& survivor, const StatementPtr& tree,
                                      const UserNames& names, std::size_t more) {
  const problem::Problem& problem = names.problem();
  if (problem.profile != problem::Profile::standard) return {};
  const schedule::Trace trace = names.to_user(survivor.traces.front());
  std::vector<NamedVariant> variants = {variant_of(trace, tree, names)};
  const auto add = [&](const schedule::Trace& other) -> StatementPtr {  // its tree; null: not told
    if (variants.size() > more) return nullptr;
    const auto made = schedule::apply(other, names.as_written());
    if (!made.ok()) return nullptr;
    variants.push_back(variant_of(other, *made, names));
    return *made;
  };
  if (!problem::is_contraction(problem)) return variants;
  std::vector<schedule::Block> blocks;
  if (problem.formats.at(problem.statement.result.tensor).all_dense())
    add_blocks(tree, {}, false, false, cost::variables_of(problem), blocks);
  for (const schedule::Block& block : blocks) {
    schedule::Trace blocked = trace;
    blocked.directives.emplace_back(block);
    const StatementPtr made = add(blocked);
    if (!made || block.size != entries_in_block) continue;
    if (const auto summed = summed_by_block(blocked, made)) add(*summed);
  }
  for (std::size_t t = 1; t < survivor.traces.size(); ++t) add(names.to_user(survivor.traces[t]));
  return variants;
}

Result<NamedEntry> named(const frontier::Survivor& survivor, const UserNames& names,
                         std::size_t more_variants) {
  NamedEntry entry;
  entry.id = survivor.id;
  const schedule::Trace trace = names.to_user(survivor.traces.front());
  entry.trace = schedule::print(trace);
  SCHAAS_ASSIGN_OR_RETURN(const StatementPtr tree, schedule::apply(trace, names.as_written()));
  entry.tree = concrete_notation::print_loop_tree(tree);
  entry.code = concrete_notation::print_indented(tree);
  entry.variants = variants_of(survivor, tree, names, more_variants);
  entry.time = cost::print_time(survivor.cost, names.variables());
  entry.memory = cost::print_memory(survivor.cost, names.variables());
  entry.members = survivor.members;
  entry.loop_trees = survivor.loop_trees;
  entry.cost = survivor.cost;
  for (std::size_t t = 1; t < survivor.traces.size(); ++t) {
    entry.other_traces.push_back(schedule::print(names.to_user(survivor.traces[t])));
  }
  return entry;
}

NamedRemoval named(const frontier::Removal& removal, std::size_t place, const UserNames& names) {
  NamedRemoval out;
  out.id = "r" + std::to_string(place + 1);
  out.kind = kind_name(removal.certificate.kind);
  out.argument = names.sentence(removal.certificate.argument);
  if (removal.summary()) return out;
  out.time = cost::print_time(removal.cost, names.variables());
  out.memory = cost::print_memory(removal.cost, names.variables());
  out.by = names.sentence(removal.certificate.winner);
  out.cost = removal.cost;
  return out;
}

bool is_id(const std::string& text, char kind) {
  return text.size() >= 2 && text[0] == kind &&
         std::all_of(text.begin() + 1, text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Errors: invalid [search-bounds].
Result<void> apply_bounds(const SearchBounds& bounds, const problem::Problem& problem,
                          frontier::Options& options) {
  if (bounds.memory_depth > 0) {
    options.stage1 = true;
    options.memory_depth = bounds.memory_depth;
  }
  if (bounds.max_temporary_bytes == 0 && bounds.seconds == 0) return {};
  if (problem.profile == problem::Profile::sparseauto) {
    return support::invalid("search-bounds",
                            "the search of profile sparseauto takes no limit in bytes or seconds; bound the "
                            "indices of temporaries, or use the default profile");
  }
  if (!(bounds.seconds >= 0 && bounds.seconds <= RequestLimits::search_seconds)) {
    return support::invalid("search-bounds", "the seconds of a search must be 0, for the default, to " +
                                                 std::to_string(RequestLimits::search_seconds));
  }
  if (bounds.seconds > 0) options.search_seconds = bounds.seconds;
  if (bounds.max_temporary_bytes > 0) {
    const std::uint64_t elements =
        bounds.max_temporary_bytes / (problem.value_type == problem::ValueType::f32 ? 4 : 8);
    options.max_temporary_elements =
        static_cast<std::int64_t>(std::clamp<std::uint64_t>(elements, 1, std::uint64_t{1} << 62));
  }
  return {};
}

}  // namespace

Result<Subject> subject_of(const problem::ProblemText& text, const SearchBounds& bounds,
                           const SearchMeans& means, const support::Cancellation& cancellation) {
  SCHAAS_RETURN_IF_ERROR(check_text(text, means.problems));
  const auto here = frontier::make_solver(means.solver, cancellation);
  SCHAAS_ASSIGN_OR_RETURN(const problem::Problem problem,
                          frontier::build_consistent(text, *here, means.query_milliseconds));
  SCHAAS_RETURN_IF_ERROR(check_size(problem, means.problems));
  Canonical canonical = problem::canonicalize(problem);
  UserNames names(canonical);
  frontier::Options options = frontier::options_for(problem.profile);
  options.solver = means.solver;
  options.search_seconds = means.seconds;
  options.solver_total_milliseconds = means.solver_milliseconds;
  options.solver_milliseconds = means.query_milliseconds;
  SCHAAS_RETURN_IF_ERROR(apply_bounds(bounds, problem, options));
  return Subject{std::move(canonical), std::move(names), std::move(options)};
}

Result<void> leave_out_stage2(Subject& subject) {
  if (subject.canonical.problem.profile != problem::Profile::sparseauto) {
    return support::invalid("no-stage2",
                            "stage 2 can only be left out with profile sparseauto; the default "
                            "profile has none");
  }
  subject.options.stage2 = false;
  return {};
}

bool is_frontier_id(const std::string& text) { return is_id(text, 's'); }
bool is_gpu_id(const std::string& text) { return is_id(text, 'g'); }

Result<schedule::Trace> canonical_trace(const std::string& text, const Subject& subject) {
  SCHAAS_ASSIGN_OR_RETURN(schedule::Trace trace, schedule::parse(text));
  if (trace.directives.empty()) trace = schedule::default_trace(subject.names.as_written());
  SCHAAS_RETURN_IF_ERROR(schedule::apply(trace, subject.names.as_written()));
  return subject.names.to_canonical(trace);
}

Result<const frontier::Survivor*> survivor_named(const frontier::Frontier& found, const std::string& id) {
  std::vector<std::string> ids;
  for (const auto& survivor : found.survivors) {
    if (survivor.id == id) return &survivor;
    ids.push_back(survivor.id);
  }
  const std::string range = ids.empty() ? "it is empty" : "it has " + ids.front() + " to " + ids.back();
  return support::invalid("unknown-schedule", "there is no schedule `" + id + "` on the frontier; " + range +
                                                  support::did_you_mean(id, ids));
}

NamedFrontier without_entries(const Subject& subject) {
  NamedFrontier out;
  out.key = subject.canonical.key;
  out.canonical = subject.canonical.text;
  out.statement = index_notation::print(subject.names.as_written().program());
  out.arguments = subject.names.arguments();
  out.user_tensors = subject.canonical.user_tensor;
  out.user_indices = subject.canonical.user_index;
  out.variables = subject.names.variables();
  return out;
}

Result<NamedFrontier> named(const frontier::Frontier& found, const Subject& subject) {
  NamedFrontier out = without_entries(subject);
  const std::size_t more =
      std::min(most_more_variants / std::max<std::size_t>(found.survivors.size(), 1), most_more_of_an_entry);
  for (const auto& survivor : found.survivors) {
    SCHAAS_ASSIGN_OR_RETURN(NamedEntry entry, named(survivor, subject.names, more));
    out.entries.push_back(std::move(entry));
  }
  out.removed = found.removals.size();
  for (std::size_t r = 0; r < std::min(found.removals.size(), RequestLimits::removals); ++r) {
    out.removals.push_back(named(found.removals[r], r, subject.names));
  }
  out.counts = found.counts;
  out.seconds = found.seconds;
  out.complete = found.complete;
  out.limited = found.limited;
  out.looser = found.looser;
  return out;
}

}  // namespace schaas::server
