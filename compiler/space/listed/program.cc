#include "compiler/space/listed/program.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "compiler/concrete_notation/checks/annotation_checks.h"
#include "compiler/concrete_notation/determined_loops.h"
#include "compiler/concrete_notation/loop_order.h"
#include "compiler/problem/linear_form.h"
#include "compiler/schedule/directives/distribute.h"
#include "compiler/schedule/nests.h"
#include "compiler/schedule/replay/ordered_appends.h"
#include "compiler/schedule/workspace_storage.h"
#include "compiler/space/listed/result_entries.h"
#include "compiler/support/contains.h"

// Schedules of programs (docs/schedule_space.md, "Programs"; ReACT, section 4.3). A schedule is a sequence of
// nests, the loops that neighbours share, which form a trie, and orders of the loops below. Orders of
// different nests do not depend on each other. So each nest keeps its best orders only, one for each set of
// merges and one that runs on all threads; the others are counted. Tries that share most come first, since a
// limit may end the listing. Sums whose loops are distributed over their terms are added to every schedule
// that has any.
namespace schaas::space {
namespace {

using concrete_notation::LoopOrder;
using schedule::Nest;
using schedule::Nests;
using support::Result;
using Names = std::vector<std::string>;

bool begins_with(const Names& names, const Names& start) {
  return names.size() >= start.size() && std::equal(start.begin(), start.end(), names.begin());
}

/// Returns the loop orders that the storage of a nest's tensors demands.
std::vector<LoopOrder> loop_orders_of(const Nest& nest, const problem::Problem& problem) {
  std::vector<LoopOrder> orders;
  for (const auto& read : concrete_notation::reads(nest.assignment)) {
    const auto more = concrete_notation::loop_order(read, problem);
    orders.insert(orders.end(), more.begin(), more.end());
  }
  if (nest.leaf().target.tensor == problem.statement.result.tensor) {
    const auto more = concrete_notation::result_level_order(problem);  // sums above get a workspace
    orders.insert(orders.end(), more.begin(), more.end());
  }
  std::erase_if(orders, [&](const LoopOrder& order) {
    return order.before == order.after || !support::contains(nest.loops, order.before) ||
           !support::contains(nest.loops, order.after);
  });
  return orders;
}

/// Calls `visit` with `placed` followed by every legal order of `rest`; stops when it returns false.
/// `determined` tells loops with one value inside the placed ones. Such a loop stands as far outside as the
/// orders let it: anywhere else it costs the same.
template <class Determined, class Visit>
bool each_order(Names& placed, Names& rest, const std::vector<LoopOrder>& orders,
                const Determined& determined, const Visit& visit) {
  if (rest.empty()) return visit();
  const auto must_wait = [&](const std::string& index) {
    return std::any_of(orders.begin(), orders.end(), [&](const LoopOrder& order) {
      return order.after == index && !support::contains(placed, order.before);
    });
  };
  const auto only = std::find_if(rest.begin(), rest.end(), [&](const std::string& index) {
    return !must_wait(index) && determined(index, placed);
  });
  const bool any = only == rest.end();
  const auto first = any ? std::size_t{0} : static_cast<std::size_t>(only - rest.begin());
  const std::size_t past = any ? rest.size() : first + 1;
  for (std::size_t n = first; n < past; ++n) {
    const std::string index = rest[n];
    if (must_wait(index)) continue;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(n));
    placed.push_back(index);
    const bool go_on = each_order(placed, rest, orders, determined, visit);
    placed.pop_back();
    rest.insert(rest.begin() + static_cast<std::ptrdiff_t>(n), index);
    if (!go_on) return false;
  }
  return true;
}

/// Orders of the nests that compute everything before it is read, the result last; the given order first.
class Sequences {
 public:
  explicit Sequences(const Nests& nests) : needs_(nests.size()) {
    for (std::size_t n = 0; n < nests.size(); ++n) {
      for (const auto& read : concrete_notation::reads(nests[n].assignment)) {
        for (std::size_t m = 0; m < nests.size(); ++m) {
          if (nests[m].leaf().target.tensor == read.tensor) needs_[n].push_back(m);
        }
      }
    }
  }

