// Sparse results of expressions beside plain products: every schedule that the search returns by default is
// compiled and run on random tensors against the dense oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontier/frontier.h"
#include "compiler/problem/problem.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/space/listed/result_entries.h"
#include "tests/support/kernel_queue.h"
#include "tests/support/problem_of.h"

namespace schaas {
namespace {

constexpr std::size_t inputs = 6;

using Formats = std::map<std::string, std::string>;

/// `formats`: also of tensors that the expression does not have.
problem::Problem problem_of(const std::string& expression, const Formats& formats) {
  problem::ProblemText text;
  text.expression = expression;
  text.formats = test_support::present(expression, formats);
  const auto built = problem::build(text);
  EXPECT_TRUE(built.ok()) << expression << ": " << (built.ok() ? "" : built.error().message);
  return built.value();
}

frontier::Frontier frontier_of(const problem::Problem& problem) {
  const auto found = frontier::compute(problem, frontier::options_for(problem.profile), {}, {});
  EXPECT_TRUE(found.ok()) << problem::print(problem) << (found.ok() ? "" : found.error().message);
  return found.ok() ? *found : frontier::Frontier{};
}

/// Runs all schedules of the frontiers that it is given, on inputs that those of one frontier share.
class Runs {
 public:
  void add(const std::string& expression, const Formats& formats) {
    const auto problem = problem_of(expression, formats);
    std::vector<schedule::Trace> traces;
    for (const auto& survivor : frontier_of(problem).survivors) traces.push_back(survivor.traces.front());
    add(problem, traces);
  }
  void add(const problem::Problem& problem, const std::vector<schedule::Trace>& traces) {
    const auto trials = std::make_shared<test_support::Trials>(problem, inputs, random_());
    for (const auto& trace : traces) {
      const auto added = queue_.add(trace, problem, trials);
      EXPECT_TRUE(added.ok()) << problem::print(problem) << schedule::print(trace) << ": "
                              << (added.ok() ? "" : added.error().message);
    }
  }
  void finish() {
    queue_.finish();
    EXPECT_GT(queue_.combinations(), 0U);
  }

 private:
  std::mt19937_64 random_{20261125};
  test_support::KernelQueue queue_{inputs, random_, [](const std::string& what) { ADD_FAILURE() << what; }};
};

TEST(ScaledProducts, AreSearchedAsTheContractionOfTheirElements) {
  const Formats csr = {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}, {"D", "csr"}};
  const auto plain = frontier_of(problem_of("A(i,l) = B(i,j) * C(j,k) * D(k,l)", csr));
  for (const std::string scaled :
       {"A(i,l) = -2 * B(i,j) * C(j,k) * D(k,l)", "A(i,l) = abs(B(i,j)) * C(j,k) * relu(D(k,l)) / 3"}) {
    const auto found = frontier_of(problem_of(scaled, csr));
    EXPECT_EQ(found.counts.space, plain.counts.space) << scaled;
    ASSERT_EQ(found.survivors.size(), plain.survivors.size()) << scaled;
    for (std::size_t n = 0; n < plain.survivors.size(); ++n) {
      EXPECT_EQ(found.survivors[n].cost, plain.survivors[n].cost) << scaled;
      EXPECT_EQ(found.survivors[n].traces, plain.survivors[n].traces) << scaled;
    }
  }
}

TEST(ScaledProducts, ComputeWhatTheOracleSays) {
  Runs runs;
  const Formats csr = {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}};
  for (const std::string expression :
       {"A(i,k) = 2 * B(i,j) * C(j,k)", "A(i,k) = -B(i,j) * C(j,k)", "A(i,k) = B(i,j) * C(j,k) / d(i)",
        "A(i,k) = d(i) * B(i,j) * C(j,k) * e(k) / 4", "A(i,k) = 2 * sum(j)(B(i,j) * C(j,k)) / (d(i) * e(k))",
        "A(i,k) = d(i) * B(i,j) * C(j,k) * e(k)", "A(i,k) = relu(B(i,j)) * C(j,k)",
        "A(i,k) = (B(i,j) > 0) * C(j,k) * -3", "min-plus: A(i,k) = 2 * B(i,j) * C(j,k)",
        "max-times: A(i,k) = 2 * B(i,j) * C(j,k)", "max-min: A(i,k) = abs(d(i)) * B(i,j) * C(j,k) * 3"})
    runs.add(expression, csr);
  for (const std::string format : {"csc", "dcsr", "coo", "dense,compressed(unordered)", "dense"})
    runs.add("A(i,k) = B(i,j) * -2 * C(j,k)", {{"A", format}, {"B", "csr"}, {"C", "csr"}});
  runs.add("A(i,k,l) = -B(i,j,k) * C(j,l) / 2", {{"A", "csf"}, {"B", "csf"}, {"C", "csr"}});
  runs.add("A(i,l) = 2 * B(i,j) * C(j,k) * D(k,l)", {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}, {"D", "csr"}});
  runs.add("y(i) = -B(i,j) * x(j) / 2", {{"B", "csr"}});
  runs.add("Y(i,k) = B(i,j) * X(j,k) / d(i)", {{"B", "csc"}});
  runs.finish();
}

