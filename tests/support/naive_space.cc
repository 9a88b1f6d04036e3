#include "tests/support/naive_space.h"

#include <algorithm>
#include <map>

// Builds every schedule as a value, by the rules of docs/schedule_space.md taken literally (SparseAuto,
// OOPSLA 2024, sections 4.3 and 5.1). For each order of the operands: all legal loop orders, all splits with
// every common prefix, all double-producer combinations. Nothing is memoised and no bit sets are used;
// factors are sets of strings. So it is slow and can be compared with the rules line by line. With the
// product it shares the parsed problem and the properties of formats, nothing of compiler/space.
// NaiveRule::published repeats the slip of the published system, to compare counts.
namespace schaas::test_support {
namespace {

using Names = std::set<std::string>;
using Loops = std::vector<std::string>;

/// Thrown when the limit on schedules is exceeded.
struct TooMany {};

struct Factor {
  std::string name;
  Names indices;
  const index_notation::Access* access = nullptr;  ///< null: a temporary
};

Names unite(Names a, const Names& b) {
  a.insert(b.begin(), b.end());
  return a;
}
Names meet(const Names& a, const Names& b) {
  Names both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
  return both;
}
Names minus(const Names& a, const Names& b) {
  Names left;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(left, left.end()));
  return left;
}
Names all_of(const std::vector<Factor>& factors) {
  Names all;
  for (const Factor& f : factors) all.insert(f.indices.begin(), f.indices.end());
  return all;
}
std::string join(const Loops& loops) {
  std::string text;
  for (const std::string& loop : loops) text += loop + ".";
  return text;
}

/// A sequence of factors, what it computes and the loops it has: the factors' indices, unless the slip of
/// the published system says otherwise.
struct Side {
  std::vector<Factor> factors;
  Names loops, out;
  bool final_result = false;
  int first_split = 1, last_split = 0;
};

/// Lists the schedules of one problem.
class Enumerator {
 public:
  Enumerator(const problem::Problem& problem, NaiveRule rule, std::size_t most)
      : problem_(problem), operands_(problem.operands()), rule_(rule), most_(most) {
    for (const index_notation::Access& operand : operands_) {
      const auto& format = problem_.formats.at(operand.tensor);
      for (int level = 0; level < format.order(); ++level) {
        const auto at = static_cast<std::size_t>(level);
        const bool counts = format::is_sparse(format.levels[at]) &&
                            (level > 0 || problem_.profile == problem::Profile::standard);
        const std::string variable = fiber(operand, level);
        if (counts && std::find(fibers_.begin(), fibers_.end(), variable) == fibers_.end())
          fibers_.push_back(variable);
      }
    }
  }

  /// Lists every order of the operands but mirror images, and the schedules of each.
  std::vector<NaiveSchedule> all() {
    std::vector<std::size_t> order(operands_.size());
    for (std::size_t n = 0; n < order.size(); ++n) order[n] = n;
    std::vector<NaiveSchedule> result;
    bool written = true;
    do {
      if (std::vector<std::size_t>(order.rbegin(), order.rend()) < order) continue;
      Side root;
      std::string names;
      for (std::size_t n : order) {
        root.factors.push_back({"#" + std::to_string(n),
                                Names(operands_[n].indices.begin(), operands_[n].indices.end()),
                                &operands_[n]});
        names += root.factors.back().name + " ";
      }
      root.loops = all_of(root.factors);
      root.out = Names(problem_.statement.result.indices.begin(), problem_.statement.result.indices.end());
      root.final_result = true;
      root.last_split = size(root.factors) - 1;
      std::vector<NaiveSchedule> found;
      if (root.loops.empty()) {
        found.push_back({"()", {{}}, {}});
      } else {
        found = written || rule_ == NaiveRule::symmetric ? with_joins(root) : plain(root);
      }
      written = false;
      for (NaiveSchedule& one : found) {
        one.text = names + one.text;
        result.push_back(std::move(one));
      }
      if (result.size() > most_) throw TooMany();
    } while (std::next_permutation(order.begin(), order.end()));
    return result;
  }

 private:
  static int size(const std::vector<Factor>& factors) { return static_cast<int>(factors.size()); }

  const std::string& index_at(const index_notation::Access& access, int level) const {
    const auto& format = problem_.formats.at(access.tensor);
    return access.indices[static_cast<std::size_t>(format.mode_order[static_cast<std::size_t>(level)])];
  }
  std::string fiber(const index_notation::Access& access, int level) const {
    return index_at(access, level) + "'" + access.tensor + std::to_string(level);
  }

