#include "compiler/space/listed/appending.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "compiler/schedule/nests.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/schedule/replay/ordered_appends.h"
#include "compiler/space/listed/appending_cost.h"
#include "compiler/space/listed/member_tree.h"
#include "compiler/space/listed/result_entries.h"
#include "compiler/space/loop_trees.h"
#include "compiler/space/space.h"

// Schedules of a contraction with a sparse result: the members of the dense result's space, listed one by
// one. A member whose loops do not append in order is completed with a workspace. The workspace stands below
// loops of a certain order, and states know sets alone, so the recursion cannot count these schedules. Costs
// are read off the members, which takes two microseconds where a tree takes 150 (appending_cost.h). Trees are
// made for blocks and for results with an index twice. Schedules are classed by cost and by the entries they
// append, and those with the fewest entries stay.
namespace schaas::space {

using concrete_notation::Storage;

namespace {

/// Trees are made one by one, some 150 microseconds each.
constexpr std::size_t max_trees = 4'000;

bool repeats_an_index(const index_notation::Access& access) {
  const std::set<std::string> distinct(access.indices.begin(), access.indices.end());
  return distinct.size() != access.indices.size();
}

/// Every member of a recursion, one after the other. Parts of members are made once.
class Members {
 public:
  struct Listed {
    MemberPtr member;
    TreeId tree = 0;
  };

  Members(Recursion& recursion, Watch& watch) : recursion_(recursion), watch_(watch) {}

  /// visit(Listed) for all members of a state; stops when the watch does.
  template <class Visit>
  void each(StateId id, const Visit& visit) {
    const Expansion expansion = recursion_.expand(id);
    if (expansion.linear) {
      for (const Order& order : orders(id, recursion_.state(id).loops))
        visit({made({Member::Kind::linear, id, order, 0, nullptr, nullptr}), trees_.leaf(order)});
    }
    for (std::size_t n = 0; n < expansion.transitions.size(); ++n) {
      const Transition& t = expansion.transitions[n];
      pairs(t.producer, t.consumer, id, t.prefix, [&](const Order& order, const Listed& a, const Listed& b) {
        visit({made({Member::Kind::fused, id, order, n, a.member, b.member}),
               trees_.branch(order, a.tree, b.tree, kind_of(t))});
      });
    }
    for (std::size_t n = 0; n < expansion.joins.size(); ++n) {
      const Join& join = expansion.joins[n];
      pairs(join.left, join.right, id, join.loops, [&](const Order& order, const Listed& a, const Listed& b) {
        visit({made({Member::Kind::joined, id, order, n, a.member, b.member}), trees_.leaf(order)});
      });
    }
  }

 private:
  static MemberPtr made(Member member) { return std::make_shared<const Member>(std::move(member)); }

  std::vector<Order> orders(StateId id, IndexSet loops) {
    std::vector<Order> all;
    recursion_.orders(id).each(loops, [&](const Order& order) {
      all.push_back(order);
      return !watch_.stopped();
    });
    return all;
  }

  /// Calls visit(order, a, b) for each order of the loops with each pair of members of two states.
  template <class Visit>
  void pairs(StateId first, StateId second, StateId id, IndexSet loops, const Visit& visit) {
    for (const Order& order : orders(id, loops)) {
      for (const Listed& a : of(first)) {
        for (const Listed& b : of(second)) {
          if (watch_.stopped()) return;
          visit(order, a, b);
        }
      }
    }
  }

  const std::vector<Listed>& of(StateId id) {
    const auto [entry, first] = known_.try_emplace(id);
    if (first) {
      std::vector<Listed> all;
      each(id, [&](Listed one) { all.push_back(std::move(one)); });
      known_[id] = std::move(all);
    }
    return known_[id];
  }

  Recursion& recursion_;
  Watch& watch_;
  TreeTable trees_;
  std::unordered_map<StateId, std::vector<Listed>> known_;
};

/// One schedule: a member of the root with this number, perhaps with a hash table for the workspace.
struct Schedule {
  Members::Listed listed;
  std::size_t root = 0;
  bool table = false;
};

/// Schedules of one cost that append the same entries.
struct Class {
  ResultEntries entries;
  std::uint64_t schedules = 0;
  std::set<TreeId> trees;
  std::vector<Schedule> traced;  ///< those whose traces are told, of other trees
};

/// Schedules by cost and entries. Entries are found for the first `max_looked_at` schedules; later ones are
/// taken to append what the first of their cost does.
class AppendingClasses {
 public:
  /// `traces`: schedules of each class whose traces are told.
  AppendingClasses(Recursion& recursion, const problem::Problem& problem, std::size_t traces)
      : recursion_(recursion),
        problem_(problem),
        trees_(recursion, with_dense_result(problem)),
        traces_(traces) {}

