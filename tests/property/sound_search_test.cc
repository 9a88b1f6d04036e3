// The frontier at real sizes: random products, random constraints, whole extents and counts of random
// sparsity patterns. At none of them may a schedule of the space beat every survivor.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "compiler/cost/cost.h"
#include "compiler/frontier/frontier.h"
#include "compiler/frontier/proofs/log_proof.h"
#include "compiler/index_notation/extent_classes.h"
#include "compiler/space/listed/appending.h"
#include "compiler/space/space.h"
#include "tests/support/intersections.h"
#include "tests/support/random_problem.h"

namespace schaas {
namespace {

#ifdef SCHAAS_MANY_POINTS
constexpr int pairs_to_check = 100'000;
#else
constexpr int pairs_to_check = 4'000;
#endif
constexpr int points_per_problem = 40;
constexpr std::size_t most_classes = 5'000;

const support::Cancellation never;

/// Extents of all indices and, for each operand, the number of entries its first n levels store, n =
/// 0...order.
struct RealSizes {
  std::map<std::string, std::int64_t> extents;
  std::map<std::string, std::vector<std::int64_t>> stored;
};

class Sizes {
 public:
  Sizes(const problem::Problem& problem, std::mt19937_64& random) : problem_(problem), random_(random) {}

  /// Extents up to `most`, in the mean as large as their square root; patterns from empty to full.
  RealSizes draw(int most) {
    RealSizes sizes;
    const auto classes = index_notation::extent_classes(problem_.statements());
    std::uniform_real_distribution<double> share(0, 1);
    std::map<std::string, std::int64_t> of_class;
    for (const std::string& index : index_notation::index_variables(problem_.statement)) {
      auto& extent = of_class[classes.at(index)];
      if (extent == 0) extent = std::lround(std::pow(most, share(random_)));
      sizes.extents[index] = extent;
    }
    for (const index_notation::Access& operand : problem_.operands()) {
      if (sizes.stored.count(operand.tensor) == 0) sizes.stored[operand.tensor] = pattern(operand, sizes);
    }
    return sizes;
  }

 private:
  /// Counts of the levels of a tensor with random nonzeros.
  std::vector<std::int64_t> pattern(const index_notation::Access& access, const RealSizes& sizes) {
    const format::TensorFormat& format = problem_.formats.at(access.tensor);
    std::vector<std::int64_t> extents;
    double cells = 1;
    for (int level = 0; level < format.order(); ++level) {
      extents.push_back(sizes.extents.at(
          access.indices[static_cast<std::size_t>(format.mode_order[static_cast<std::size_t>(level)])]));
      cells *= static_cast<double>(extents.back());
    }
    std::uniform_real_distribution<double> share(0, 1);
    const auto wanted =
        static_cast<int>(std::min(400.0, cells * std::pow(share(random_), 3) + share(random_)));
    std::set<std::vector<std::int64_t>> nonzeros;
    for (int n = 0; n < wanted; ++n) {
      std::vector<std::int64_t> coordinates;
      for (std::int64_t extent : extents)
        coordinates.push_back(std::uniform_int_distribution<std::int64_t>(0, extent - 1)(random_));
      nonzeros.insert(std::move(coordinates));
    }
    std::vector<std::int64_t> stored{1};
    std::set<std::vector<std::int64_t>> parents{{}};
    for (std::size_t level = 0; level < extents.size(); ++level) {
      std::set<std::vector<std::int64_t>> entries;
      if (format.levels[level] == format::LevelFormat::dense) {
        for (const auto& parent : parents) {
          for (std::int64_t x = 0; x < extents[level]; ++x) {
            auto entry = parent;
            entry.push_back(x);
            entries.insert(std::move(entry));
          }
        }
      } else {
        for (const auto& nonzero : nonzeros)
          entries.emplace(nonzero.begin(), nonzero.begin() + static_cast<std::ptrdiff_t>(level) + 1);
      }
      stored.push_back(static_cast<std::int64_t>(entries.size()));
      parents = std::move(entries);
    }
    return stored;
  }