  /// Pairs (earlier, later) that hold where these operands (and the result) take part.
  std::set<std::pair<std::string, std::string>> order_pairs(const std::vector<Factor>& factors,
                                                            bool final_result) const {
    std::set<std::pair<std::string, std::string>> pairs;
    const auto add = [&](const index_notation::Access& access) {
      for (const auto& [a, b] : format::access_order(problem_.formats.at(access.tensor)))
        pairs.emplace(index_at(access, a), index_at(access, b));
    };
    for (const Factor& f : factors) {
      if (f.access != nullptr) add(*f.access);
    }
    if (!final_result) return pairs;
    const auto& result = problem_.statement.result;
    const auto& format = problem_.formats.at(result.tensor);
    add(result);
    for (int level = 0; level < format.order(); ++level) {
      const bool more_compressed =
          std::any_of(format.levels.begin() + level, format.levels.end(), format::is_sparse);
      if (!more_compressed) break;
      for (const index_notation::Access& operand : operands_) {
        for (const std::string& index : operand.indices) {
          if (std::find(result.indices.begin(), result.indices.end(), index) == result.indices.end())
            pairs.emplace(index_at(result, level), index);
        }
      }
    }
    return pairs;
  }

  /// Lists the permutations of `loops` that keep every pair in order.
  std::vector<Loops> loop_orders(const Names& loops, const std::vector<Factor>& factors,
                                 bool final_result) const {
    const auto pairs = order_pairs(factors, final_result);
    Loops order(loops.begin(), loops.end());
    std::vector<Loops> legal;
    do {
      bool good = true;
      for (const auto& [a, b] : pairs) {
        const auto first = std::find(order.begin(), order.end(), a);
        const auto second = std::find(order.begin(), order.end(), b);
        good = good && (first == order.end() || second == order.end() || first <= second);
      }
      if (good) legal.push_back(order);
    } while (std::next_permutation(order.begin(), order.end()));
    return legal;
  }

  /// A sparse level over a loop.
  struct List {
    std::string name;  ///< of the fiber
    std::string with_outer;
    bool walked = false;
  };

  /// The sparse levels over the loop, of each access once, in order of the problem as written.
  std::vector<List> lists_of(const std::string& loop, const std::vector<Factor>& factors) const {
    std::vector<List> lists;
    for (const std::string& fiber_name : fibers_) {
      for (const Factor& f : factors) {
        if (f.access == nullptr) continue;
        const auto& format = problem_.formats.at(f.access->tensor);
        std::string outer;
        for (int level = 0; level < format.order(); ++level) {
          const std::string& index = index_at(*f.access, level);
          const bool same = index == loop && fiber(*f.access, level) == fiber_name;
          const List list{fiber_name, fiber_name + "(" + outer + ")",
                          !format::is_located(format.levels[static_cast<std::size_t>(level)])};
          outer += index + ".";
          const bool known = std::any_of(lists.begin(), lists.end(), [&](const List& other) {
            return other.with_outer == list.with_outer;
          });
          if (same && !known) lists.push_back(list);
        }
      }
    }
    return lists;
  }

  /// Under the standard profile, the lists that the loop merges.
  std::string merged_lists(const std::string& loop, const std::vector<Factor>& factors) const {
    std::set<std::string> names;
    for (const List& list : lists_of(loop, factors)) {
      if (list.walked) names.insert(list.with_outer);
    }
    if (names.size() < 2 || problem_.profile != problem::Profile::standard) return "";
    std::string text;
    for (const std::string& name : names) text += "&" + name;
    return text;
  }

  /// Returns the count of the loops around these operands: of several fibers of a loop what all of them hold,
  /// or the one that is met first in the problem as written; levels that are located come last.
  NaiveProduct product(const Names& loops, const std::vector<Factor>& factors) const {
    NaiveProduct result;
    for (const std::string& loop : loops) {
      auto lists = lists_of(loop, factors);
      std::stable_sort(lists.begin(), lists.end(),
                       [](const List& a, const List& b) { return a.walked && !b.walked; });
      const std::string merged = merged_lists(loop, factors);
      result.insert(!merged.empty() ? loop + "'" + merged : lists.empty() ? loop : lists.front().name);
    }
    return result;
  }