TEST(MapsOfEntries, ComputeWhatTheOracleSays) {
  Runs runs;
  for (const std::string format : {"csr", "csc", "dcsr", "coo"})
    for (const std::string expression :
         {"A(i,j) = abs(B(i,j))", "A(i,j) = tanh(B(i,j))", "A(i,j) = log1p(abs(B(i,j)))",
          "A(i,j) = sin(B(i,j)) - expm1(B(i,j))", "A(i,j) = atan(B(i,j)) * erf(B(i,j))",
          "A(i,j) = B(i,j) / s", "A(i,j) = s * B(i,j) * B(i,j)", "A(i,j) = B(i,j) / d(i)",
          "A(i,j) = B(i,j) * e(j)", "A(i,j) = where(B(i,j) > 1, B(i,j), 0)", "A(i,j) = B(i,j) * D(i,j)",
          "A(i,j) = s * B(i,j) + B(i,j) / 3", "s = B(i,j); A(i,j) = B(i,j) / s",
          "s(i) = B(i,j); A(i,j) = B(i,j) / s(i)"})
      runs.add(expression, {{"A", format}, {"B", format}});
  for (const std::string format : {"csf", "dense,compressed,compressed", "dense,dense,compressed"})
    for (const std::string expression :
         {"A(i,j,k) = B(i,j,k) / s", "A(i,j,k) = B(i,j,k) * e(k)", "A(i,j,k) = -B(i,j,k) * d(i)"})
      runs.add(expression, {{"A", format}, {"B", format}});
  runs.add("A(i,j,k) = B(i,j) * e(k)", {{"A", "dense,compressed,dense"}, {"B", "csr"}});
  runs.add("a(i) = b(i) / s", {{"a", "compressed"}, {"b", "compressed"}});
  runs.finish();
}

