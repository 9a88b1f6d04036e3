// What the options that widen the schedule space add on the eight kernels: members, seconds, and what becomes
// of the frontier. A class of the wider frontier is *new* when the plain one does not have it. The last two
// columns compare the least weighted trips of both frontiers at allowed sizes, among classes that fit the
// memory of a cache: the share of sizes where the wider one has less, and how many times less at most.
//
//   build/release/bin/wider_space_bench [K2 ...] [--unconstrained]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <set>

#include "compiler/frontier/frontier.h"
#include "compiler/frontier/proofs/log_proof.h"
#include "compiler/space/space.h"
#include "tests/support/search_oracle.h"

namespace schaas {
namespace {

using problem::SpaceOptions;

std::set<cost::Cost> costs(const frontier::Frontier& found) {
  std::set<cost::Cost> out;
  for (const auto& survivor : found.survivors) out.insert(survivor.cost);
  return out;
}

constexpr std::size_t samples = 4096;
constexpr double cache_elements = 2'621'440;  ///< 20 MiB of f64, the papers' bound

/// Least weighted trips at each size among the classes that fit; of none, the linear nest's are not counted.
std::vector<double> least_trips(const std::set<cost::Cost>& classes, const std::vector<cost::Point>& points) {
  std::vector<double> out;
  for (const auto& point : points) {
    double least = 0;
    for (const auto& one : classes) {
      if (cost::evaluate_memory(one, point) > cache_elements) continue;
      const double trips = cost::evaluate_time(one, point);
      if (least == 0 || trips < least) least = trips;
    }
    out.push_back(least);
  }
  return out;
}

void run(const test_support::SearchOracle& kernel, bool unconstrained) {
  std::vector<SpaceOptions> choices{SpaceOptions()};
  for (const auto option : SpaceOptions::all().list()) choices.emplace_back(option);
  choices.push_back(SpaceOptions::all());
  std::set<cost::Cost> plain;
  std::vector<double> plain_trips;
  for (const SpaceOptions options : choices) {
    problem::ProblemText text = kernel.text("default");
    if (unconstrained) text.constraints.clear();
    text.space = problem::print(options);
    const problem::Problem problem = problem::build(text).value();
    const support::Cancellation never;
    space::Space space(problem, {});
    const auto members = space.count(never);
    const auto start = std::chrono::steady_clock::now();
    const auto found = frontier::compute(problem, frontier::options_for(problem.profile), {}, never);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!found.ok() || !members.ok()) {
      std::printf("%s\n", support::render(found.ok() ? members.error() : found.error()).c_str());
      continue;
    }
    const auto here = costs(*found);
    frontier::LogBounds bounds(problem);
    const frontier::ProvenDominance dominance(bounds, samples, 0);
    const auto trips = least_trips(here, dominance.samples());
    if (options.empty()) {
      plain = here;
      plain_trips = trips;
    }
    double most = 1;
    std::size_t better = 0;
    for (std::size_t n = 0; n < trips.size(); ++n) {
      if (trips[n] >= plain_trips[n] * (1 - 1e-9)) continue;
      ++better;
      most = std::max(most, plain_trips[n] / trips[n]);
    }
    const auto fresh =
        std::count_if(here.begin(), here.end(), [&](const auto& one) { return !plain.count(one); });
    std::printf("%-3s %-46s %22s %9zu %4zu %4lld %8.3f %6.1f%% %6.2f\n", kernel.name.c_str(),
                problem::print(options).c_str(), members->get_str().c_str(), space.states(), here.size(),
                static_cast<long long>(fresh), seconds,
                100.0 * static_cast<double>(better) / static_cast<double>(trips.size()), most);
    const cost::Variables variables = cost::variables_of(problem);
    for (const auto& survivor : found->survivors) {
      if (plain.count(survivor.cost)) continue;
      std::printf("      new: T = %s, M = %s  %s\n", cost::print_time(survivor.cost, variables).c_str(),
                  cost::print_memory(survivor.cost, variables).c_str(),
                  schedule::print(survivor.traces.front()).c_str());
    }
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace schaas

int main(int argc, char** argv) {
  std::vector<std::string> kernels;
  bool unconstrained = false;
  for (int n = 1; n < argc; ++n) {
    if (std::strcmp(argv[n], "--unconstrained") == 0) {
      unconstrained = true;
    } else {
      kernels.emplace_back(argv[n]);
    }
  }
  std::printf(
      "kernel, space, members, states, classes on the frontier, of these new, seconds in all, sizes with "
      "fewer trips, at most how many times fewer\n");
  for (const auto& kernel : schaas::test_support::search_oracle()) {
    if (!kernels.empty() && std::find(kernels.begin(), kernels.end(), kernel.name) == kernels.end()) continue;
    schaas::run(kernel, unconstrained);
  }
  return 0;
}