  template <class Visit>
  bool each(std::vector<int>& order, const Visit& visit) const {
    if (order.size() == needs_.size()) return visit(order);
    for (std::size_t n = 0; n < needs_.size(); ++n) {
      if (n + 1 == needs_.size() && order.size() + 1 < needs_.size()) continue;
      const auto placed = [&](std::size_t m) {
        return std::find(order.begin(), order.end(), static_cast<int>(m)) != order.end();
      };
      if (placed(n) || !std::all_of(needs_[n].begin(), needs_[n].end(), placed)) continue;
      order.push_back(static_cast<int>(n));
      const bool go_on = each(order, visit);
      order.pop_back();
      if (!go_on) return false;
    }
    return true;
  }

 private:
  std::vector<std::vector<std::size_t>> needs_;
};

class Search {
 public:
  /// `folded`: the default nest is the tree that its nests make in order, so paths lead to them as they are.
  Search(Nests nests, bool folded, const problem::Problem& problem, const ProgramOptions& options,
         const support::Cancellation& cancellation)
      : default_(std::move(nests)),
        folded_(folded),
        problem_(problem),
        costs_(problem),
        options_(options),
        cancellation_(cancellation) {}

  Result<ListedMembers> run() {
    std::vector<int> order;
    Sequences(default_).each(order, [&](const std::vector<int>& sequence) {
      sequence_ = sequence;
      nests_.clear();
      orders_.clear();
      for (const int number : sequence) {
        nests_.push_back(default_[static_cast<std::size_t>(number)]);
        nests_.back().shared = 0;
        orders_.push_back(loop_orders_of(nests_.back(), problem_));
      }
      shared_.assign(nests_.size(), {});
      if (options_.apart_first && !take()) return false;
      return choose(0);
    });
    SCHAAS_RETURN_IF_ERROR(cancellation_.check("listing the schedules of a program"));
    keep_fewest_entries();
    return std::move(found_);
  }

 private:
  /// Chooses what nest `at` and the next one share; false when there is enough.
  bool choose(std::size_t at) {
    if (at + 1 == nests_.size()) {
      const bool is_apart =
          std::all_of(shared_.begin(), shared_.end(), [](const Names& n) { return n.empty(); });
      return (options_.apart_first && is_apart) || take();
    }
    Names rest = schedule::sharable(nests_, at);
    return choose_more(at, rest);
  }

  /// Longer lists first: what shares most is found before the limit is reached.
  bool choose_more(std::size_t at, Names& rest) {
    for (std::size_t n = 0; n < rest.size(); ++n) {
      const std::string index = rest[n];
      if (waits(orders_[at], shared_[at], index) || waits(orders_[at + 1], shared_[at], index) ||
          !agrees(at, index))
        continue;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(n));
      shared_[at].push_back(index);
      const bool go_on = choose_more(at, rest);
      shared_[at].pop_back();
      rest.insert(rest.begin() + static_cast<std::ptrdiff_t>(n), index);
      if (!go_on) return false;
    }
    return !reaches_its_readers(at) || choose(at + 1);
  }

  /// Checks that of the loops shared with the nest before and with the next one, one list begins with the
  /// other.
  bool agrees(std::size_t at, const std::string& index) const {
    if (at == 0) return true;
    const std::size_t position = shared_[at].size();
    return position >= shared_[at - 1].size() || shared_[at - 1][position] == index;
  }

  /// Temporaries of earlier nests that are read after the next one live inside no more loops than are shared.
  bool reaches_its_readers(std::size_t at) const {
    for (std::size_t n = 0; n < at; ++n) {
      if (schedule::last_reader(nests_, n) > at && shared_[n].size() > shared_[at].size()) return false;
    }
    return true;
  }

  /// The loops that a nest shares with either neighbour.
  const Names& prefix(std::size_t nest) const {
    if (nest > 0 && shared_[nest - 1].size() > shared_[nest].size()) return shared_[nest - 1];
    return shared_[nest];
  }

  /// Leaves out schedules that give a sparse result more entries than others do.
  void keep_fewest_entries() {
    if (entries_.empty()) return;
    std::vector<ResultEntries> all;
    for (const auto& [entries, schedules] : entries_) all.push_back(entries);
    const std::vector<bool> fewest = with_fewest_entries(all);
    std::size_t kept = 0;
    for (std::size_t n = 0; n < found_.members.size(); ++n) {
      if (fewest[made_with_[n]] && kept++ != n) found_.members[kept - 1] = std::move(found_.members[n]);
    }
    found_.members.erase(found_.members.begin() + static_cast<std::ptrdiff_t>(kept), found_.members.end());
    for (std::size_t n = 0; n < entries_.size(); ++n)
      if (!fewest[n]) found_.schedules -= entries_[n].schedules;
  }