/// The default answer reads operands from copies, or makes the result in a workspace of all its elements.
TEST(ReorderedResults, AreMadeFromCopies) {
  for (const auto& [expression, formats] : std::vector<std::pair<std::string, Formats>>{
           {"A(j,i) = B(i,j)", {{"A", "csr"}, {"B", "csr"}}},
           {"A(i,j) = B(i,j)", {{"A", "csc"}, {"B", "csr"}}},
           {"A(i,j) = B(i,j)", {{"A", "coo"}, {"B", "csc"}}},
           {"A(j,i) = 2 * B(i,j)", {{"A", "csr"}, {"B", "csr"}}},
           {"A(i,j) = relu(B(i,j))", {{"A", "csc"}, {"B", "csr"}}},
           {"A(k,i) = B(i,j) * C(j,k)", {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}}},
           {"A(k,i) = -B(i,j) * C(j,k)", {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}}},
           {"A(i,j) = B(k,i) * C(k,j)", {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}}},
           {"A(i,k) = B(i,j) * C(j,k)", {{"A", "csr"}, {"B", "csc"}, {"C", "csr"}}},
           {"A(i,j) = D(i,j) * B(i,k) * C(j,k)", {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}, {"D", "csr"}}},
           {"A(i,j) = B(i,j) * B(i,k) * B(j,k)", {{"A", "csr"}, {"B", "csr"}}},
           {"A(i,k) = relu(sum(j)(B(j,i) * C(j,k)))", {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}}},
           {"A(i,k) = B(j,i) * C(j,k) + D(i,k)", {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}, {"D", "csr"}}},
           {"A(k,j,i) = B(i,j,k)", {{"A", "csf"}, {"B", "csf"}}}}) {
    const auto problem = problem_of(expression, formats);
    const auto found = frontier_of(problem);
    EXPECT_TRUE(std::any_of(found.survivors.begin(), found.survivors.end(), [&](const auto& survivor) {
      return !schedule::problem_of(survivor.traces.front(), problem).value().copies.empty();
    })) << expression;
    for (const auto& survivor : found.survivors) {
      const auto& trace = survivor.traces.front();
      const auto with_copies = schedule::problem_of(trace, problem).value();
      EXPECT_EQ(cost::of(schedule::apply(trace, problem).value(), with_copies), survivor.cost)
          << expression << ": " << schedule::print(trace);
    }
  }
}

/// Some schedule of the frontier holds no array with an element for each pair of coordinates.
bool has_small_memory(const problem::Problem& problem) {
  const auto variables = cost::variables_of(problem);
  const cost::Term extents = (cost::Term{1} << variables.extents.size()) - 1;
  const auto survivors = frontier_of(problem).survivors;
  return std::any_of(survivors.begin(), survivors.end(), [&](const auto& survivor) {
    return std::all_of(survivor.cost.memory.begin(), survivor.cost.memory.end(),
                       [&](cost::Term term) { return std::popcount(term & extents) < 2; });
  });
}

TEST(ReorderedResults, NeedNoArrayOfAllElements) {
  for (const std::string expression :
       {"A(i,j) = B(k,i) * C(k,j)", "A(i,j) = D(i,j) * B(i,k) * C(j,k)", "A(i,j) = -2 * B(k,i) * C(k,j)",
        "A(i,j) = B(i,j) * B(i,k) * B(j,k)", "T(i,j) = B(i,k) * B(j,k); A(i,j) = B(i,j) * T(i,j)",
        "A(i,j) = B(k,j) * C(i,k)", "A(i,k) = relu(sum(j)(B(j,i) * C(j,k)))",
        "A(i,k) = B(j,i) * C(j,k) + D(i,k)",
        "T(i,k) = B(j,i) * C(j,k); S(i) = T(i,k); A(i,k) = T(i,k) / S(i)",
        "T(i,j) = B(i,j) + C(i,j); A(i,k) = T(i,j) * T(j,k)",
        "T(i,j) = B(i,j) + C(i,j); A(i,j) = T(i,j) + T(j,i)"})
    EXPECT_TRUE(
        has_small_memory(problem_of(expression, {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}, {"D", "csr"}})))
        << expression;
}

/// A workspace of the whole result costs its elements, however few of them are written: at sizes of a
/// Galerkin product the rows of a copy cost less.
TEST(ReorderedResults, PriceTheirWorkspace) {
  const auto problem = problem_of("A(i,l) = B(j,i) * C(j,k) * D(k,l)",
                                  {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}, {"D", "csr"}});
  const auto variables = cost::variables_of(problem);
  const auto whole = [&](const auto& survivor) {
    return cost::print_memory(survivor.cost, variables).find("i*l") != std::string::npos;
  };
  for (const auto& survivor : frontier_of(problem).survivors) {
    const std::string time = cost::print_time(survivor.cost, variables);
    EXPECT_EQ(whole(survivor), time.find("clear(i*l)") != std::string::npos) << time;
  }
}

