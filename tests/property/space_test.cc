// The memoised recursion against a naive enumeration that shares nothing with it: every schedule of a small
// contraction is built as a value, by the rules of docs/schedule_space.md taken literally (all loop orders,
// all splits, sets of strings).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "compiler/cost/cost.h"
#include "compiler/schedule/apply.h"
#include "compiler/space/space.h"
#include "tests/support/search_oracle.h"

namespace schaas {
namespace {

using Names = std::set<std::string>;
using Loops = std::vector<std::string>;
using Product = std::set<std::string>;

struct Naive {
  std::string text;  ///< identity
  std::multiset<Product> time, memory;
};

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
  for (const Factor& f : factors) all = unite(all, f.indices);
  return all;
}
std::string join(const Loops& loops) {
  std::string text;
  for (const std::string& loop : loops) text += loop + ".";
  return text;
}

class Enumerator {
 public:
  Enumerator(const problem::Problem& problem, space::Rule rule) : problem_(problem), rule_(rule) {}

  std::vector<Naive> all() {
    const auto operands = problem_.operands();
    std::vector<std::size_t> order(operands.size());
    for (std::size_t n = 0; n < order.size(); ++n) order[n] = n;
    std::vector<Naive> result;
    const Names out(problem_.statement.result.indices.begin(), problem_.statement.result.indices.end());
    bool written = true;
    do {
      if (std::vector<std::size_t>(order.rbegin(), order.rend()) < order) continue;
      std::vector<Factor> factors;
      for (std::size_t n : order) {
        factors.push_back({"#" + std::to_string(n),
                           Names(operands[n].indices.begin(), operands[n].indices.end()), &operands[n]});
      }
      const bool joins = written || rule_ == space::Rule::symmetric;
      auto found = joins ? with_joins(factors, out, true) : plain(factors, out, true, 1, size(factors) - 1);
      written = false;
      for (Naive& one : found) {
        one.text = join_names(factors) + one.text;
        result.push_back(std::move(one));
      }
    } while (std::next_permutation(order.begin(), order.end()));
    return result;
  }

 private:
  static int size(const std::vector<Factor>& factors) { return static_cast<int>(factors.size()); }
  static std::string join_names(const std::vector<Factor>& factors) {
    std::string text;
    for (const Factor& f : factors) text += f.name + join({f.indices.begin(), f.indices.end()}) + " ";
    return text;
  }

  /// Pairs (earlier, later) that hold where these operands (and the result) take part.
  std::set<std::pair<std::string, std::string>> order_pairs(const std::vector<Factor>& factors,
                                                            bool final_result) const {
    std::set<std::pair<std::string, std::string>> pairs;
    const auto add = [&](const index_notation::Access& access) {
      const auto& format = problem_.formats.at(access.tensor);
      for (const auto& [a, b] : format::access_order(format)) {
        pairs.emplace(
            access.indices[static_cast<std::size_t>(format.mode_order[static_cast<std::size_t>(a)])],
            access.indices[static_cast<std::size_t>(format.mode_order[static_cast<std::size_t>(b)])]);
      }
    };
    for (const Factor& f : factors) {
      if (f.access != nullptr) add(*f.access);
    }
    if (!final_result) return pairs;
    const auto& result = problem_.statement.result;
    const auto& format = problem_.formats.at(result.tensor);
    add(result);
    for (int level = 0; level < format.order(); ++level) {
      const bool more_compressed = std::find(format.levels.begin() + level, format.levels.end(),
                                             format::LevelFormat::compressed) != format.levels.end();
      if (!more_compressed) break;
      for (const std::string& index : index_notation::index_variables(problem_.statement)) {
        if (std::find(result.indices.begin(), result.indices.end(), index) == result.indices.end()) {
          pairs.emplace(
              result.indices[static_cast<std::size_t>(format.mode_order[static_cast<std::size_t>(level)])],
              index);
        }
      }
    }
    return pairs;
  }

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