  const problem::Problem& problem_;
  std::mt19937_64& random_;
};

double value_of(const std::vector<problem::Monomial>& sum, const RealSizes& sizes) {
  double total = 0;
  for (const problem::Monomial& monomial : sum) {
    auto product = static_cast<double>(monomial.coefficient);
    for (const auto& [symbol, exponent] : monomial.powers) {
      const std::int64_t value = symbol.kind == problem::Symbol::Kind::extent
                                     ? sizes.extents.at(symbol.name)
                                     : sizes.stored.at(symbol.name)[static_cast<std::size_t>(symbol.levels)];
      for (int n = 0; n < exponent; ++n) product *= static_cast<double>(value);
    }
    total += product;
  }
  return total;
}

bool allowed(const RealSizes& sizes, const std::vector<problem::Constraint>& constraints) {
  return std::all_of(constraints.begin(), constraints.end(), [&](const problem::Constraint& constraint) {
    return value_of(constraint.lhs, sizes) <= value_of(constraint.rhs, sizes);
  });
}

/// Fibers are averages: entries of a level by entries of the level above.
cost::Point point_of(const RealSizes& sizes, const cost::Variables& variables, std::mt19937_64& random) {
  cost::Point point(static_cast<std::size_t>(cost::Variables::first_fiber) + variables.fibers.size(), 1);
  for (std::size_t n = 0; n < variables.extents.size(); ++n)
    point[n] = static_cast<double>(sizes.extents.at(variables.extents[n].index));
  for (std::size_t n = 0; n < variables.fibers.size(); ++n) {
    if (!cost::is_fiber(variables.fibers[n])) continue;
    const auto& stored = sizes.stored.at(variables.fibers[n].tensor);
    const auto level = static_cast<std::size_t>(variables.fibers[n].level);
    if (stored[level] != 0) {
      point[static_cast<std::size_t>(cost::Variables::first_fiber) + n] =
          static_cast<double>(stored[level + 1]) / static_cast<double>(stored[level]);
    }
  }
  test_support::draw_intersections(variables, point, random);
  return point;
}

/// A comparison of random shape that holds at the sizes.
std::string random_constraint(const problem::Problem& problem, const RealSizes& sizes,
                              std::mt19937_64& random) {
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  const auto indices = index_notation::index_variables(problem.statement);
  const auto operands = problem.operands();
  const auto index = [&] {
    return indices[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(indices.size()) - 1))];
  };
  const auto factor = [&] { return std::to_string(pick(1, 4)) + "*"; };
  const auto& tensor =
      operands[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(operands.size()) - 1))];
  const int order = static_cast<int>(tensor.indices.size());
  std::string nonzeros, cells;
  double count = 0, all = 1;
  if (order > 0) {
    const auto levels = pick(1, order);
    nonzeros = "nnz(" + tensor.tensor + "," + std::to_string(levels) + ")";
    count = static_cast<double>(sizes.stored.at(tensor.tensor)[static_cast<std::size_t>(levels)]);
  }
  const auto compared = [](const std::string& left, double a, const std::string& right, double b) {
    return left + (a <= b ? " <= " : " >= ") + right;
  };
  const std::string x = index(), y = index(), z = index();
  const auto at = [&](const std::string& name) { return static_cast<double>(sizes.extents.at(name)); };
  const auto near = static_cast<std::int64_t>(at(x)) * pick(1, 3);
  switch (pick(0, order > 0 ? 6 : 3)) {
    case 0:
      return std::to_string(std::max<std::int64_t>(1, static_cast<std::int64_t>(at(x)) / 2)) + " <= " + x +
             " <= " + std::to_string(near);
    case 1: {
      const std::string a = factor();
      return compared(a + x, std::stod(a) * at(x), y, at(y));
    }
    case 2:
      return compared(x, at(x), y + " + " + z, at(y) + at(z));
    case 3:
      return compared(x + "*" + y, at(x) * at(y), std::to_string(near) + "*" + z,
                      static_cast<double>(near) * at(z));
    case 4: {
      const std::string a = factor();
      return compared(a + nonzeros, std::stod(a) * count, x + "*" + y, at(x) * at(y));
    }
    case 5: {
      const std::int64_t limit = pick(1, 200);
      return compared(nonzeros, count, std::to_string(limit), static_cast<double>(limit));
    }
    default: {
      for (const std::string& own : tensor.indices) all *= at(own);
      const double density = static_cast<double>(sizes.stored.at(tensor.tensor).back()) / all;
      const std::int64_t parts = pick(1, 20);
      return compared("density(" + tensor.tensor + ")", density, "1/" + std::to_string(parts),
                      1.0 / static_cast<double>(parts));
    }
  }
}

/// A random problem with up to four constraints that some real sizes obey.
problem::ProblemText random_constrained(std::mt19937_64& random) {
  test_support::RandomProblemOptions options;
  options.sparse_result = options.repeats = true;
  problem::ProblemText text = test_support::random_problem_text(options, random);
  const problem::Problem open = problem::build(text).value();
  if (index_notation::index_variables(open.statement).empty()) return text;
  const RealSizes sizes = Sizes(open, random).draw(40);
  for (auto more = random() % 5; more > 0; --more) {
    problem::ProblemText longer = text;
    longer.constraints.push_back(random_constraint(open, sizes, random));
    const auto built = problem::build(longer);
    if (built.ok() && allowed(sizes, built->constraints)) text = std::move(longer);
  }
  return text;
}

