// The options that widen the space (docs/schedule_space.md, "Wider spaces") against the naive enumeration,
// and their members as traces.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "compiler/cost/cost.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/space/space.h"
#include "tests/support/naive_space.h"
#include "tests/support/search_oracle.h"
#include "tests/support/space_members.h"

namespace schaas {
namespace {

using problem::SpaceOption;
using problem::SpaceOptions;
using Order = std::vector<std::string>;

const std::vector<SpaceOptions>& choices() {
  static const std::vector<SpaceOptions> all{SpaceOption::shorter_fusion, SpaceOption::stored_producers,
                                             SpaceOption::row_blocks, SpaceOptions::all()};
  return all;
}

/// A term as the naive enumeration writes it.
test_support::NaiveProduct product(cost::Term term, const cost::Variables& variables) {
  test_support::NaiveProduct out;
  for (int bit = 0; bit < cost::access_shift; ++bit) {
    if (((term >> bit) & 1U) == 0) continue;
    out.insert(test_support::naive_factor(variables.at(bit)));
  }
  return out;
}

/// Products of the nests and temporaries: the enumeration does not know what clearing costs.
using Products = std::multiset<test_support::NaiveProduct>;
using Classes = std::map<std::pair<Products, Products>, std::uint64_t>;

Products products(const std::vector<cost::Term>& terms, const cost::Variables& variables) {
  Products out;
  for (const cost::Term term : terms) {
    if (cost::access_of(term) != cost::Access::cleared) out.insert(product(term, variables));
  }
  return out;
}

void expect_same_space(const problem::Problem& problem) {
  SCOPED_TRACE(problem::print(problem));
  const auto naive = test_support::naive_space(problem, test_support::NaiveRule::symmetric, 200'000);
  if (!naive || !cost::variables_of(problem).all_intersections) return;
  Classes expected;
  std::set<std::string> texts;
  for (const auto& one : *naive) {
    EXPECT_TRUE(texts.insert(one.text).second) << one.text;
    ++expected[{one.time, Products(one.memory.begin(), one.memory.end())}];
  }
  const support::Cancellation never;
  space::Space space(problem, {});
  EXPECT_EQ(space.count(never).value(), naive->size());
  Classes found;
  const auto variables = cost::variables_of(problem);
  const std::vector<space::ClassCount> classes = space.classes(99, never).value();
  for (const space::ClassCount& one : classes) {
    found[{products(one.cost.time, variables), products(one.cost.memory, variables)}] += one.members.get_ui();
  }
  EXPECT_TRUE(found == expected);
}

problem::Problem kernel(const std::string& name, SpaceOptions options) {
  for (const auto& one : test_support::search_oracle()) {
    if (one.name != name) continue;
    problem::ProblemText text = one.text("default");
    text.space = problem::print(options);
    return problem::build(text).value();
  }
  throw std::out_of_range(name);
}

/// Three, rarely four, operands of up to three indices in random formats; now and then a sparse result.
problem::Problem small_problem(std::mt19937_64& random) {
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const auto format = [&](std::size_t order, bool sparse) {
    std::string levels;
    std::vector<std::string> modes;
    for (std::size_t n = 0; n < order; ++n) {
      levels += (n ? "," : "") + std::string(sparse && pick(0, 1) ? "compressed" : "dense");
      modes.push_back(std::to_string(n));
    }
    std::shuffle(modes.begin(), modes.end(), random);
    for (std::size_t n = 0; n < order; ++n) levels += (n ? "," : ":") + modes[n];
    return levels;
  };
  const auto access = [](const std::string& tensor, const Order& indices) {
    std::string out;
    for (const auto& x : indices) out += (out.empty() ? "(" : ",") + x;
    return tensor + (out.empty() ? out : out + ")");
  };
  problem::ProblemText text;
  std::set<std::string> used;
  std::string product;
  const int count = pick(0, 4) == 0 ? 4 : 3;
  for (int n = 0; n < count; ++n) {
    Order indices{"i", "j", "k", "l"};
    std::shuffle(indices.begin(), indices.end(), random);
    indices.resize(static_cast<std::size_t>(pick(1, count == 4 ? 2 : 3)));
    used.insert(indices.begin(), indices.end());
    const std::string tensor(1, static_cast<char>('B' + n));
    product += (n ? " * " : "") + access(tensor, indices);
    text.formats[tensor] = format(indices.size(), n == 0 || pick(0, 3) == 0);
  }
  Order result(used.begin(), used.end());
  std::shuffle(result.begin(), result.end(), random);
  result.resize(static_cast<std::size_t>(pick(0, std::min<int>(3, static_cast<int>(result.size())))));
  if (!result.empty()) text.formats["A"] = format(result.size(), pick(0, 4) == 0);
  text.expression = access("A", result) + " = " + product;
  text.space = problem::print(choices()[random() % choices().size()]);
  return problem::build(text).value();
}

TEST(WiderSpace, CountsAndClassesOfKernelsEqualNaiveEnumeration) {
  for (const std::string name : {"K4", "K6", "K7"}) {
    for (const SpaceOptions options : choices()) expect_same_space(kernel(name, options));
  }
}

TEST(WiderSpace, CountsAndClassesOfRandomContractionsEqualNaiveEnumeration) {
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    std::mt19937_64 random(seed);
    expect_same_space(small_problem(random));
    if (HasFailure()) return;
  }
}

TEST(WiderSpace, EveryMemberAppliesAndHasTheCostOfItsClass) {
  for (const std::string name : {"K4", "K7"}) {
    for (const SpaceOptions options : choices()) test_support::expect_members_apply(kernel(name, options));
  }
  int checked = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 random(seed);
    const auto problem = small_problem(random);
    space::Space space(problem, {});
    if (space.count(support::Cancellation()).value() > 1500) continue;
    ++checked;
    test_support::expect_members_apply(problem);
    if (HasFailure()) return;
  }
  EXPECT_GE(checked, 15);
}

/// An option adds members and takes none away; together they add more than one by one.
TEST(WiderSpace, OptionsOnlyAdd) {
  const support::Cancellation never;
  for (const auto& one : test_support::search_oracle()) {
    const auto count = [&](SpaceOptions options) {
      return space::Space(kernel(one.name, options), {}).count(never).value();
    };
    const mpz_class plain = count({});
    const mpz_class all = count(SpaceOptions::all());
    for (const SpaceOption option : SpaceOptions::all().list()) {
      EXPECT_GT(count(option), plain) << one.name << " " << problem::name(option);
      EXPECT_LT(count(option), all) << one.name << " " << problem::name(option);
    }
  }
}

}  // namespace
}  // namespace schaas
