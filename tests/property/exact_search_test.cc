// The search against brute force on random small products: the space against a naive enumeration that shares
// nothing with it, the frontier against comparing every class with every other at the corners of the allowed
// sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>

#include "compiler/cost/cost.h"
#include "compiler/frontier/frontier.h"
#include "compiler/frontier/proofs/log_proof.h"
#include "compiler/space/listed/appending.h"
#include "compiler/space/space.h"
#include "tests/support/naive_space.h"
#include "tests/support/random_problem.h"
#include "tests/support/search_oracle.h"

namespace schaas {
namespace {

using test_support::NaiveProduct;
using test_support::NaiveRule;

#ifdef SCHAAS_MANY_PRODUCTS
constexpr int products_to_check = 2000;
constexpr int frontiers_to_check = 2000;
constexpr std::size_t most_members = 200'000;
#else
constexpr int products_to_check = 200;
constexpr int frontiers_to_check = 100;
constexpr std::size_t most_members = 20'000;
#endif
constexpr std::size_t most_classes = 3'000;
constexpr std::size_t most_corners = 1'024;

const support::Cancellation never;

/// The terms as naive products.
std::vector<NaiveProduct> products(const std::vector<cost::Term>& terms, const cost::Variables& variables) {
  std::vector<NaiveProduct> result;
  for (cost::Term term : terms) {
    NaiveProduct product;
    for (int bit = 0; bit < cost::access_shift; ++bit) {
      if (((term >> bit) & 1U) == 0) continue;
      product.insert(test_support::naive_factor(variables.at(bit)));
    }
    result.push_back(std::move(product));
  }
  return result;
}
std::multiset<NaiveProduct> sum(const std::vector<cost::Term>& terms, const cost::Variables& variables) {
  const auto all = products(terms, variables);
  return {all.begin(), all.end()};
}

space::Rule rule_of(NaiveRule rule) {
  switch (rule) {
    case NaiveRule::symmetric:
      return space::Rule::symmetric;
    case NaiveRule::as_written:
      return space::Rule::as_written;
    case NaiveRule::published:
      return space::Rule::published;
  }
  return space::Rule::symmetric;
}

/// The same number of members, the same classes with the same multiplicities, the same pairs. False when
/// there are too many members to list.
bool check_space(const problem::Problem& problem, NaiveRule rule) {
  const auto naive = test_support::naive_space(problem, rule, most_members);
  if (!naive) return false;
  using Pair = std::pair<std::multiset<NaiveProduct>, std::vector<NaiveProduct>>;
  using Class = std::pair<std::multiset<NaiveProduct>, std::multiset<NaiveProduct>>;
  std::set<std::string> distinct;
  std::map<Class, std::uint64_t> expected_classes, classes;
  std::set<Pair> expected_pairs, pairs;
  for (const test_support::NaiveSchedule& one : *naive) {
    distinct.insert(one.text);
    ++expected_classes[{one.time, {one.memory.begin(), one.memory.end()}}];
    expected_pairs.insert({one.time, one.memory});
  }
  EXPECT_EQ(distinct.size(), naive->size());
  space::Space space(problem, {rule_of(rule)});
  EXPECT_EQ(space.count(never).value(), naive->size());
  const auto variables = cost::variables_of(problem);
  const std::vector<space::ClassCount> counted = space.classes(99, never).value();
  for (const space::ClassCount& one : counted)
    classes[{sum(one.cost.time, variables), sum(one.cost.memory, variables)}] += one.members.get_ui();
  EXPECT_EQ(classes, expected_classes);
  if (rule == NaiveRule::published) {
    const std::vector<cost::Cost> found = space.published_pairs(99, never).value();
    for (const cost::Cost& one : found)
      pairs.insert({sum(one.time, variables), products(one.memory, variables)});
    EXPECT_EQ(pairs, expected_pairs);
  }
  return true;
}

TEST(ExactSearch, SpacesOfSmallKernelsEqualNaiveEnumeration) {
  for (const auto& kernel : test_support::search_oracle()) {
    const auto problem = problem::build(kernel.text("sparseauto")).value();
    SCOPED_TRACE(kernel.name);
    const bool small = kernel.name == "K4" || kernel.name == "K6" || kernel.name == "K7";
    for (const NaiveRule rule : {NaiveRule::as_written, NaiveRule::symmetric, NaiveRule::published}) {
      if (small || (rule != NaiveRule::symmetric && (kernel.name == "K1" || kernel.name == "K3"))) {
        EXPECT_TRUE(check_space(problem, rule));
      }
    }
  }
}

TEST(ExactSearch, SpacesOfRandomProductsEqualNaiveEnumeration) {
  test_support::RandomProblemOptions options;
  options.sparse_result = options.repeats = true;
  int checked = 0, of_four = 0, seed = 0;
  for (; checked < products_to_check && seed < 4 * products_to_check; ++seed) {
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    problem::ProblemText text = test_support::random_problem_text(options, random);
    text.profile = "sparseauto";
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text.expression);
    const auto rule = std::array{NaiveRule::symmetric, NaiveRule::as_written, NaiveRule::published};
    const auto problem = problem::build(text).value();
    if (!check_space(problem, rule[static_cast<std::size_t>(seed) % 3])) continue;
    ++checked;
    of_four += problem.operands().size() == 4 ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_EQ(checked, products_to_check) << "too many spaces were too large";
  EXPECT_GE(of_four, products_to_check / 10);
  std::printf("%d products, %d of four operands, %d seeds\n", checked, of_four, seed);
}

/// A problem whose allowed sizes are the convex hulls of a few corners, index by index: every extent has a
/// range, a matrix may have a bound on its density. A term has each index at most once, as extent or as one
/// of its fibers, so the difference of two costs is linear in the variables of one index when the others are
/// fixed: it is at most 0 everywhere exactly when it is at every corner. All values fit a double exactly.
struct BoxProblem {
  problem::Problem problem;
  std::vector<cost::Point> corners;
};

BoxProblem random_box(std::mt19937_64& random) {
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  test_support::RandomProblemOptions options;
  options.sparse_result = true;
  options.max_indices = 4;
  problem::ProblemText text = test_support::random_problem_text(options, random);
  const problem::Problem open = problem::build(text).value();
  const cost::Variables variables = cost::variables_of(open);
  std::vector<cost::Point> corners{
      cost::Point(static_cast<std::size_t>(cost::Variables::first_fiber) + variables.fibers.size(), 1)};
  for (std::size_t x = 0; x < variables.extents.size(); ++x) {
    const std::string& index = variables.extents[x].index;
    const int low = pick(1, 40);
    const int high = low * pick(1, 40);
    text.constraints.push_back(std::to_string(low) + " <= " + index + " <= " + std::to_string(high));
    std::vector<cost::Point> grown;
    for (const cost::Point& corner : corners) {
      for (const int extent : {low, high}) {
        grown.push_back(corner);
        grown.back()[x] = extent;
      }
    }
    for (std::size_t n = 0; n < variables.fibers.size(); ++n) {
      const cost::Variable& fiber = variables.fibers[n];
      // A copy bounds no other tensor, and no schedule here reads one.
      if (!cost::is_fiber(fiber) || fiber.index != index || !fiber.copy_of.empty()) continue;
      const auto& levels = open.formats.at(fiber.tensor).levels;
      const auto level = static_cast<std::size_t>(fiber.level);
      const bool below_compressed = level > 0 && format::holds_entries(levels[level - 1]);
      double share = 1;
      if (std::count_if(levels.begin(), levels.end(), format::is_sparse) == 1 && pick(0, 1) == 1) {
        const int parts = 1 << pick(1, 2);
        share = 1.0 / parts;
        text.constraints.push_back("density(" + fiber.tensor + ") <= 1/" + std::to_string(parts));
      }
      std::vector<cost::Point> more;
      for (const cost::Point& corner : grown) {
        for (const double value : {below_compressed ? 1.0 : 0.0, share * corner[x]}) {
          more.push_back(corner);
          more.back()[static_cast<std::size_t>(cost::Variables::first_fiber) + n] = value;
        }
      }
      grown = std::move(more);
    }
    corners = std::move(grown);
  }
  return {problem::build(text).value(), std::move(corners)};
}

/// Time, serial time and memory at every corner, temporaries that are small everywhere left out.
std::vector<double> objectives(const cost::Cost& cost, const BoxProblem& box) {
  const auto free = static_cast<double>(frontier::free_elements(box.problem.profile));
  cost::Cost counted = cost;
  std::erase_if(counted.memory, [&](cost::Term term) {
    return std::all_of(box.corners.begin(), box.corners.end(), [&](const cost::Point& corner) {
      return cost::evaluate_memory({{}, {term}}, corner) <= free;
    });
  });
  std::vector<double> values;
  for (const cost::Point& corner : box.corners) {
    values.push_back(cost::evaluate_time(counted, corner));
    values.push_back(cost::evaluate_serial(counted, corner));
    values.push_back(cost::evaluate_memory(counted, corner));
  }
  return values;
}

bool at_most(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) { return x <= y; });
}

