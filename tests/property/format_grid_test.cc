// Expressions that users write, with every sparse matrix in csr, csc and coo by turns, results too, and
// tensors of order three in csf of two orders. Each combination is searched by default and has to have a
// schedule that at 100,000 rows with five entries each neither runs nor stores anything near rows times rows,
// unless its result does. The schedules of the frontier are interpreted against the dense oracle.
// The slow program goes over all combinations, with the seed of the day, the fast one over some, with one
// seed (SCHAAS_SEED=n is another). SCHAAS_COMBINATIONS=n is their number; SCHAAS_ONLY=text: the expressions
// that contain it; SCHAAS_SHOW=1 prints figures.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "compiler/frontier/frontier.h"
#include "compiler/support/contains.h"
#include "tests/support/interpreted_kernel.h"
#include "tests/support/kernel_trial.h"
#include "tests/support/seed.h"

namespace schaas {
namespace {

using Formats = std::map<std::string, std::string>;

/// `sparse`: its sparse tensors, the result among them. `dense`: no schedule leaves out what is not stored
/// yet.
struct Row {
  const char* expression;
  std::vector<std::string> sparse;
  bool dense = false;
};

const std::vector<Row> rows{
    {"y(i) = B(i,j) * x(j)", {"B"}},
    {"y(j) = B(i,j) * x(i)", {"B"}},
    {"y(i) = B(i,j)", {"B"}},
    {"s = B(i,j)", {"B"}},
    {"d(i) = B(i,i)", {"B"}},
    {"y(i) = max(j)(B(i,j))", {"B"}},
    {"y(j) = min(i)(B(i,j))", {"B"}},
    {"y(i) = B(i,j) * x(j) / sum(k)(B(i,k))", {"B"}},
    {"s = x(i) * B(i,j) * y(j)", {"B"}},
    {"y(i) = (B(i,j) + C(i,j)) * x(j)", {"B", "C"}},
    {"y(i) = B(i,j) * C(j,k) * x(k)", {"B", "C"}},
    {"s = B(i,j) * C(i,j)", {"B", "C"}},
    {"s = B(i,j) * C(j,k) * D(k,i)", {"B", "C", "D"}},
    {"Z(i,k) = B(i,j) * X(j,k)", {"B"}},
    {"Z(j,k) = B(i,j) * X(i,k)", {"B"}},
    {"Z(i,k) = (B(i,j) + C(i,j)) * X(j,k)", {"B", "C"}},
    {"Z(i,k) = B(i,j) * C(j,l) * X(l,k)", {"B", "C"}},
    {"A(i,j) = B(i,j)", {"A", "B"}},
    {"A(j,i) = B(i,j)", {"A", "B"}},
    {"A(i,j) = 2 * B(i,j)", {"A", "B"}},
    {"A(j,i) = 2 * B(i,j)", {"A", "B"}},
    {"A(i,j) = -B(i,j)", {"A", "B"}},
    {"A(i,j) = B(i,j) / d(i)", {"A", "B"}},
    {"A(i,j) = d(i) * B(i,j) * e(j)", {"A", "B"}},
    {"A(i,j) = abs(B(i,j))", {"A", "B"}},
    {"A(i,j) = max(B(i,j), 0)", {"A", "B"}},
    {"A(i,j) = sqrt(abs(B(i,j)))", {"A", "B"}},
    {"A(i,j) = where(B(i,j) > 0.5, B(i,j), 0)", {"A", "B"}},
    {"A(i,j) = B(i,j) / sum(k)(B(i,k))", {"A", "B"}},
    {"A(i,j) = where(B(i,j) != 0, exp(B(i,j)), 0) / sum(k)(where(B(i,k) != 0, exp(B(i,k)), 0))", {"A", "B"}},
    {"A(i,j) = 0.5 * (B(i,j) + B(j,i))", {"A", "B"}},
    {"A(i,j) = B(i,j) * X(i,k) * Y(k,j)", {"A", "B"}},
    {"A(i,j) = B(i,j) + C(i,j)", {"A", "B", "C"}},
    {"A(i,j) = B(i,j) - 2 * C(i,j)", {"A", "B", "C"}},
    {"A(i,j) = B(i,j) + C(j,i)", {"A", "B", "C"}},
    {"A(i,j) = B(i,j) * C(i,j)", {"A", "B", "C"}},
    {"A(i,j) = B(i,j) * C(j,i)", {"A", "B", "C"}},
    {"A(i,j) = max(B(i,j), C(i,j))", {"A", "B", "C"}},
    {"A(i,j) = where(B(i,j) > 0, C(i,j), 0)", {"A", "B", "C"}},
    {"A(i,j) = (B(i,j) > 0) * C(i,j)", {"A", "B", "C"}},
    {"A(i,j) = C(i,j) * not(B(i,j))", {"A", "B", "C"}},
    {"A(i,j) = B(i,k) * C(k,j)", {"A", "B", "C"}},
    {"A(i,j) = B(i,k) * C(j,k)", {"A", "B", "C"}},
    {"A(i,j) = B(k,i) * C(k,j)", {"A", "B", "C"}},
    {"A(i,j) = 2 * B(i,k) * C(k,j)", {"A", "B", "C"}},
    {"A(i,j) = -(B(i,k) * C(k,j))", {"A", "B", "C"}},
    {"A(i,j) = B(i,k) * C(k,j) / d(i)", {"A", "B", "C"}},
    // Products that are not stored take part in the maximum.
    {"A(i,j) = max(k)(B(i,k) * C(k,j))", {"A", "B", "C"}, true},
    {"A(i,j) = tanh(sum(k)(B(i,k) * C(k,j)))", {"A", "B", "C"}},
    {"T(i,k) = B(i,j) * C(j,k); A(i,k) = T(i,k) * 2", {"A", "B", "C"}},
    {"A(i,j) = B(i,k) * C(k,j) * D(i,j)", {"A", "B", "C", "D"}},
    {"A(i,j) = B(i,k) * C(k,j) + D(i,j)", {"A", "B", "C", "D"}},
    {"A(i,j) = B(i,k) * (C(k,j) + D(k,j))", {"A", "B", "C", "D"}},
    {"A(i,l) = B(i,j) * C(j,k) * D(k,l)", {"A", "B", "C", "D"}},
};

const std::vector<Row> rows_of_order_three{
    {"Z(i,l) = B(i,j,k) * X(j,l) * Y(k,l)", {"B"}},
    {"y(i) = B(i,j,k) * x(j) * z(k)", {"B"}},
    {"A(i,j,k) = 2 * B(i,j,k)", {"A", "B"}},
    {"A(k,i,j) = B(i,j,k)", {"A", "B"}},
    {"A(i,j,k) = B(i,j,k) + C(i,j,k)", {"A", "B", "C"}},
    {"A(i,j,k) = B(i,j,k) * C(i,j,k)", {"A", "B", "C"}},
};

constexpr double extent = 1e5, narrow = 16, entries = 5e5, result_entries = 25e5;
constexpr double max_time = extent * extent / 10, max_memory = extent * extent / 100;
constexpr std::size_t inputs = 2, max_schedules = 3;

struct Combination {
  std::string expression;
  Formats formats;
  bool dense = false;
};

class Grid {
 public:
  void check(const Combination& combination, std::mt19937_64& random) {
    std::string what = combination.expression;
    for (const auto& [tensor, format] : combination.formats) what += " " + tensor + "=" + format;
    problem::ProblemText text;
    text.expression = combination.expression;
    text.formats = combination.formats;
    const auto problem = problem::build(text);
    if (!problem.ok()) return failed(what, support::render(problem.error()));
    const auto found =
        frontier::compute(*problem, frontier::options_for(problem->profile), {}, support::Cancellation());
    ++searched_;
    if (!found.ok()) return failed(what, support::render(found.error()));
    if (!combination.dense) check_cost(*problem, found->survivors, what);
    check_values(*problem, found->survivors, what, random);
  }