  /// The variable a loop counts where these operands are below it.
  std::string trips(const std::string& loop, const std::vector<Factor>& factors) const {
    for (const Factor& f : factors) {
      if (f.access == nullptr) continue;
      const auto& format = problem_.formats.at(f.access->tensor);
      for (int level = 0; level < format.order(); ++level) {
        const auto at = static_cast<std::size_t>(level);
        const bool counts = format.levels[at] == format::LevelFormat::compressed &&
                            (level > 0 || problem_.profile == problem::Profile::standard);
        if (counts && f.access->indices[static_cast<std::size_t>(format.mode_order[at])] == loop)
          return loop + "'";
      }
    }
    return loop;
  }
  Product product(const Names& loops, const std::vector<Factor>& factors) const {
    Product result;
    for (const std::string& loop : loops) result.insert(trips(loop, factors));
    return result;
  }

  std::vector<Naive> plain(const std::vector<Factor>& factors, const Names& out, bool final_result,
                           int first_split, int last_split) const {
    const Names loops = all_of(factors);
    std::map<std::string, Naive> found;
    if (loops.empty()) return {};
    const auto orders = loop_orders(loops, factors, final_result);
    for (const Loops& order : orders) {
      Naive nest{"(" + join(order) + ")", {product(loops, factors)}, {}};
      found.emplace(nest.text, nest);
    }
    if (factors.size() > 2 && loops.size() > 1) {
      for (int split = first_split; split <= last_split; ++split) {
        for (const bool left : {true, false}) fuse(factors, out, final_result, split, left, orders, found);
      }
    }
    std::vector<Naive> result;
    for (auto& [text, one] : found) result.push_back(std::move(one));
    return result;
  }

  void fuse(const std::vector<Factor>& factors, const Names& out, bool final_result, int split, bool left,
            const std::vector<Loops>& orders, std::map<std::string, Naive>& found) const {
    const std::vector<Factor> before(factors.begin(), factors.begin() + split);
    const std::vector<Factor> after(factors.begin() + split, factors.end());
    const std::vector<Factor>& producer = left ? before : after;
    std::vector<Factor> consumer = left ? after : before;
    const Factor temporary{"t", unite(meet(out, all_of(producer)), meet(all_of(before), all_of(after))),
                           nullptr};
    consumer.insert(left ? consumer.begin() : consumer.end(), temporary);
    std::set<Loops> prefixes;
    for (const Loops& order : orders) {
      Loops mine, theirs, common;
      for (const std::string& x : order) {
        if (all_of(producer).count(x)) mine.push_back(x);
        if (all_of(consumer).count(x)) theirs.push_back(x);
      }
      for (std::size_t n = 0; n < std::min(mine.size(), theirs.size()) && mine[n] == theirs[n]; ++n)
        common.push_back(mine[n]);
      prefixes.insert(common);
    }
    for (const Loops& prefix : prefixes) {
      if (prefix.empty() && producer.size() < 2) continue;
      const Names above(prefix.begin(), prefix.end());
      const auto below = [&](std::vector<Factor> side) {
        for (Factor& f : side) f.indices = minus(f.indices, above);
        return side;
      };
      const auto producers =
          plain(below(producer), minus(temporary.indices, above), false, 1, size(producer) - 1);
      const auto consumers = plain(below(consumer), minus(out, above), final_result, left ? 2 : 1,
                                   size(consumer) - (left ? 1 : 2));
      for (const Naive& p : producers) {
        for (const Naive& c : consumers) {
          Naive both{"{" + std::to_string(split) + (left ? "L" : "R") + join(prefix) + p.text + c.text + "}",
                     {},
                     {}};
          for (const auto* side : {&p, &c}) {
            for (Product term : side->time) {
              term.merge(product(above, factors));
              both.time.insert(term);
            }
            both.memory.insert(side->memory.begin(), side->memory.end());
          }
          both.memory.insert(minus(temporary.indices, above));
          found.emplace(both.text, both);
        }
      }
    }
  }

  std::vector<Naive> with_joins(const std::vector<Factor>& factors, const Names& out,
                                bool final_result) const {
    std::vector<Naive> result = plain(factors, out, final_result, 1, size(factors) - 1);
    if (factors.size() < 3) return result;
    for (int split = 1; split < size(factors); ++split) {
      const std::vector<Factor> before(factors.begin(), factors.begin() + split);
      const std::vector<Factor> after(factors.begin() + split, factors.end());
      const Names common = meet(all_of(before), all_of(after));
      const Names left = unite(meet(out, all_of(before)), common);
      const Names right = unite(meet(out, all_of(after)), common);
      const Names loops = unite(left, right);
      for (const Naive& l : with_joins(before, left, false)) {
        for (const Naive& r : with_joins(after, right, false)) {
          for (const Loops& order : loop_orders(loops, factors, final_result)) {
            Naive both{"[" + std::to_string(split) + join(order) + l.text + r.text + "]", l.time, l.memory};
            both.time.insert(r.time.begin(), r.time.end());
            both.memory.insert(r.memory.begin(), r.memory.end());
            both.time.insert(Product(loops.begin(), loops.end()));
            both.memory.insert(left);
            both.memory.insert(right);
            result.push_back(std::move(both));
          }
        }
      }
    }
    return result;
  }