bool reads_a_copy(const frontier::Survivor& survivor) {
  const auto& directives = survivor.traces.front().directives;
  return std::any_of(directives.begin(), directives.end(), [](const schedule::Directive& directive) {
    return std::holds_alternative<problem::CopyRequest>(directive);
  });
}

/// The frontier of the search is the set of classes that no other class is at most as costly as at every
/// allowed size, one for each of these cost functions. The number of survivors; none when the space has one
/// class or too many.
std::optional<std::size_t> check_frontier(const BoxProblem& box) {
  space::Space space(box.problem, {});
  // The corners of what an intersection may hold are not those of a box.
  if (!cost::variables_of(box.problem).intersections.empty()) return std::nullopt;
  if (box.corners.size() > most_corners || space.count(never).value() == 0) return std::nullopt;
  std::vector<space::ClassCount> classes = space.classes(99, never).value();
  if (space::appends(box.problem)) {  // also schedules that gather the result in a workspace
    classes.clear();
    const auto all = space::appending_members(box.problem, 4'000, 1, never).value();
    if (!all) return std::nullopt;
    for (const auto& member : all->members) classes.push_back({member.cost, member.schedules});
  }
  if (classes.size() < 2 || classes.size() > most_classes) return std::nullopt;
  std::set<std::vector<double>> all;
  for (const space::ClassCount& one : classes) all.insert(objectives(one.cost, box));
  std::set<std::vector<double>> expected;
  for (const auto& values : all) {
    const bool covered = std::any_of(all.begin(), all.end(), [&](const auto& other) {
      return &other != &values && at_most(other, values);
    });
    if (!covered) expected.insert(values);
  }
  const auto found =
      frontier::compute(box.problem, frontier::options_for(box.problem.profile), {}, never).value();
  // Where copies alone give a sparse result its fewest entries, the space is another one.
  if (std::any_of(found.survivors.begin(), found.survivors.end(), reads_a_copy)) return std::nullopt;
  std::set<std::vector<double>> kept;
  for (const frontier::Survivor& one : found.survivors) kept.insert(objectives(one.cost, box));
  EXPECT_TRUE(found.complete);
  EXPECT_EQ(kept.size(), found.survivors.size()) << "two survivors have the same cost everywhere";
  EXPECT_TRUE(kept == expected) << kept.size() << " kept, " << expected.size() << " expected of "
                                << classes.size() << " classes\n"
                                << problem::print(box.problem);
  return found.survivors.size();
}

TEST(ExactSearch, FrontiersOfRandomProductsEqualBruteForce) {
  int checked = 0, several = 0, seed = 0;
  for (; checked < frontiers_to_check && seed < 8 * frontiers_to_check; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    const BoxProblem box = random_box(random);
    const auto survivors = check_frontier(box);
    if (!survivors) continue;
    ++checked;
    several += *survivors > 1 ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_EQ(checked, frontiers_to_check) << "too many spaces were too large";
  EXPECT_GE(several, frontiers_to_check / 5) << "most frontiers have one class only";
  std::printf("%d frontiers, %d of several classes, %d seeds\n", checked, several, seed);
}

}  // namespace
}  // namespace schaas