  /// The steps of the loops that merge lists, each once for every iteration of the loops before it.
  std::vector<NaiveProduct> merges(const Loops& order, const std::vector<Factor>& factors) const {
    std::vector<NaiveProduct> terms;
    Names outside;
    for (const std::string& loop : order) {
      if (const std::string merged = merged_lists(loop, factors); !merged.empty()) {
        terms.push_back(product(outside, factors));
        terms.back().insert("steps of " + loop + "'" + merged);
      }
      outside.insert(loop);
    }
    return terms;
  }

  /// A loop of the side merges a list of the factor.
  bool merges(const Factor& factor, const Side& side) const {
    return std::any_of(side.loops.begin(), side.loops.end(), [&](const std::string& loop) {
      const auto lists = lists_of(loop, {factor});
      return !merged_lists(loop, side.factors).empty() &&
             std::any_of(lists.begin(), lists.end(), [](const List& list) { return list.walked; });
    });
  }

  /// Lists linear and fused nests.
  std::vector<NaiveSchedule> plain(const Side& side) const {
    if (side.loops.empty()) return {};
    std::map<std::string, NaiveSchedule> found;
    const auto orders = loop_orders(side.loops, side.factors, side.final_result);
    const NaiveProduct trips = product(side.loops, side.factors);
    for (const Loops& order : orders) {
      NaiveSchedule nest{"(" + join(order) + ")", {trips}, {}};
      for (NaiveProduct& merge : merges(order, side.factors)) nest.time.insert(std::move(merge));
      found.emplace(nest.text, nest);
    }
    const bool merging = std::any_of(side.loops.begin(), side.loops.end(), [&](const std::string& loop) {
      return !merged_lists(loop, side.factors).empty();
    });
    if (side.factors.size() > (merging ? 1 : 2) && side.loops.size() > 1) {
      for (int split = side.first_split; split <= side.last_split; ++split) {
        for (const bool left : {true, false}) fuse(side, split, left, orders, found);
      }
    }
    std::vector<NaiveSchedule> result;
    for (auto& [text, one] : found) result.push_back(std::move(one));
    if (wider(problem::SpaceOption::stored_producers)) add_joins(side, result);
    return result;
  }

  bool wider(problem::SpaceOption option) const { return problem_.space.has(option); }

  /// Takes the loops above out of a side.
  static Side below(Side side, const Names& above) {
    for (Factor& f : side.factors) f.indices = minus(f.indices, above);
    side.loops = minus(side.loops, above);
    side.out = minus(side.out, above);
    return side;
  }

  /// Adds the fused nests of one split, for every common prefix of the sides.
  void fuse(const Side& side, int split, bool left, const std::vector<Loops>& orders,
            std::map<std::string, NaiveSchedule>& found) const {
    const std::vector<Factor> before(side.factors.begin(), side.factors.begin() + split);
    const std::vector<Factor> after(side.factors.begin() + split, side.factors.end());
    Side producer;
    producer.factors = left ? before : after;
    const std::vector<Factor>& rest = left ? after : before;
    const Names shared = meet(all_of(before), all_of(after));
    producer.loops = all_of(producer.factors);
    producer.out = unite(meet(side.out, producer.loops), shared);
    producer.last_split = size(producer.factors) - 1;
    Side consumer;
    consumer.loops = unite(all_of(rest), producer.out);
    consumer.out = side.out;
    consumer.final_result = side.final_result;
    consumer.first_split = left ? 2 : 1;
    consumer.last_split = size(rest) + 1 - (left ? 1 : 2);
    std::set<Loops> prefixes;
    for (const Loops& order : orders) {
      Loops mine, theirs, common;
      for (const std::string& x : order) {
        if (producer.loops.count(x)) mine.push_back(x);
        if (consumer.loops.count(x)) theirs.push_back(x);
      }
      for (std::size_t n = 0; n < std::min(mine.size(), theirs.size()) && mine[n] == theirs[n]; ++n)
        common.push_back(mine[n]);
      prefixes.insert(common);
      while (wider(problem::SpaceOption::shorter_fusion) && !common.empty()) {
        common.pop_back();
        prefixes.insert(common);
      }
    }
    for (const Loops& prefix : prefixes) {
      if (prefix.empty() && producer.factors.size() < 2 && !merges(producer.factors[0], side)) continue;
      // The slip of the published system: the indices the other side's temporary would have.
      const bool slip = rule_ == NaiveRule::published && !left && prefix.empty();
      const Factor temporary{"t", slip ? unite(meet(side.out, all_of(rest)), shared) : producer.out, nullptr};
      consumer.factors = rest;
      consumer.factors.insert(left ? consumer.factors.begin() : consumer.factors.end(), temporary);
      const Names above(prefix.begin(), prefix.end());
      const NaiveProduct common = product(above, side.factors);
      const auto producers = plain(below(producer, above));
      const auto consumers = plain(below(consumer, above));
      if (producers.size() * consumers.size() > most_) throw TooMany();
      const bool blocks = wider(problem::SpaceOption::row_blocks) && prefix.size() == 1 &&
                          sparse_holders(prefix[0], side.factors) <= 1;
      for (const NaiveSchedule& p : producers) {
        for (const NaiveSchedule& c : consumers) {
          NaiveSchedule both;
          both.text = "{" + std::to_string(split) + (left ? "L" : "R") + join(prefix) + p.text + c.text + "}";
          both.memory.push_back(minus(producer.out, above));
          for (NaiveProduct& merge : merges(prefix, side.factors)) both.time.insert(std::move(merge));
          for (const auto* part : {&p, &c}) {
            for (NaiveProduct term : part->time) {
              term.insert(common.begin(), common.end());
              both.time.insert(std::move(term));
            }
            both.memory.insert(both.memory.end(), part->memory.begin(), part->memory.end());
          }
          if (blocks) {
            NaiveSchedule blocked = both;
            blocked.text = "blocks" + both.text;
            blocked.memory[0] = producer.out;
            found.emplace(blocked.text, blocked);
          }
          std::string text = both.text;
          found.emplace(std::move(text), std::move(both));
        }
      }
      if (found.size() > most_) throw TooMany();
    }
  }