TEST(ReorderedResults, AreSearchedWithCopiesWhereSumsAreDistributed) {
  problem::ProblemText text;
  text.expression = "A(i,k) = B(j,i) * C(j,k) + D(i,k)";
  text.formats = {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}, {"D", "csr"}};
  text.space = "copies";
  EXPECT_FALSE(frontier_of(problem::build(text).value()).survivors.empty());
}

// Issue 38: the contraction of the elements of the factors does not read the copy of a divisor.
TEST(ReorderedResults, AreSearchedWithCopiesOfDivisors) {
  problem::ProblemText text;
  text.expression = "A(i) = E(i) * sum(k)(C(k,i) / B(k,i) * (D(k,i) > 0))";
  text.formats = {{"A", "csf"}, {"D", "bitmap"}};
  text.space = "copies";
  EXPECT_FALSE(frontier_of(problem::build(text).value()).survivors.empty());
}

TEST(ReorderedResults, NeedNoCopiesWhereLoopsComeInOrder) {
  for (const std::string expression :
       {"A(i,k) = B(i,j) * C(j,k)", "A(i,j) = B(i,j) + C(i,j)", "A(i,j) = B(i,j) * X(i,k) * Z(j,k)"}) {
    const auto problem = problem_of(expression, {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}});
    for (const auto& survivor : frontier_of(problem).survivors) {
      EXPECT_TRUE(schedule::problem_of(survivor.traces.front(), problem).value().copies.empty())
          << expression;
    }
  }
}

TEST(ReorderedResults, ComputeWhatTheOracleSays) {
  Runs runs;
  const std::vector<std::string> formats = {"csr", "csc", "coo", "dcsc"};
  for (const std::string& a : formats) {
    for (const std::string& b : formats) {
      const Formats two = {{"A", a}, {"B", b}};
      runs.add("A(i,j) = B(i,j)", two);
      runs.add("A(j,i) = -2 * B(i,j)", two);
      runs.add("A(i,j) = relu(B(i,j)) / d(i)", two);
      runs.add("A(i,j) = B(i,j) + C(i,j)", {{"A", a}, {"B", b}, {"C", "csr"}});
      runs.add("A(i,k) = B(i,j) * C(j,k)", {{"A", a}, {"B", b}, {"C", "csr"}});
      runs.add("A(j,i) = B(i,j) - C(j,i) * d(i)", {{"A", a}, {"B", b}, {"C", "csc"}});
    }
  }
  for (const std::string a : {"csf", "csf:2,0,1", "coo:1,2,0", "dense,compressed,dense:2,1,0"}) {
    runs.add("A(i,j,k) = B(i,j,k)", {{"A", a}, {"B", "csf"}});
    runs.add("A(k,i,j) = 2 * B(i,j,k) + C(k,j,i)", {{"A", a}, {"B", "csf"}, {"C", "csf"}});
    runs.add("A(l,j,i) = B(i,j,k) * C(k,l)", {{"A", a}, {"B", "csf"}, {"C", "csr"}});
  }
  runs.add("min-plus: A(k,i) = B(i,j) * C(j,k)", {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}});
  const Formats csr = {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}, {"D", "csr"}};
  for (const std::string expression :
       {"A(i,j) = B(k,i) * C(k,j)", "A(i,j) = D(i,j) * B(i,k) * C(j,k)", "A(i,j) = B(k,i) * B(k,j)",
        "A(i,j) = B(i,j) * B(i,k) * B(j,k)", "max-times: A(i,j) = B(k,i) * C(k,j)",
        "A(i,j) = -2 * B(k,i) * C(k,j)", "A(i,k) = relu(sum(j)(B(j,i) * C(j,k)))",
        "A(i,k) = B(j,i) * C(j,k) + D(i,k)",
        "T(i,k) = B(j,i) * C(j,k); S(i) = T(i,k); A(i,k) = T(i,k) / S(i)"})
    runs.add(expression, csr);
  runs.add("S(i) = B(i,j); A(j,i) = B(i,j) / S(i)", {{"A", "csr"}, {"B", "csr"}});
  runs.finish();
}

