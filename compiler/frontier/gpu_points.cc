#include "compiler/frontier/gpu_points.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "compiler/concrete_notation/thread_mapping.h"
#include "compiler/problem/upper_bounds.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/support/contains.h"

// Thread mappings for one schedule, from Sgap's grid (Zhang et al., section 3; docs/gpu.md, "What the search
// proposes"). A table of styles, likeliest first, is walked in passes with 1, 4 and 2 columns. Each phase
// takes a style that can win there, else whole rows. Applying the trace decides what is legal, so no rule is
// repeated here. Equal trees are proposed once.
namespace schaas::frontier {
namespace {

using concrete_notation::Assign;
using concrete_notation::Forall;
using concrete_notation::GroupReduction;
using concrete_notation::StatementPtr;
using concrete_notation::Where;

using Names = std::vector<std::string>;

/// Unit of sharing: whole rows, all entries below them, or the fibers one level above the entries.
enum class Rows { rows, entries, fibers };

/// A point but for its columns. Left out of the grid are:
///  - several threads for a row or entry, each writing by itself, but where elements are their own.
///    These belong to the row's entries, or to a row that they share around a branch;
///  - several rows for a thread. Rows have no load in common: the device only has fewer
///    threads;
///  - a row's threads in several groups (`1/g row`, r < g, atomic). One group of them all folds the other
///    groups by shuffles where these write atomically, once for each group;
///  - a row's threads in segments. A row begins where its threads do: there is nothing to find out;
///  - entries with elements of their own: several for a thread (as of rows), and atomic writes;
///  - single entries written one by one where they can be grouped. On rows of one entry whole rows do the
///    same with plain writes. On longer ones a segment writes once for many;
///  - widths between those listed. They lose at most half of their lanes to the next one.
struct Style {
  Rows rows = Rows::rows;
  int take = 1, share = 1, width = 1;
  GroupReduction reduce = GroupReduction::atomic;
  int stage = 0;
  bool merge_path = false;
};
constexpr Style styles[] = {
    {Rows::rows, 1, 1, 1, GroupReduction::atomic},
    {Rows::rows, 1, 8, 8, GroupReduction::parallel},
    {Rows::rows, 1, 8, 1, GroupReduction::atomic},
    {Rows::entries, 1, 1, 32, GroupReduction::segment},
    {Rows::rows, 1, 32, 32, GroupReduction::parallel},
    {Rows::rows, 1, 32, 1, GroupReduction::atomic},
    {Rows::entries, 32, 1, 1, GroupReduction::atomic},
    {Rows::rows, 1, 4, 4, GroupReduction::parallel},
    {Rows::rows, 1, 4, 1, GroupReduction::atomic},
    {Rows::entries, 8, 1, 32, GroupReduction::segment},
    {Rows::rows, 1, 16, 16, GroupReduction::parallel},
    {Rows::rows, 1, 16, 1, GroupReduction::atomic},
    {Rows::entries, 16, 4, 4, GroupReduction::parallel},
    {Rows::entries, 32, 8, 1, GroupReduction::atomic},
    {Rows::entries, 16, 8, 8, GroupReduction::parallel},
    {Rows::entries, 32, 16, 1, GroupReduction::atomic},
    {Rows::entries, 16, 16, 16, GroupReduction::parallel},
    {Rows::entries, 32, 32, 1, GroupReduction::atomic},
    {Rows::entries, 1, 1, 8, GroupReduction::segment},
    {Rows::rows, 1, 2, 2, GroupReduction::parallel},
    {Rows::entries, 8, 1, 8, GroupReduction::segment},
    {Rows::entries, 1, 1, 1, GroupReduction::atomic},
    {Rows::entries, 1, 8, 1, GroupReduction::atomic},
    {Rows::entries, 1, 32, 1, GroupReduction::atomic},
    {Rows::entries, 1, 8, 8, GroupReduction::parallel},
    {Rows::entries, 1, 32, 32, GroupReduction::parallel},
    {Rows::entries, 1, 4, 4, GroupReduction::parallel},
    {Rows::entries, 1, 16, 16, GroupReduction::parallel},
    {Rows::entries, 1, 8, 8, GroupReduction::atomic},
    {Rows::entries, 1, 32, 32, GroupReduction::atomic},
    {Rows::fibers, 1, 1, 32, GroupReduction::segment},
    {Rows::fibers, 1, 8, 8, GroupReduction::parallel},
    {Rows::fibers, 1, 8, 8, GroupReduction::atomic},
    {Rows::fibers, 1, 32, 32, GroupReduction::atomic},
    {Rows::rows, 1, 1, 1, GroupReduction::atomic, 32},
    {Rows::entries, 32, 1, 1, GroupReduction::atomic, 32},
    {Rows::entries, 32, 1, 1, GroupReduction::atomic, 0, true},
    {Rows::rows, 1, 32, 8, GroupReduction::parallel},
    {Rows::rows, 1, 32, 4, GroupReduction::parallel},
    {Rows::rows, 1, 32, 16, GroupReduction::parallel},
    {Rows::rows, 1, 8, 4, GroupReduction::parallel},
};
/// The last styles stage entries, merge them with rows, or share elements among groups. They follow all
/// others, so that ids of these stay.
constexpr std::size_t later = std::size(styles) - 7;
/// In this order, as long as there is room.
struct Pass {
  int columns;
  std::size_t first, last;  ///< styles
};
constexpr Pass passes[] = {{1, 0, 7},     {4, 0, 7},      {1, 7, later},  {4, 7, later},
                           {2, 0, later}, {1, later, 99}, {4, later, 99}, {2, later, 99}};

/// A nest that the threads of the device share.
struct Phase {
  schedule::Path path;
  Names loops;             ///< above the first branch or the assignment
  bool linear = false;     ///< they stand around one assignment
  std::string columns;     ///< an index of what is written that no sparse operand has; "": none
  Names by_rows;           ///< the loops inside the columns, as threads share rows
  Names by_entries;        ///< and as they share entries:
  std::size_t walked = 0;  ///< the first so many are those of sparse operands
};

Names without(const Names& names, const std::string& name) {
  Names out;
  std::copy_if(names.begin(), names.end(), std::back_inserter(out), [&](const auto& n) { return n != name; });
  return out;
}

bool is_sparse(const index_notation::Access& access, const problem::Problem& problem) {
  const auto format = problem.formats.find(access.tensor);
  return format != problem.formats.end() && !format->second.all_dense();
}

/// The mode of the target that lies along memory comes first: neighbouring threads then write, and mostly
/// read, neighbouring elements.
Names target_indices(const index_notation::Access& target, const problem::Problem& problem) {
  const auto format = problem.formats.find(target.tensor);
  Names out;
  for (std::size_t level = target.indices.size(); level-- > 0;) {
    const bool known = format != problem.formats.end();
    const auto mode = known ? static_cast<std::size_t>(format->second.mode_order[level]) : level;
    out.push_back(target.indices[mode]);
  }
  return out;
}

/// Chooses the columns of a linear phase, and orders of its other loops: for sharing rows, and for sharing
/// entries.
void arrange(const StatementPtr& body, const Assign& leaf, const problem::Problem& problem, Phase& phase) {
  Names sparse;
  for (const auto& access : concrete_notation::reads(body)) {
    if (is_sparse(access, problem)) sparse.insert(sparse.end(), access.indices.begin(), access.indices.end());
  }
  const Names written = target_indices(leaf.target, problem);
  for (const auto& index : written) {
    if (phase.columns.empty() && phase.loops.size() > 1 && !support::contains(sparse, index) &&
        support::contains(phase.loops, index))
      phase.columns = index;
  }
  Names walked, kept, summed;
  for (const auto& index : without(phase.loops, phase.columns))
    (support::contains(sparse, index)    ? walked
     : support::contains(written, index) ? kept
                                         : summed)
        .push_back(index);
  phase.walked = walked.size();
  phase.by_entries = walked;
  phase.by_rows.assign(walked.begin(), walked.begin() + (walked.empty() ? 0 : 1));
  for (Names* to : {&phase.by_entries, &phase.by_rows}) to->insert(to->end(), kept.begin(), kept.end());
  if (walked.size() > 1) phase.by_rows.insert(phase.by_rows.end(), walked.begin() + 1, walked.end());
  for (Names* to : {&phase.by_entries, &phase.by_rows}) to->insert(to->end(), summed.begin(), summed.end());
}

/// False: something of the tree does not run on a GPU.
bool phases_of(const StatementPtr& statement, const schedule::Path& path, const problem::Problem& problem,
               std::vector<Phase>& out) {
  if (const auto* branch = std::get_if<Where>(&statement->node)) {
    schedule::Path producer = path, consumer = path;
    producer.push_back(0);
    consumer.push_back(1);
    return phases_of(branch->producer, producer, problem, out) &&
           phases_of(branch->consumer, consumer, problem, out);
  }
  if (std::holds_alternative<Assign>(statement->node)) return true;
  Phase phase;
  phase.path = path;
  StatementPtr at = statement;
  while (const auto* loop = std::get_if<Forall>(&at->node)) {
    phase.loops.push_back(loop->index);
    const StatementPtr body = loop->body;
    at = body;
  }
  if (phase.loops.empty()) return false;  // blocks, terms
  const auto* leaf = std::get_if<Assign>(&at->node);
  phase.linear = leaf != nullptr;
  if (phase.linear) {
    arrange(statement, *leaf, problem, phase);
  } else {
    phase.by_rows = phase.by_entries = phase.loops;
    phase.walked = phase.loops.size();
  }
  out.push_back(std::move(phase));
  return true;
}

/// Returns the phase at the end of a path of branches.
StatementPtr phase_at(StatementPtr tree, const schedule::Path& path) {
  for (const int side : path) {
    const auto& branch = std::get<Where>(tree->node);
    const StatementPtr next = side == 0 ? branch.producer : branch.consumer;
    tree = next;
  }
  return tree;
}

class Points {
 public:
  Points(const schedule::Trace& trace, const problem::Problem& problem, std::size_t most)
      : start_(trace.directives.empty() ? schedule::default_trace(problem) : trace),
        problem_(problem),
        most_(most) {
    for (const auto& [symbol, max_values] : problem::upper_bounds(problem)) {
      if (symbol.kind == problem::Symbol::Kind::extent) bounds_[symbol.name] = max_values;
    }
  }