  const problem::Problem& problem_;
  space::Rule rule_;
};

/// "i*j'" of every term, sorted: comparable with the naive products.
std::multiset<Product> products(const std::vector<cost::Term>& terms, const cost::Variables& variables) {
  std::multiset<Product> result;
  for (cost::Term term : terms) {
    Product product;
    for (int bit = 0; bit < cost::access_shift; ++bit) {
      if (((term >> bit) & 1U) == 0) continue;
      const auto& v = variables.at(bit);
      product.insert(v.kind == cost::Variable::Kind::fiber ? v.index + "'" : v.index);
    }
    result.insert(product);
  }
  return result;
}

using NaiveClasses = std::map<std::pair<std::multiset<Product>, std::multiset<Product>>, std::uint64_t>;

void check_counts_and_classes(const problem::Problem& problem, space::Rule rule) {
  const auto naive = Enumerator(problem, rule).all();
  std::set<std::string> distinct;
  NaiveClasses expected;
  for (const Naive& one : naive) {
    distinct.insert(one.text);
    ++expected[{one.time, one.memory}];
  }
  ASSERT_EQ(distinct.size(), naive.size());
  space::Space space(problem, {rule});
  const support::Cancellation never;
  EXPECT_EQ(space.count(never).value(), naive.size());
  const auto variables = cost::variables_of(problem);
  NaiveClasses found;
  const std::vector<space::ClassCount> classes = space.classes(99, never).value();
  for (const space::ClassCount& one : classes) {
    found[{products(one.cost.time, variables), products(one.cost.memory, variables)}] += one.members.get_ui();
  }
  EXPECT_EQ(found, expected);
}

/// Every member as a trace: distinct, applicable, and of the cost the recursion gives it.
void check_members(const problem::Problem& problem, space::Rule rule) {
  space::Space space(problem, {rule});
  const support::Cancellation never;
  std::map<cost::Cost, std::uint64_t> found;
  std::set<std::string> traces;
  const auto listed = space.for_each(
      [&](const schedule::Trace& trace) {
        EXPECT_TRUE(traces.insert(schedule::print(trace)).second) << schedule::print(trace);
        const auto tree = schedule::apply(trace, problem);
        EXPECT_TRUE(tree.ok()) << support::render(tree.error());
        if (tree.ok()) ++found[cost::of(*tree, problem)];
        return !testing::Test::HasFailure();
      },
      never);
  ASSERT_TRUE(listed.ok());
  EXPECT_EQ(space.count(never).value(), traces.size());
  std::map<cost::Cost, std::uint64_t> expected;
  const std::vector<space::ClassCount> classes = space.classes(99, never).value();
  for (const space::ClassCount& one : classes) expected[one.cost] = one.members.get_ui();
  EXPECT_EQ(found, expected);
}

/// A product of three (rarely four) operands over few indices with random formats, sometimes with a sparse
/// result.
problem::Problem small_problem(std::mt19937_64& random, problem::Profile profile) {
  const std::vector<std::string> names{"i", "j", "k", "l"};
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const auto format = [&](int order, bool sparse) {
    format::TensorFormat result = format::dense(order);
    for (auto& level : result.levels) {
      if (sparse && pick(0, 1) == 1) level = format::LevelFormat::compressed;
    }
    std::shuffle(result.mode_order.begin(), result.mode_order.end(), random);
    return result;
  };
  problem::Problem problem;
  problem.profile = profile;
  std::vector<index_notation::Access> operands;
  std::set<std::string> used;
  const int count = pick(0, 5) == 0 ? 4 : 3;
  for (int n = 0; n < count; ++n) {
    Loops indices = names;
    std::shuffle(indices.begin(), indices.end(), random);
    indices.resize(static_cast<std::size_t>(pick(count == 4 ? 0 : 1, count == 4 ? 2 : 3)));
    used.insert(indices.begin(), indices.end());
    operands.push_back({std::string(1, static_cast<char>('B' + n)), indices});
    problem.formats[operands.back().tensor] =
        format(static_cast<int>(indices.size()), n == 0 || pick(0, 3) == 0);
  }
  Loops result(used.begin(), used.end());
  std::shuffle(result.begin(), result.end(), random);
  result.resize(static_cast<std::size_t>(pick(0, std::min<int>(3, static_cast<int>(result.size())))));
  problem.statement.result = {"A", result};
  problem.formats["A"] = format(static_cast<int>(result.size()), pick(0, 4) == 0);
  problem.statement.value = index_notation::product_of(operands);
  return problem;
}

TEST(SpaceProperty, CountsAndClassesOfSmallKernelsEqualNaiveEnumeration) {
  for (const auto& kernel : test_support::search_oracle()) {
    if (kernel.name != "K1" && kernel.name != "K4" && kernel.name != "K6" && kernel.name != "K7" &&
        kernel.name != "K3") {
      continue;
    }
    const auto problem = problem::build(kernel.text("sparseauto")).value();
    SCOPED_TRACE(kernel.name);
    check_counts_and_classes(problem, space::Rule::as_written);
    if (kernel.name != "K1" && kernel.name != "K3") check_counts_and_classes(problem, space::Rule::symmetric);
  }
}

TEST(SpaceProperty, CountsAndClassesOfRandomContractionsEqualNaiveEnumeration) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    check_counts_and_classes(small_problem(random, problem::Profile::sparseauto),
                             seed % 2 == 0 ? space::Rule::symmetric : space::Rule::as_written);
  }
}