/// Products over sums of a sparse operand and of products in its indices (distributed_sums.h).
TEST(DistributedSums, ComputeWhatTheOracleSays) {
  constexpr std::size_t every = 4;  // schedules of a frontier
  Runs runs;
  std::size_t number = 0;
  for (const auto& [expression, format] : std::vector<std::pair<std::string, std::string>>{
           {"A(i,k) = (B(i,j) - sum(l)(X(i,l) * Y(j,l))) * Y(j,k)", "csr"},
           {"A(j,k) = (B(i,j) - sum(l)(X(i,l) * Y(j,l))) * X(i,k)", "coo"},
           {"s = sum(i,j)(pow(B(i,j) - sum(k)(X(i,k) * Y(j,k)), 2))", "csr"},
           {"y(i) = exp(B(i,j)) * x(j)", "csc"},
           {"A(i,k) = (B(i,j) + u(i) * v(j)) * C(j,k)", "csr"},
           {"A(i,r) = (B(i,j,k) - sum(l)(X(i,l) * Y(j,l) * Z(k,l))) * Y(j,r) * Z(k,r)", "csf"}}) {
    const auto problem = problem_of(expression, {{"B", format}});
    std::vector<schedule::Trace> traces;
    for (const auto& survivor : frontier_of(problem).survivors)
      if (number++ % every == 0) traces.push_back(survivor.traces.front());
    runs.add(problem, traces);
  }
  runs.finish();
}

/// Small whole powers are products in the printed code, in vector loops and out of them.
TEST(Powers, ComputeWhatTheOracleSays) {
  Runs runs;
  for (const std::string exponent : {"2", "3", "4", "-1", "x(i)"}) {
    runs.add("A(i,j) = pow(B(i,j), " + exponent + ")", {{"A", "csr"}, {"B", "csr"}});
    runs.add("y(i) = pow(abs(x(i)) + 1, " + exponent + ")", {});
  }
  runs.finish();
}

/// Results of functions of products, and of several statements, hold what the operands' entries make,
/// whatever the schedule; rows are not filled.
TEST(Entries, AreThoseOfTheExpression) {
  Runs runs;
  const Formats csr = {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}, {"D", "csr"}};
  for (const std::string expression :
       {"T(i,k) = B(i,j) * C(j,k); A(i,k) = T(i,k) * 2", "T(i,k) = B(i,j) * C(j,k); A(i,k) = relu(T(i,k))",
        "T(i,k) = B(i,j) * C(j,k); A(i,k) = T(i,k) + D(i,k)",
        "T(i,k) = B(i,j) * C(j,k); A(i,k) = T(i,k) * T(i,k)",
        "T(i,k) = B(i,j) * C(j,k); A(i,k) = d(i) * T(i,k) * d(k)",
        "T(i,k) = B(i,j) * C(j,k); A(i,k) = T(i,k) / d(k)",
        "T(i,k) = B(i,j) * C(j,k); A(i,l) = T(i,k) * D(k,l)",
        "T(i,k) = B(i,j) * C(j,k); S(i) = T(i,k); A(i,k) = T(i,k) / S(i)",
        "T(i,j) = B(i,j) - 2 * C(i,j); A(i,k) = T(i,j) * T(j,k)",
        "T(i,j) = B(i,j) + C(i,j); A(i,j) = (T(i,j) + T(j,i)) / 2",
        "T(i,j) = B(i,j) + C(i,j); A(i,k) = T(i,j) * D(j,k)", "A(i,k) = relu(sum(j)(B(i,j) * C(j,k)))",
        "A(i,k) = B(i,j) * C(k,j)", "A(i,l) = B(i,j) * C(j,k) * D(l,k)",
        "A(i,k) = (B(i,j) + C(i,j)) * D(j,k)", "A(i,k) = B(i,j) * (C(j,k) - 2 * D(j,k))",
        "A(i,k) = abs(B(i,j) - C(i,j)) * D(j,k) / d(k)", "A(i,k) = D(k,j) * relu(B(i,j))",
        "P(i,j) = where(B(i,j) != 0, exp(B(i,j)), 0); S(i) = P(i,j); A(i,j) = P(i,j) / S(i)"})
    runs.add(expression, csr);
  // Issue 38: accumulators keep what `or` has written, too.
  runs.add("A(j) = 2 * sum(k)(C(k,j) * B(j,k)) * (E(j) - D(j)) * abs(or(l)(G(j,l) * F(l)))",
           {{"A", "csf"}, {"C", "dcsc"}, {"D", "csf"}, {"E", "bitmap"}, {"F", "csf"}, {"G", "coo"}});
  runs.add("A(k,m) = D(m) / (B(n,m) > 0) * tanh(or(i)(C(i,k) * B(n,i)))",
           {{"A", "csc"}, {"B", "coo"}, {"C", "csr"}});
  for (const std::string format : {"compressed", "bitmap", "hashed", "dense"}) {
    const Formats vectors = {{"A", "csr"}, {"B", "csr"}, {"C", "dcsr"}, {"v", format}, {"w", "compressed"}};
    for (const std::string expression :
         {"A(i,j) = v(i) * v(j)", "A(i,j) = v(i) * w(j)", "A(i,j) = w(i) * v(j)", "A(i,j) = v(i) * B(i,j)",
          "A(i,j) = v(i) * C(i,j)", "A(i,j) = v(i) * w(j) + B(i,j)", "A(i,k) = v(i) * B(i,j) * B(j,k)",
          "A(i,j) = relu(v(i)) * w(i) * B(i,j)"})
      runs.add(expression, vectors);
    runs.add("A(i,j,k) = v(i) * w(j) * v(k)",
             {{"A", "dense,dense,compressed"}, {"v", format}, {"w", "compressed"}});
  }
  runs.finish();
}