  std::vector<GpuPoint> all() {
    const bool copies =
        std::any_of(start_.directives.begin(), start_.directives.end(),
                    [](const auto& directive) { return std::holds_alternative<schedule::Store>(directive); });
    const auto tree = schedule::apply(start_, problem_);
    if (copies || !tree.ok() || !phases_of(*tree, {}, problem_, phases_)) return {};
    const bool columns =
        std::any_of(phases_.begin(), phases_.end(), [](const Phase& p) { return !p.columns.empty(); });
    for (const Pass& pass : passes) {
      if (pass.columns > 1 && !columns) continue;
      for (std::size_t s = pass.first; s < std::min(pass.last, std::size(styles)); ++s) {
        if (points_.size() == most_) return std::move(points_);
        add(styles[s], pass.columns);
      }
    }
    return std::move(points_);
  }

 private:
  std::int64_t bound(const std::string& index) const {
    const auto found = bounds_.find(index);
    return found == bounds_.end() ? std::numeric_limits<std::int64_t>::max() : found->second;
  }

  static std::size_t depth(const Phase& phase, Rows rows) {
    return rows == Rows::rows ? 0 : rows == Rows::entries ? phase.walked : phase.walked - 1;
  }

  /// False: half of the threads, or of the columns, do just as well; or the loops have no such rows.
  bool can_win(const Phase& phase, const Style& style, int columns) const {
    if (columns > 1 && (phase.columns.empty() || columns / 2 >= bound(phase.columns))) return false;
    // Only groups whose threads have all of their columns stage.
    if (style.stage > 0 && (phase.columns.empty() || bound(phase.columns) / columns < style.stage))
      return false;
    const Names& loops = style.rows == Rows::rows ? phase.by_rows : phase.by_entries;
    const std::size_t deep = depth(phase, style.rows);
    if (style.rows == Rows::fibers && (phase.walked < 3 || !phase.linear)) return false;
    if (style.rows == Rows::entries && deep < 2) return false;
    if (style.share > 1 && phase.linear) {
      const std::size_t inside = std::max<std::size_t>(deep, 1);
      if (inside >= loops.size() || style.share / 2 >= bound(loops[inside])) return false;
    }
    // Groups of a row share the sums of its elements.
    if (style.rows == Rows::rows && phase.linear && style.width > 1 && style.width < style.share &&
        (loops.size() < 3 || style.width / 2 >= bound(loops[2])))
      return false;
    return true;
  }