TEST(SpaceProperty, EveryMemberAppliesAndHasTheCostOfItsClass) {
  for (const std::string name : {"K4", "K6", "K7"}) {
    for (const std::string profile : {"default", "sparseauto"}) {
      for (const auto& kernel : test_support::search_oracle()) {
        if (kernel.name != name) continue;
        SCOPED_TRACE(name + " " + profile);
        check_members(problem::build(kernel.text(profile)).value(), space::Rule::symmetric);
      }
    }
  }
}

TEST(SpaceProperty, EveryMemberOfRandomContractionsAppliesAndHasTheCostOfItsClass) {
  int checked = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto problem = small_problem(random, problem::Profile::standard);
    const support::Cancellation never;
    space::Space space(problem, {});
    if (space.count(never).value() > 1500 || space.count(never).value() == 0) continue;
    ++checked;
    check_members(problem, space::Rule::symmetric);
    if (HasFailure()) return;
  }
  EXPECT_GE(checked, 20);
}

TEST(SpaceProperty, RandomMembersOfLargeKernelsApplyAndTheirClassContainsThem) {
  for (const auto& kernel : test_support::search_oracle()) {
    const auto problem = problem::build(kernel.text("default")).value();
    space::Space space(problem, {});
    const support::Cancellation never;
    std::mt19937_64 random(7);
    for (int n = 0; n < 30; ++n) {
      const auto trace = space.draw(random).value();
      const auto tree = schedule::apply(trace, problem);
      ASSERT_TRUE(tree.ok()) << kernel.name << ": " << support::render(tree.error());
      if (n % 10 != 0) continue;
      const auto cost = cost::of(*tree, problem);
      const auto members = space.members_of(cost, 4, never).value();
      ASSERT_GE(members.traces.size(), 1U);
      EXPECT_LE(members.traces.size(), members.members);
      for (const auto& member : members.traces) {
        EXPECT_EQ(cost::of(schedule::apply(member, problem).value(), problem), cost)
            << schedule::print(member);
      }
    }
  }
}

TEST(SpaceProperty, MembersOfEveryClassAreCountedExactly) {
  for (const auto& kernel : test_support::search_oracle()) {
    if (kernel.name != "K1" && kernel.name != "K4" && kernel.name != "K6" && kernel.name != "K7") continue;
    const auto problem = problem::build(kernel.text("default")).value();
    space::Space space(problem, {});
    const support::Cancellation never;
    const std::vector<space::ClassCount> classes = space.classes(99, never).value();
    for (const space::ClassCount& one : classes) {
      EXPECT_EQ(space.members_of(one.cost, 1, never).value().members, one.members) << kernel.name;
    }
  }
}

}  // namespace
}  // namespace schaas