/// Rows at whose coordinate a factor stores nothing stay empty, though their positions are written. The other
/// order of loops gathers what is written in a workspace.
TEST(Entries, AreThoseThatFactorsOfRowsAllow) {
  Runs runs;
  const schedule::Trace by_columns{{schedule::Reorder{{}, {"j", "i"}}}};
  for (const std::string format : {"compressed", "bitmap", "hashed"}) {
    for (const std::string expression : {"A(i,j) = v(i) * v(j)", "A(i,j) = v(i) * w(j)"})
      runs.add(problem_of(expression, {{"A", "csr"}, {"v", format}, {"w", "compressed"}}),
               {schedule::Trace{}, by_columns});
  }
  runs.finish();
}

/// Loops of reductions walk what is stored, whatever the monoid: rows times entries of a row, no rows times
/// columns.
/// Entries of each schedule of a frontier.
std::vector<space::ResultEntries> entries_of(const frontier::Frontier& found,
                                             const problem::Problem& problem) {
  std::vector<space::ResultEntries> out;
  for (const auto& survivor : found.survivors)
    out.push_back(space::result_entries(survivor.traces.front(), problem).value());
  return out;
}

// A part of a space, and a search that ends before it has any schedule, may know no loops but those over all
// elements.
TEST(Entries, AreNoMoreOfPartsAndOfFirstSchedules) {
  const std::vector<std::string> expressions = {
      "A(i,k) = B(i,j) * C(j,k)",          "A(i,k) = B(i,j) * C(k,j)",
      "A(i,k) = B(j,i) * C(j,k)",          "A(i,k) = 2 * B(i,j) * C(k,j)",
      "A(i,k) = B(j,i) * C(k,j) / 3",      "A(i,j) = D(i,j) * B(i,k) * C(j,k)",
      "A(i,l) = B(i,j) * C(k,j) * D(k,l)", "A(i,j) = B(j,i)"};
  std::size_t kept = 0;
  for (const std::string& expression : expressions) {
    for (const bool by_rows : {true, false}) {
      const std::string format = by_rows ? "csr" : "csc";
      const auto problem = problem_of(expression, {{"A", "csr"}, {"B", "csr"}, {"C", format}, {"D", "csr"}});
      const auto whole = entries_of(frontier_of(problem), problem);
      for (const std::size_t orders : {0, 1, 4}) {
        SCOPED_TRACE(expression + ", " + format + ", operand orders " + std::to_string(orders));
        frontier::Options options = frontier::options_for(problem.profile);
        options.search_seconds = orders == 0 ? 1e-9 : 1;
        options.operand_orders = orders;
        const auto found = frontier::compute(problem, options, {}, {});
        if (!found.ok()) continue;  // a part may have no schedule
        for (const space::ResultEntries& entries : entries_of(*found, problem)) {
          ++kept;
          for (const space::ResultEntries& others : whole) {
            // The schedule that needs no search has the fewest entries of a default nest.
            EXPECT_FALSE(entries.filled && !others.filled);
            if (orders == 0) continue;
            EXPECT_FALSE(space::has_no_more_entries(others, entries) &&
                         !space::has_no_more_entries(entries, others));
          }
        }
      }
    }
  }
  EXPECT_GT(kept, 30U);
}