  std::size_t searched() const { return searched_; }
  std::size_t interpreted() const { return interpreted_; }

 private:
  /// The entries that lie above a level: of the modes in `outer`, as far as they are sparse.
  static double entries_of(const std::string& tensor, double coordinates) {
    return std::min(coordinates, tensor == "A" ? result_entries : entries);
  }

  static double value_of(const cost::Variable& variable, const problem::Problem& problem) {
    const auto sizes = sizes_of(problem);
    if (variable.kind == cost::Variable::Kind::extent) return sizes.at(variable.index);
    if (!variable.lists.empty()) {
      double sum = 0, matches = sizes.at(variable.index);
      for (const auto& list : variable.lists) {
        sum += value_of(list, problem);
        matches *= value_of(list, problem) / sizes.at(variable.index);
      }
      return variable.kind == cost::Variable::Kind::steps ? sum : matches;
    }
    const std::string& tensor = variable.copy_of.empty() ? variable.tensor : variable.copy_of;
    double above = 1;
    bool is_dense = true;
    if (variable.copy_of.empty()) {
      const auto& format = problem.formats.at(tensor);
      const auto indices = problem.indices_of(tensor);
      for (int l = 0; l < variable.level; ++l) {
        above *= sizes.at(indices[static_cast<std::size_t>(format.mode_order[l])]);
        is_dense = is_dense && format.levels[l] == format::LevelFormat::dense;
      }
    } else {
      for (const auto& index : variable.outer) above *= sizes.at(index);
      is_dense = variable.outer_dense;
    }
    const double here = entries_of(tensor, above * sizes.at(variable.index));
    return here / (is_dense ? above : entries_of(tensor, above));
  }

