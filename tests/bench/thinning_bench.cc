// How many kernels of a frontier are worth compiling: what a client loses that may only choose among the
// first k representatives (server/answers/representatives.h), against the whole frontier, at sizes drawn from
// what the constraints allow.
//
//     thinning_bench [POINTS]     default 2,000 per kernel; some seconds
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "server/answers/representatives.h"
#include "tests/support/search_oracle.h"

namespace schaas {
namespace {

constexpr std::size_t counts[] = {1, 2, 3, 4, 6, 8, 12};
constexpr double cache_elements = 2 << 20;  // half of a last-level cache of 32 MiB, in doubles

/// Ratios of the best time among the first k representatives to the best of all, over the points.
struct Regret {
  std::vector<double> ratios;
  std::size_t unservable = 0;  ///< no representative fits the cache, some schedule does

  double mean() const {
    double sum = 0;
    for (const double ratio : ratios) sum += std::log(ratio);
    return std::exp(sum / static_cast<double>(std::max<std::size_t>(ratios.size(), 1)));
  }
  double quantile(double share) const {
    if (ratios.empty()) return 1;
    std::vector<double> sorted = ratios;
    std::sort(sorted.begin(), sorted.end());
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
  }
};

/// Log-uniform sizes: dense extents 8 to 256, sparse ones 1,000 to a million, 1 to 300 entries under a
/// parent.
cost::Point draw(const problem::Problem& problem, std::mt19937_64& random) {
  const auto between = [&](double low, double high) {
    return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(random));
  };
  const auto variables = cost::variables_of(problem);
  const auto sparse = [&](const std::string& index) {
    return std::any_of(variables.fibers.begin(), variables.fibers.end(), [&](const cost::Variable& fiber) {
      const auto& indices = problem.indices_of(fiber.tensor);
      return std::find(indices.begin(), indices.end(), index) != indices.end();
    });
  };
  cost::Point point(cost::Variables::first_fiber + variables.fibers.size(), 1.0);
  for (std::size_t v = 0; v < variables.extents.size(); ++v)
    point[v] = std::round(sparse(variables.extents[v].index) ? between(1e3, 1e6) : between(8, 256));
  for (std::size_t v = 0; v < variables.fibers.size(); ++v)
    point[cost::Variables::first_fiber + v] = between(1, 300);
  return point;
}

double best_time(const std::vector<frontier::Survivor>& survivors, const std::vector<std::size_t>& among,
                 const cost::Point& point) {
  double best = HUGE_VAL;
  for (const std::size_t s : among) {
    if (cost::evaluate_memory(survivors[s].cost, point) > cache_elements) continue;
    best = std::min(best, cost::evaluate_time(survivors[s].cost, point));
  }
  return best;
}

void measure(const test_support::SearchOracle& kernel, std::size_t points) {
  problem::ProblemText text = kernel.text("default");
  text.constraints.clear();  // dense extents alone are bounded, as most users would
  for (const auto& constraint : kernel.constraints) {
    if (constraint.find("<= 256") != std::string::npos) text.constraints.push_back(constraint);
  }
  const auto problem = problem::build(text).value();
  const auto found = frontier::compute(problem, {}, {}, support::Cancellation()).value();
  std::vector<std::size_t> all(found.survivors.size());
  for (std::size_t s = 0; s < all.size(); ++s) all[s] = s;
  std::printf("%-3s %8zu", kernel.name.c_str(), all.size());
  for (const std::size_t count : counts) {
    const auto chosen = server::representatives(found, problem, count);
    std::mt19937_64 random(17);
    Regret regret;
    for (std::size_t n = 0; n < points; ++n) {
      const cost::Point point = draw(problem, random);
      const double best = best_time(found.survivors, all, point),
                   ours = best_time(found.survivors, chosen, point);
      if (best == HUGE_VAL) continue;
      if (ours == HUGE_VAL) ++regret.unservable;
      if (ours != HUGE_VAL) regret.ratios.push_back(ours / best);
    }
    std::printf("   %5.2f %6.2f %4.1f%%", regret.mean(), regret.quantile(0.99),
                100.0 * static_cast<double>(regret.unservable) / static_cast<double>(points));
    if (count >= all.size()) break;
  }
  std::printf("\n");
}

}  // namespace
}  // namespace schaas

int main(int argc, char** argv) {
  const std::size_t points = argc > 1 ? static_cast<std::size_t>(std::atoll(argv[1])) : 2000;
  std::printf("time with the first k kernels / with the whole frontier: geometric mean, 99th percentile,\n");
  std::printf("share of sizes at which none of the k fits the cache; %zu sizes each\n\nkernel   all", points);
  for (const std::size_t count : schaas::counts) std::printf("   k = %-13zu", count);
  std::printf("\n");
  for (const auto& kernel : schaas::test_support::search_oracle()) schaas::measure(kernel, points);
  return 0;
}