TEST(StoredReductions, WalkEntries) {
  for (const std::string expression :
       {"y(i) = max(j)(B(i,j))", "y(i) = min(j)(B(i,j) * C(i,j))", "y(i) = or(j)(B(i,j) > 2)",
        "y(i) = and(j)(B(i,j))", "y(i) = prod(j)(B(i,j))", "y(i) = max(j)(2 - B(i,j)) + x(i)",
        "y(i) = where(B(i,j) > 0, C(i,j), 0)"}) {
    Formats formats = {{"B", "csr"}};
    const auto problem = problem_of(expression, formats);
    const auto found = frontier_of(problem);
    ASSERT_FALSE(found.survivors.empty());
    const auto variables = cost::variables_of(problem);
    const std::string time = cost::print_time(found.survivors.front().cost, variables);
    EXPECT_EQ(time.find("i*j "), std::string::npos) << expression << ": " << time;
    EXPECT_NE(time.find("i*j'"), std::string::npos) << expression << ": " << time;
  }
}

/// Some order of the loops walks entries where each of them reduces a row.
TEST(StoredReductions, WalkEntriesInsideOfColumns) {
  for (const std::string expression :
       {"A(i,k) = max(j)(B(i,j) * X(j,k))", "A(i,k) = prod(j)(1 + B(i,j) * X(j,k))"}) {
    const auto problem = problem_of(expression, {{"B", "csr"}});
    const auto variables = cost::variables_of(problem);
    const auto survivors = frontier_of(problem).survivors;
    EXPECT_TRUE(std::any_of(survivors.begin(), survivors.end(), [&](const auto& survivor) {
      return cost::print_time(survivor.cost, variables).find("*j'") != std::string::npos;
    })) << expression;
  }
}

/// Some schedule walks what is stored where the reduced level is not the innermost one.
TEST(StoredReductions, WalkEntriesOfCopies) {
  for (const auto& [expression, formats] : std::vector<std::pair<std::string, Formats>>{
           {"y(j) = max(i)(B(i,j))", {{"B", "csr"}}},
           {"y(i) = min(j)(B(i,j))", {{"B", "csc"}}},
           {"y(j) = prod(i)(B(i,j))", {{"B", "coo"}}},
           {"y(j) = and(i)(B(i,j) + C(i,j))", {{"B", "csr"}, {"C", "csr"}}},
           {"y(j) = max(i)(B(i,j)) - min(k)(B(k,j))", {{"B", "csr"}}},
           {"Y(j,k) = max(i)(B(i,j,k))", {{"B", "csf"}}},
           {"A(i,j) = B(i,j) / max(k)(abs(B(k,j)))", {{"A", "csr"}, {"B", "csr"}}}}) {
    // Counts of f64 are exact, and need no copy (problem/rewrites/counted_unstored.h).
    const auto problem =
        problem::build({.expression = expression, .formats = formats, .value_type = "f32"}).value();
    const auto variables = cost::variables_of(problem);
    const auto survivors = frontier_of(problem).survivors;
    EXPECT_TRUE(std::any_of(survivors.begin(), survivors.end(), [&](const auto& survivor) {
      const std::string time = cost::print_time(survivor.cost, variables);
      return time.find("copy") != std::string::npos && time.find("*i ") == std::string::npos &&
             time.find("*k ") == std::string::npos;
    })) << expression;
  }
}