  /// Indices of dense tensors alone are narrow.
  static std::map<std::string, double> sizes_of(const problem::Problem& problem) {
    std::map<std::string, double> sizes;
    for (const auto& index : problem.indices()) sizes[index] = narrow;
    for (const auto& [tensor, format] : problem.formats)
      if (!format.all_dense())
        for (const auto& index : problem.indices_of(tensor)) sizes[index] = extent;
    return sizes;
  }

  void check_cost(const problem::Problem& problem, const std::vector<frontier::Survivor>& survivors,
                  const std::string& what) {
    const cost::Variables variables = cost::variables_of(problem);
    cost::Point point(cost::Variables::first_fiber, 1);
    for (std::size_t n = 0; n < variables.extents.size(); ++n)
      point[n] = value_of(variables.extents[n], problem);
    for (const auto& fiber : variables.fibers) point.push_back(value_of(fiber, problem));
    std::string costs;
    for (const auto& survivor : survivors) {
      const double time = cost::evaluate_time(survivor.cost, point),
                   memory = cost::evaluate_memory(survivor.cost, point);
      if (time <= max_time && memory <= max_memory) return;
      costs += "\n  " + cost::print_time(survivor.cost, variables) + " | " +
               cost::print_memory(survivor.cost, variables) + ": " + std::to_string(time) + ", " +
               std::to_string(memory);
    }
    failed(what, "every schedule is dense:" + costs);
  }

  void check_values(const problem::Problem& problem, const std::vector<frontier::Survivor>& survivors,
                    const std::string& what, std::mt19937_64& random) {
    const test_support::Trials trials(problem, inputs, random());
    for (std::size_t n = 0; n < survivors.size() && n < max_schedules; ++n) {
      const auto kernel = test_support::kernel_of(survivors[n].traces.front(), problem);
      if (!kernel.ok()) {
        failed(what, support::render(kernel.error()));
        continue;
      }
      test_support::InterpretedKernel interpreted(*kernel);
      const std::string error = trials.error_of(interpreted.descriptor(), 0, inputs, random);
      if (!error.empty() || !interpreted.error().empty())
        failed(what, schedule::print(survivors[n].traces.front()) + ": " + error + interpreted.error());
      ++interpreted_;
    }
  }