  /// Appends the directives of a style to the trace: order, columns, positions, threads, group.
  static void add_units(const Phase& phase, const Style& style, int columns, schedule::Trace& trace) {
    const Names& loops = style.rows == Rows::rows ? phase.by_rows : phase.by_entries;
    if (loops.empty()) return;
    Names order = loops;
    if (!phase.columns.empty()) order.insert(order.begin(), phase.columns);
    if (phase.linear && order != phase.loops)
      trace.directives.emplace_back(schedule::Reorder{phase.path, order});
    if (!phase.columns.empty())
      trace.directives.emplace_back(schedule::Threads{phase.path, phase.columns, columns, 1});
    if (const std::size_t deep = depth(phase, style.rows); deep > 0) {
      if (phase.columns.empty())
        trace.directives.emplace_back(schedule::Threads{phase.path, loops.front(), 1, 1});
      trace.directives.emplace_back(schedule::Pos{phase.path, loops[deep - 1], loops.front()});
    }
    trace.directives.emplace_back(schedule::Threads{phase.path, loops.front(), style.take, style.share});
    if (style.width > 1)
      trace.directives.emplace_back(schedule::Group{phase.path, loops.front(), style.width, style.reduce});
    if (style.stage > 0)
      trace.directives.emplace_back(schedule::Stage{phase.path, loops.front(), style.stage});
    if (style.merge_path) trace.directives.emplace_back(schedule::MergePath{phase.path, loops.front()});
  }