  void add(const cost::Cost& cost, const Schedule& one) {
    std::vector<Class>& same = by_cost_[cost];
    std::size_t number = 0;
    if (looked_at_ < max_looked_at || same.empty()) {
      // A hash table appends what an array does.
      if (last_ != one.listed.member) {
        ++looked_at_;
        last_ = one.listed.member;
        last_entries_ = entries_of(one);
      }
      number = with(last_entries_, same);
    }
    Class& found = same[number];
    ++found.schedules;
    if (found.trees.insert(one.listed.tree).second && found.traced.size() < traces_)
      found.traced.push_back(one);
  }

  /// Those that give the result the fewest entries; `trace(Schedule)` makes their traces.
  template <class Trace>
  ListedMembers with_fewest_entries(const Trace& trace) {
    std::vector<ResultEntries> all;
    for (const auto& [cost, same] : by_cost_)
      for (const Class& one : same) all.push_back(one.entries);
    const std::vector<bool> fewest = space::with_fewest_entries(all);
    ListedMembers found;
    std::size_t n = 0;
    for (auto& [cost, same] : by_cost_) {
      for (Class& one : same) {
        if (!fewest[n++]) continue;
        found.schedules += static_cast<unsigned long>(one.schedules);
        for (const Schedule& traced : one.traced) found.members.push_back({trace(traced), cost, 1, 1});
        // The last trace stands for all schedules that have none.
        const auto left = static_cast<unsigned long>(one.traced.size() - 1);
        found.members.back().schedules = static_cast<unsigned long>(one.schedules) - left;
        found.members.back().loop_trees = one.trees.size() - left;
      }
    }
    return found;
  }

 private:
  static constexpr std::size_t max_looked_at = 2'000;  ///< 50 microseconds each

  /// Returns the number of the class with these entries.
  static std::size_t with(ResultEntries entries, std::vector<Class>& classes) {
    for (std::size_t n = 0; n < classes.size(); ++n)
      if (classes[n].entries == entries) return n;
    classes.push_back({std::move(entries), 0, {}, {}});
    return classes.size() - 1;
  }

  ResultEntries entries_of(const Schedule& one) {
    const auto tree = trees_.of(*one.listed.member, recursion_.operand_orders()[one.root],
                                recursion_.roots()[one.root].mirrored);
    const auto nests = schedule::nests_of(schedule::with_ordered_appends(tree, problem_));
    return nests.ok() ? result_entries(*nests, problem_) : ResultEntries{{{}}, true};
  }

  Recursion& recursion_;
  const problem::Problem& problem_;
  MemberTrees trees_;
  std::size_t traces_;
  std::map<cost::Cost, std::vector<Class>> by_cost_;
  std::size_t looked_at_ = 0;
  MemberPtr last_;  ///< member whose entries are `last_entries_`
  ResultEntries last_entries_;
};

std::vector<std::string> default_loops(const problem::Problem& problem) {
  std::vector<std::string> loops;
  for (auto tree = schedule::default_nest(problem);;) {
    const auto* loop = std::get_if<concrete_notation::Forall>(&tree->node);
    if (loop == nullptr) return loops;
    loops.push_back(loop->index);
    tree = loop->body;
  }
}

/// Makes traces of the dense result's members begin from the default nest of the sparse result, whose storage
/// orders loops, too.
class FromDefaultNest {
 public:
  explicit FromDefaultNest(const problem::Problem& problem)
      : loops_(default_loops(with_dense_result(problem))) {
    same_ = loops_ == default_loops(problem);
  }

  /// Inserts a reorder where the trace relies on the default nest.
  void adapt(schedule::Trace& trace) const {
    auto at = trace.directives.begin();
    if (at != trace.directives.end() && std::holds_alternative<schedule::Permute>(*at)) ++at;
    const auto* next = at == trace.directives.end() ? nullptr : std::get_if<schedule::Reorder>(&*at);
    if (same_ || (next != nullptr && next->path.empty())) return;
    trace.directives.insert(at, schedule::Reorder{{}, loops_});
  }