  /// Counts the factors with a sparse level over the index.
  long sparse_holders(const std::string& index, const std::vector<Factor>& factors) const {
    return std::count_if(factors.begin(), factors.end(), [&](const Factor& f) {
      if (f.access == nullptr) return false;
      const auto& format = problem_.formats.at(f.access->tensor);
      for (int level = 0; level < format.order(); ++level) {
        if (format::is_sparse(format.levels[static_cast<std::size_t>(level)]) &&
            index_at(*f.access, level) == index)
          return true;
      }
      return false;
    });
  }

  /// Lists all schedules of a side, double-producer combinations included.
  std::vector<NaiveSchedule> with_joins(const Side& side) const {
    std::vector<NaiveSchedule> result = plain(side);
    if (!wider(problem::SpaceOption::stored_producers)) add_joins(side, result);
    return result;
  }

  /// Adds the combinations of two stored temporaries in one more nest.
  void add_joins(const Side& side, std::vector<NaiveSchedule>& result) const {
    if (side.factors.size() < 3) return;
    for (int split = side.first_split; split <= side.last_split; ++split) {
      Side left, right;
      left.factors.assign(side.factors.begin(), side.factors.begin() + split);
      right.factors.assign(side.factors.begin() + split, side.factors.end());
      const Names common = meet(all_of(left.factors), all_of(right.factors));
      for (Side* half : {&left, &right}) {
        half->loops = all_of(half->factors);
        half->out = unite(meet(side.out, half->loops), common);
        half->last_split = size(half->factors) - 1;
      }
      const Names loops = unite(left.out, right.out);
      const auto lefts = with_joins(left);
      const auto rights = with_joins(right);
      const auto orders = loop_orders(loops, side.factors, side.final_result);
      if (lefts.size() * rights.size() * orders.size() > most_) throw TooMany();
      for (const NaiveSchedule& l : lefts) {
        for (const NaiveSchedule& r : rights) {
          for (const Loops& order : orders) {
            NaiveSchedule both{"[" + std::to_string(split) + join(order) + l.text + r.text + "]",
                               l.time,
                               {left.out, right.out}};
            both.time.insert(r.time.begin(), r.time.end());
            both.time.insert(loops);
            both.memory.insert(both.memory.end(), l.memory.begin(), l.memory.end());
            both.memory.insert(both.memory.end(), r.memory.begin(), r.memory.end());
            result.push_back(std::move(both));
          }
        }
      }
    }
  }

  const problem::Problem& problem_;
  const std::vector<index_notation::Access> operands_;
  NaiveRule rule_;
  std::size_t most_;
  std::vector<std::string> fibers_;
};

}  // namespace

std::optional<std::vector<NaiveSchedule>> naive_space(const problem::Problem& problem, NaiveRule rule,
                                                      std::size_t most) {
  try {
    return Enumerator(problem, rule, most).all();
  } catch (const TooMany&) {
    return std::nullopt;
  }
}

}  // namespace schaas::test_support