  /// The trie that was chosen, with every choice of loop orders.
  bool take() {
    if (!cancellation_.check("listing the schedules of a program").ok()) return false;
    if (!take_a_step()) return false;
    Nests chosen = nests_;
    for (std::size_t n = 0; n + 1 < chosen.size(); ++n) {
      if (!shared_[n].empty()) schedule::share(chosen, n, shared_[n]);
    }
    // Sharing with the next nest moved what was shared with the one before no further than it agrees.
    if (!schedule::tree_of(chosen).ok()) {
      --found_.steps;
      return true;
    }
    mpz_class orders = 1;
    for (std::size_t n = 0; n < chosen.size(); ++n) orders *= best_orders(n, chosen).count;
    if (orders == 0) return true;
    if (!problem_.formats.at(problem_.statement.result.tensor).all_dense())
      entries_.push_back({result_entries(chosen, problem_), 0});
    count(orders);
    first_of_trie_ = true;
    list(0, chosen, orders);
    return true;
  }

  /// Counts a trie; false, with a sentence that says so, when there were enough.
  bool take_a_step() {
    const bool is_over = options_.budget != nullptr && !found_.members.empty() &&
                         !options_.budget->check("listing schedules").ok();
    if (!is_over && found_.steps < options_.max_tries) {
      ++found_.steps;
      return true;
    }
    found_.limited =
        is_over
            ? "the time for the search ended while schedules were listed: those were searched that share most"
            : "the statements can share their loops in more than " + std::to_string(found_.steps) +
                  " ways: those were searched that share most";
    return false;
  }

  /// The orders of one nest's loops below the shared ones.
  struct Below {
    std::vector<Names> best;  ///< all loops: for each set of trips an order that no other of these beats,
                              ///< and one whose phase runs on all threads
    mpz_class count;          ///< number of all legal orders
  };

  /// Returns the best orders. They depend on the shared loops alone, which decide where the innermost branch
  /// is.
  const Below& best_orders(std::size_t nest, const Nests& chosen) {
    const auto [known, first] = known_.try_emplace({sequence_[nest], prefix(nest)});
    if (!first) return known->second;
    Below& below = known->second;
    Names placed = prefix(nest), rest;
    for (const std::string& index : nests_[nest].loops) {
      if (!support::contains(placed, index)) rest.push_back(index);
    }
    const bool has_equation = problem::has_equation(nests_[nest].leaf().value, *problem_.semiring);
    std::map<std::vector<cost::Term>, Fastest> by_trips;
    Nests tried = chosen;
    const auto determined = [&](const std::string& index, const Names& around) {
      return has_equation && is_determined(nests_[nest], index, around);
    };
    each_order(placed, rest, orders_[nest], determined, [&] {
      ++below.count;
      // Beyond the limit orders are counted, and no trees are made.
      if (below.count > max_orders) return true;
      tried[nest].loops = placed;
      const cost::Cost cost = cost_of(schedule::tree_of(tried).value());
      const bool in_rows = has_equation && moves_target(nests_[nest], placed);
      by_trips[trips_of(cost)].add(placed, cost, in_rows);
      return true;
    });
    for (const auto& [trips, fastest] : by_trips) {
      below.best.push_back(fastest.fast);
      if (std::get<0>(fastest.shared_out) < std::get<1>(fastest.lightest))
        below.best.push_back(fastest.parallel);
    }
    return below;
  }

  bool is_determined(const Nest& nest, const std::string& index, const Names& around) const {
    return concrete_notation::determined_loop(nest.leaf(), index, around, problem_).has_value();
  }

  /// The innermost loop of several values moves along rows of what the nest writes.
  bool moves_target(const Nest& nest, Names loops) const {
    while (loops.size() > 1) {
      const std::string innermost = loops.back();
      loops.pop_back();
      if (is_determined(nest, innermost, loops)) continue;
      const Names& written = nest.leaf().target.indices;
      return !written.empty() && written.back() == innermost;
    }
    return false;
  }