 private:
  std::vector<std::string> loops_;
  bool same_ = false;
};

/// Lists all members with costs read off them, once more where a hash table may hold the workspace.
support::Result<ListedMembers> listed_by_cost(const problem::Problem& problem, std::size_t traces,
                                              const support::Cancellation& cancellation) {
  Recursion recursion(with_dense_result(problem), {});
  Watch watch(recursion, cancellation, "listing the schedule space");
  AppendingCosts costs(recursion, problem);
  Members members(recursion, watch);
  AppendingClasses classes(recursion, problem, std::max<std::size_t>(traces, 1));
  std::size_t steps = 0;
  for (std::size_t n = 0; n < recursion.roots().size(); ++n) {
    members.each(recursion.roots()[n].state, [&](const Members::Listed& one) {
      ++steps;
      classes.add(costs.of(*one.member), {one, n, false});
      if (const auto cost = costs.with_table()) {
        ++steps;
        classes.add(*cost, {one, n, true});
      }
    });
  }
  if (watch.stopped()) return watch.error();
  const FromDefaultNest from_default(problem);
  ListedMembers found = classes.with_fewest_entries([&](const Schedule& one) {
    schedule::Trace trace = trace_of(recursion, *one.listed.member, recursion.operand_orders()[one.root],
                                     recursion.roots()[one.root].mirrored);
    from_default.adapt(trace);
    if (one.table) trace.directives.emplace_back(schedule::WorkspaceStorage{Storage::hash});
    return trace;
  });
  found.steps = steps;
  return found;
}

/// Lists all members with costs of their trees.
support::Result<ListedMembers> listed_by_tree(Space& space, const problem::Problem& problem,
                                              const support::Cancellation& cancellation) {
  std::vector<schedule::Trace> traces;
  const FromDefaultNest from_default(problem);
  SCHAAS_RETURN_IF_ERROR(space.for_each(
      [&](const schedule::Trace& trace) {
        from_default.adapt(traces.emplace_back(trace));
        return true;
      },
      cancellation));
  return listed(traces, problem, {});
}

}  // namespace

bool appends(const problem::Problem& problem) {
  return problem::is_contraction(problem) && !problem.formats.at(problem.statement.result.tensor).all_dense();
}

problem::Problem with_dense_result(const problem::Problem& problem) {
  problem::Problem dense = problem;
  auto& levels = dense.formats.at(problem.statement.result.tensor).levels;
  std::fill(levels.begin(), levels.end(), format::LevelFormat::dense);
  return dense;
}

ListedMembers listed(const std::vector<schedule::Trace>& traces, const problem::Problem& problem,
                     const support::Cancellation& budget) {
  ListedMembers found;
  std::vector<ResultEntries> entries;
  const cost::TreeCosts costs(problem);
  const auto take = [&](const schedule::Trace& trace) {
    ++found.steps;
    const auto tree = schedule::apply(trace, problem);
    if (!tree.ok()) return;
    found.members.push_back({trace, costs.of(*tree), 1, 1});
    const auto nests = schedule::nests_of(*tree);
    entries.push_back(nests.ok() ? result_entries(*nests, problem) : ResultEntries{{{}}, true});
  };
  for (const schedule::Trace& trace : traces) {
    if (!found.members.empty() && !budget.check("listing schedules").ok()) break;
    take(trace);
    schedule::Trace table = trace;
    table.directives.emplace_back(schedule::WorkspaceStorage{Storage::hash});
    take(table);
  }
  const std::vector<bool> fewest = with_fewest_entries(entries);
  std::size_t n = 0;
  std::erase_if(found.members, [&](const auto&) { return !fewest[n++]; });
  found.schedules = found.members.size();
  return found;
}

support::Result<std::optional<ListedMembers>> appending_members(const problem::Problem& problem,
                                                                std::size_t most, std::size_t traces,
                                                                const support::Cancellation& cancellation) {
  const std::optional<ListedMembers> too_many;
  Space space(with_dense_result(problem), {});
  SCHAAS_ASSIGN_OR_RETURN(const mpz_class members, space.count(cancellation));
  const bool by_tree =
      problem.space.has(problem::SpaceOption::row_blocks) || repeats_an_index(problem.statement.result);
  if (members > (by_tree ? std::min(most, max_trees) : most)) return too_many;
  if (by_tree) {
    SCHAAS_ASSIGN_OR_RETURN(ListedMembers found, listed_by_tree(space, problem, cancellation));
    return std::optional(std::move(found));
  }
  SCHAAS_ASSIGN_OR_RETURN(ListedMembers found, listed_by_cost(problem, traces, cancellation));
  return std::optional(std::move(found));
}

}  // namespace schaas::space