  /// With plain writes nothing is gained from entries taken together, nor from atomic ones; without,
  /// single entries are grouped.
  static bool is_worth_it(const Phase& phase, const Style& style, const StatementPtr& tree) {
    const StatementPtr at = phase_at(tree, phase.path);
    const auto* outermost = std::get_if<Forall>(&at->node);
    if (outermost == nullptr) return true;
    if (style.rows == Rows::rows)
      return style.share == 1 || style.width > 1 || concrete_notation::writes_exclusively(*outermost);
    if (concrete_notation::writes_exclusively(*outermost))
      return (style.take == 1 || style.share > 1) &&
             (style.width == 1 || style.reduce == GroupReduction::parallel);
    // Threads that share an entry's sum fold it.
    return !phase.linear || (style.share == 1 ? style.take * style.width > 1 : style.width > 1);
  }

  /// The point in each phase that can have it, whole rows in the others.
  void add(const Style& style, int columns) {
    schedule::Trace trace = start_;
    StatementPtr tree;
    bool somewhere = false;
    for (const Phase& phase : phases_) {
      bool done = false;
      for (const bool fallback : {false, true}) {
        if (done || (!fallback && !can_win(phase, style, columns))) continue;
        schedule::Trace longer = trace;
        add_units(phase, fallback ? Style{} : style, fallback ? 1 : columns, longer);
        const auto made = schedule::apply(longer, problem_);
        if (!made.ok()) continue;
        if (!fallback && !is_worth_it(phase, style, *made)) continue;
        trace = std::move(longer);
        tree = *made;
        done = true;
        somewhere = somewhere || !fallback;
      }
      if (!done) return;
    }
    if (!somewhere || !tree || !concrete_notation::has_thread_mapping(tree)) return;
    const auto same = [&](const GpuPoint& other) { return concrete_notation::equal(other.tree, tree); };
    if (std::any_of(points_.begin(), points_.end(), same)) return;
    points_.push_back(
        {std::move(trace), tree, text(style, columns), concrete_notation::is_nondeterministic(tree)});
  }

  /// Prints a point as the paper does.
  std::string text(const Style& style, int columns) const {
    const bool some =
        std::any_of(phases_.begin(), phases_.end(), [](const Phase& p) { return !p.columns.empty(); });
    const char* const unit = style.rows == Rows::rows      ? " row"
                             : style.rows == Rows::entries ? " nnz"
                                                           : " fiber";
    std::string out =
        "{<" + std::to_string(style.take) + (style.share > 1 ? "/" + std::to_string(style.share) : "") + unit;
    if (some) out += ", " + std::to_string(columns) + " col";
    out += ">, " + std::to_string(style.width);
    if (style.width > 1) out += std::string(" ") + concrete_notation::name(style.reduce);
    if (style.stage > 0) out += ", stage " + std::to_string(style.stage);
    return out + (style.merge_path ? ", merge path}" : "}");
  }

  const schedule::Trace start_;
  const problem::Problem& problem_;
  const std::size_t most_;
  std::map<std::string, std::int64_t> bounds_;
  std::vector<Phase> phases_;
  std::vector<GpuPoint> points_;
};

}  // namespace

std::vector<GpuPoint> gpu_points(const schedule::Trace& trace, const problem::Problem& problem,
                                 std::size_t most) {
  return Points(trace, problem, most).all();
}

}  // namespace schaas::frontier