  void failed(const std::string& what, const std::string& why) { ADD_FAILURE() << what << "\n  " << why; }

  std::size_t searched_ = 0, interpreted_ = 0;
};

void add_all(const Row& row, const std::vector<std::string>& formats, std::vector<Combination>& to) {
  std::size_t count = 1;
  for (std::size_t n = 0; n < row.sparse.size(); ++n) count *= formats.size();
  for (std::size_t number = 0; number < count; ++number) {
    Combination& next = to.emplace_back(Combination{row.expression, {}, row.dense});
    std::size_t rest = number;
    for (const auto& tensor : row.sparse) {
      next.formats[tensor] = formats[rest % formats.size()];
      rest /= formats.size();
    }
  }
}

/// The slow program has `all`, the fast one `some`.
std::size_t number_drawn([[maybe_unused]] std::size_t all, [[maybe_unused]] std::size_t some) {
  if (const char* count = std::getenv("SCHAAS_COMBINATIONS")) return std::strtoull(count, nullptr, 10);
#if defined(SCHAAS_WHOLE_GRID)
  return all;
#else
  return some;
#endif
}

std::uint64_t first_seed() {
#if defined(SCHAAS_WHOLE_GRID)
  return test_support::seed_or(test_support::seed_of_the_day());
#else
  return test_support::seed_or(20261128);
#endif
}

TEST(FormatGrid, EveryCombinationHasASparseScheduleThatIsRight) {
  std::vector<Combination> combinations;
  for (const Row& row : rows) add_all(row, {"csr", "csc", "coo"}, combinations);
  for (const Row& row : rows_of_order_three) add_all(row, {"csf", "csf:2,0,1"}, combinations);
  if (const char* only = std::getenv("SCHAAS_ONLY"))
    std::erase_if(combinations,
                  [&](const auto& each) { return each.expression.find(only) == std::string::npos; });
  const std::uint64_t seed = first_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const std::size_t drawn = number_drawn(combinations.size(), 60);
  std::shuffle(combinations.begin(), combinations.end(), random);
  if (combinations.size() > drawn) combinations.resize(drawn);
  Grid grid;
  for (const Combination& combination : combinations) grid.check(combination, random);
  EXPECT_EQ(grid.searched(), combinations.size());
  EXPECT_GE(grid.interpreted(), combinations.size());
  if (std::getenv("SCHAAS_SHOW") != nullptr)
    std::cout << grid.searched() << " combinations, " << grid.interpreted() << " schedules interpreted\n";
}

TEST(FormatGrid, DrawnFormatsHaveASparseScheduleThatIsRight) {
  const std::vector<std::string> of_operands{"csr",  "csc",  "coo",          "coo:1,0",
                                             "dcsr", "dcsc", "dense,hashed", "dense,hashed:1,0"};
  const std::vector<std::string> of_results{"csr", "csc", "coo", "coo:1,0", "dcsr", "dcsc"};
  const std::uint64_t seed = first_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const std::size_t drawn = number_drawn(2'000, 60);
  Grid grid;
  for (std::size_t n = 0; n < drawn; ++n) {
    const Row& row = rows[random() % rows.size()];
    Combination combination{row.expression, {}, row.dense};
    for (const auto& tensor : row.sparse) {
      const auto& formats = tensor == "A" ? of_results : of_operands;
      combination.formats[tensor] = formats[random() % formats.size()];
    }
    grid.check(combination, random);
  }
  EXPECT_EQ(grid.searched(), drawn);
}

}  // namespace
}  // namespace schaas