  /// The best of orders whose trees differ in weights and in what is serial only.
  struct Fastest {
    std::tuple<double, double, bool> lightest;    ///< weight, serial weight, not in rows
    std::tuple<double, double, bool> shared_out;  ///< serial weight, weight, not in rows
    Names fast, parallel;

    /// `in_rows` decides between equals: windows are short, and rows of the result are long.
    void add(const Names& loops, const cost::Cost& cost, bool in_rows) {
      const cost::Point ones(cost::access_shift, 1.0);
      const double weight = cost::evaluate_time(cost, ones), serial = cost::evaluate_serial(cost, ones);
      const std::tuple by_weight(weight, serial, !in_rows), by_serial(serial, weight, !in_rows);
      if (fast.empty() || by_weight < lightest) fast = loops, lightest = by_weight;
      if (parallel.empty() || by_serial < shared_out) parallel = loops, shared_out = by_serial;
    }
  };

  /// Returns the trips of a cost. Those of merges depend on which loops stand outside, and so do loops that
  /// an equation determines. Innermost sums may count what is not stored.
  static std::vector<cost::Term> trips_of(const cost::Cost& cost) {
    std::vector<cost::Term> trips;
    for (const cost::Term term : cost.time) trips.push_back(term & cost::variables_mask);
    std::sort(trips.begin(), trips.end());
    return trips;
  }

  cost::Cost cost_of(const concrete_notation::StatementPtr& tree) const {
    return costs_.of(schedule::with_ordered_appends(tree, problem_));
  }

  /// Lists every combination of the nests' best orders.
  void list(std::size_t nest, Nests& chosen, const mpz_class& orders) {
    if (nest == chosen.size()) {
      schedule::Trace trace = trace_of(chosen);
      const auto tree = schedule::tree_of(chosen).value();
      const std::size_t first = found_.members.size();
      take_member(trace, tree, orders, std::exchange(first_of_trie_, false));
      for (std::size_t n = first; n < found_.members.size(); ++n) found_.members[n].apart = apart(chosen);
      if (options_.distributed) distribute(0, schedule::paths_of(chosen), trace, tree, orders);
      return;
    }
    const Names before = chosen[nest].loops;
    for (const Names& loops : best_orders(nest, chosen).best) {
      chosen[nest].loops = loops;
      list(nest + 1, chosen, orders);
    }
    chosen[nest].loops = before;
  }

  /// Returns what nests compute that share no loop, with the paths of their sections.
  static std::vector<std::pair<std::string, schedule::Path>> apart(const Nests& nests) {
    const std::vector<schedule::Path> paths = schedule::paths_of(nests);
    std::vector<std::pair<std::string, schedule::Path>> out;
    for (std::size_t n = 0; n < nests.size(); ++n)
      if (nests[n].shared == 0 && (n == 0 || nests[n - 1].shared == 0))
        out.emplace_back(nests[n].leaf().target.tensor, paths[n]);
    return out;
  }

  /// A sparse result may be gathered in a hash table, too. `counted`: no other member stands for these
  /// orders.
  void take_member(schedule::Trace trace, const concrete_notation::StatementPtr& tree,
                   const mpz_class& orders, bool counted) {
    const auto complete = schedule::with_ordered_appends(tree, problem_);
    add_member({trace, costs_.of(complete), orders, 1, counted});
    const schedule::WorkspaceStorage directive{concrete_notation::Storage::hash};
    const auto table = schedule::apply_workspace_storage(complete, directive, problem_);
    if (!table.ok() || !concrete_notation::check_annotations(*table, problem_).ok()) return;
    trace.directives.emplace_back(directive);
    add_member({std::move(trace), costs_.of(*table), orders, 1});
    count(orders);
  }

  void count(const mpz_class& orders) {
    found_.schedules += orders;
    if (!entries_.empty()) entries_.back().schedules += orders;
  }

  void add_member(ListedMember member) {
    found_.members.push_back(std::move(member));
    if (!entries_.empty()) made_with_.push_back(entries_.size() - 1);
  }