/// Temporaries that are small at every allowed size count nothing, as for the search.
double counted_memory(const cost::Cost& cost, frontier::ProvenDominance& objectives,
                      const cost::Point& point) {
  cost::Cost counted = cost;
  std::erase_if(counted.memory, [&](cost::Term term) { return objectives.free(term); });
  return cost::evaluate_memory(counted, point);
}

struct Checked {
  int pairs = 0;
  int dropped = 0;  ///< classes that are not on the frontier
};

/// At `points` allowed sizes each class of the space is no better than some survivor.
Checked check_sound(const problem::Problem& problem, int points, std::mt19937_64& random) {
  space::Space space(problem, {});
  if (space.count(never).value() == 0) return {};
  std::vector<space::ClassCount> classes = space.classes(99, never).value();
  if (space::appends(problem)) {  // also schedules that gather the result in a workspace
    classes.clear();
    const auto all = space::appending_members(problem, 4'000, 1, never).value();
    if (!all) return {};
    for (const auto& member : all->members) classes.push_back({member.cost, member.schedules});
  }
  if (classes.size() > most_classes) return {};
  frontier::Options options = frontier::options_for(problem.profile);
  options.solver_milliseconds = 50;
  const auto found = frontier::compute(problem, options, {}, never).value();
  frontier::LogBounds bounds(problem);
  frontier::ProvenDominance objectives(bounds, 1, frontier::free_elements(problem.profile));
  const auto variables = cost::variables_of(problem);
  // Sizes are drawn for operands, not for copies of them in another order.
  const auto operands = problem.operands();
  const auto is_operand = [&](const auto& fiber) {
    if (!cost::is_fiber(fiber)) return true;
    return std::any_of(operands.begin(), operands.end(),
                       [&](const auto& operand) { return operand.tensor == fiber.tensor; });
  };
  if (!std::all_of(variables.fibers.begin(), variables.fibers.end(), is_operand)) return {};
  Checked checked;
  checked.dropped = static_cast<int>(classes.size() - found.survivors.size());
  std::set<cost::Point> seen;
  Sizes sizes(problem, random);
  for (int attempt = 0; attempt < 10 * points && checked.pairs < points; ++attempt) {
    const RealSizes real = sizes.draw(attempt % 2 == 0 ? 40 : 12);
    if (!allowed(real, problem.constraints)) continue;
    const cost::Point point = point_of(real, variables, random);
    if (!seen.insert(point).second) continue;
    ++checked.pairs;
    const auto values = [&](const cost::Cost& cost) {
      return std::array{cost::evaluate_time(cost, point), cost::evaluate_serial(cost, point),
                        counted_memory(cost, objectives, point)};
    };
    std::vector<std::array<double, 3>> kept;
    for (const frontier::Survivor& one : found.survivors) kept.push_back(values(one.cost));
    for (const space::ClassCount& one : classes) {
      const auto own = values(one.cost);
      const bool covered = std::any_of(kept.begin(), kept.end(), [&](const auto& survivor) {
        return std::equal(survivor.begin(), survivor.end(), own.begin(),
                          [](double a, double b) { return a <= b * (1 + 1e-12); });
      });
      EXPECT_TRUE(covered) << "T = " << cost::print_time(one.cost, variables)
                           << ", M = " << cost::print_memory(one.cost, variables) << "\n"
                           << problem::print(problem);
      if (!covered) return checked;
    }
  }
  return checked;
}

TEST(SoundSearch, NoDroppedScheduleBeatsEverySurvivorAtRealSizes) {
  int pairs = 0, problems = 0, pruned = 0;
  std::uint64_t seed = 0;
  for (; pairs < pairs_to_check && seed < static_cast<std::uint64_t>(pairs_to_check); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto problem = problem::build(random_constrained(random)).value();
    const Checked checked = check_sound(problem, points_per_problem, random);
    if (checked.pairs == 0) continue;
    ++problems;
    pairs += checked.pairs;
    pruned += checked.dropped > 0 ? 1 : 0;
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GE(pairs, pairs_to_check);
  EXPECT_GE(pruned, problems / 4) << "most frontiers are the whole space";
  std::printf("%d pairs of a problem and sizes, %d problems, %d with classes dropped, %llu seeds\n", pairs,
              problems, pruned, static_cast<unsigned long long>(seed));
}

}  // namespace
}  // namespace schaas