TEST(StoredReductions, NeedNoCopiesWhereZerosAreIgnoredOrRowsReducedOrCountsExact) {
  for (const std::string expression :
       {"y(j) = or(i)(B(i,j))", "y(j) = sum(i)(relu(B(i,j)))", "y(i) = max(j)(B(i,j))",
        "s = max(i,j)(B(i,j))", "y(j) = max(i)(B(i,j))", "y(j) = sum(i)(abs(B(i,j) - m(j)))"}) {
    const auto problem = problem_of(expression, {{"B", "csr"}});
    for (const auto& survivor : frontier_of(problem).survivors) {
      EXPECT_TRUE(schedule::problem_of(survivor.traces.front(), problem).value().copies.empty())
          << expression;
      EXPECT_EQ(cost::print_time(survivor.cost, cost::variables_of(problem)).find("*j*i"), std::string::npos)
          << expression;
    }
  }
}

TEST(StoredReductions, ComputeWhatTheOracleSays) {
  Runs runs;
  for (const std::string format : {"csr", "csc", "coo", "dcsr", "bitmap", "hashed", "banded"}) {
    const Formats one = {{"B", format}};
    for (const std::string monoid : {"max", "min", "or", "and", "prod"}) {
      runs.add("y(i) = " + monoid + "(j)(B(i,j))", one);
      runs.add("y(j) = " + monoid + "(i)(B(i,j))", one);
      runs.add("y(i) = " + monoid + "(j)(B(i,j) - 1)", one);
    }
    runs.add("A(i,k) = max(j)(B(i,j) * X(j,k))", one);
    runs.add("y(i) = max(j)(B(i,j) + C(i,j))", {{"B", format}, {"C", "csr"}});
    runs.add("y(j) = max(i)(B(i,j) + C(i,j))", {{"B", format}, {"C", "csr"}});
    runs.add("A(j) = max(i)(B(i,j) * C(j,i))", {{"A", "compressed"}, {"B", format}, {"C", "csr"}});
    runs.add("A(i,j) = B(i,j) / max(k)(abs(B(k,j)))", {{"A", "csr"}, {"B", format}});
    runs.add("y(i) = min(j)(B(i,j) * C(i,j)) / 2", {{"B", format}, {"C", "csr"}});
    runs.add("y(i) max= max(j)(B(i,j) * x(j))", one);
    runs.add("s = max(i,j)(B(i,j))", one);
    runs.add("y(i) = where(B(i,j) > 0, C(i,j), 0)", one);
    runs.add("A(i,j) = where(B(i,j) > 0, C(i,j), 0)", {{"A", "csr"}, {"B", format}});
  }
  runs.add("s = max(i)(x(i))", {{"x", "compressed"}});
  for (const std::string expression :
       {"y(i) = max(j,k)(B(i,j,k))", "y(k) = min(i,j)(B(i,j,k))", "Y(j,k) = max(i)(B(i,j,k))",
        "Y(i,k) = prod(j)(B(i,j,k))", "y(j) = max(i)(min(k)(B(i,j,k)))"})
    runs.add(expression, {{"B", "csf"}});
  runs.add("Y(i,k) = max(j)(B(i,j) * C(j,k))", {{"B", "csr"}});
  runs.add("m(i) = max(j)(B(i,j)); A(i,j) = B(i,j) / m(i)", {{"A", "csr"}, {"B", "csr"}});
  runs.add("T(i,j) = C(i,k) * D(k,j); A(i,j) = where(B(i,j) > 0, T(i,j), 0)", {{"A", "csr"}, {"B", "csr"}});
  runs.add("E(i,j) = where(B(i,j) != 0, C(i,j), 0); S(i) = E(i,j); A(i,j) = E(i,j) / S(i)",
           {{"A", "csr"}, {"B", "csr"}});
  runs.finish();
}

}  // namespace
}  // namespace schaas