  /// Every choice of sums to distribute, from nest `at` on, and of depths to do it at. Paths of later nests
  /// stay what they are.
  void distribute(std::size_t at, const std::vector<schedule::Path>& paths, schedule::Trace& trace,
                  const concrete_notation::StatementPtr& tree, const mpz_class& orders) {
    for (; at < paths.size(); ++at) {
      const std::size_t own = nests_[at].loops.size() - prefix(at).size();
      for (int depth = 0; depth == 0 || static_cast<std::size_t>(depth) < own; ++depth) {
        const schedule::Distribute directive{paths[at], depth};
        const auto apart = schedule::apply_distribute(tree, directive, problem_);
        if (!apart.ok()) break;  // no sum
        if (!take_a_step()) return;
        trace.directives.push_back(directive);
        take_member(trace, *apart, orders, /*counted=*/true);
        count(orders);
        distribute(at + 1, paths, trace, *apart, orders);
        trace.directives.pop_back();
      }
    }
  }

  /// From the default nest: nests apart in their sequence, then sharing from the last one up, then the loops
  /// below.
  schedule::Trace trace_of(const Nests& chosen) const {
    schedule::Trace trace;
    const bool in_order = std::is_sorted(sequence_.begin(), sequence_.end());
    const bool apart =
        std::all_of(default_.begin(), default_.end(), [](const Nest& nest) { return nest.shared == 0; });
    Nests now = nests_;
    if (in_order && folded_ && same_sharing(chosen)) {
      now = default_;
    } else {
      if (!in_order || !apart || !folded_) trace.directives.push_back(schedule::Sequence{sequence_});
      for (std::size_t n = chosen.size() - 1; n-- > 0;) {
        if (shared_[n].empty()) continue;
        trace.directives.push_back(schedule::Share{static_cast<int>(n), shared_[n]});
        schedule::share(now, n, shared_[n]);
      }
    }
    const std::vector<schedule::Path> paths = schedule::paths_of(chosen);
    for (std::size_t n = 0; n < chosen.size(); ++n) {
      if (now[n].loops == chosen[n].loops) continue;
      trace.directives.push_back(schedule::Reorder{
          paths[n], Names(chosen[n].loops.begin() + static_cast<std::ptrdiff_t>(prefix(n).size()),
                          chosen[n].loops.end())});
    }
    return trace;
  }

  /// The default nest shares just these loops.
  bool same_sharing(const Nests& chosen) const {
    for (std::size_t n = 0; n < chosen.size(); ++n) {
      if (default_[n].shared != chosen[n].shared) return false;
      if (!begins_with(default_[n].loops, prefix(n))) return false;
    }
    return true;
  }

  /// Orders of one nest that are looked at; more are counted.
  static constexpr int max_orders = 720;

  /// A loop that must stand outside of the index is not placed yet.
  static bool waits(const std::vector<LoopOrder>& orders, const Names& placed, const std::string& index) {
    return std::any_of(orders.begin(), orders.end(), [&](const LoopOrder& order) {
      return order.after == index && !support::contains(placed, order.before);
    });
  }

  Nests default_;
  bool folded_;
  const problem::Problem& problem_;
  const cost::TreeCosts costs_;
  const ProgramOptions& options_;
  const support::Cancellation& cancellation_;
  std::vector<int> sequence_;                   ///< the present one, by number in default_
  Nests nests_;                                 ///< in this sequence, apart
  std::vector<std::vector<LoopOrder>> orders_;  ///< loop orders of each nest
  std::vector<Names> shared_;                   ///< loops shared with the next one
  std::map<std::pair<int, Names>, Below> known_;
  ListedMembers found_;
  /// Entries of a sparse result, by trie.
  struct OfTrie {
    ResultEntries entries;
    mpz_class schedules;
  };
  std::vector<OfTrie> entries_;
  bool first_of_trie_ = false;          ///< no member of the present trie is listed yet
  std::vector<std::size_t> made_with_;  ///< by member: its trie, of entries_
};

}  // namespace

Result<ListedMembers> program_members(const concrete_notation::StatementPtr& tree,
                                      const problem::Problem& problem, const ProgramOptions& options,
                                      const support::Cancellation& cancellation) {
  SCHAAS_ASSIGN_OR_RETURN(Nests nests, schedule::nests_of(tree));
  SCHAAS_ASSIGN_OR_RETURN(const auto folded, schedule::tree_of(nests));
  const bool is_folded = concrete_notation::equal(folded, tree);
  return Search(std::move(nests), is_folded, problem, options, cancellation).run();
}

}  // namespace schaas::space
