// The search over the eight kernels of SparseAuto, one line each: sizes, classes, seconds per stage, peak
// memory.
//   build/release/bin/search_bench [K2 ...] [--profile default|sparseauto] [--unconstrained] [--list]
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "compiler/frontier/frontier.h"
#include "tests/support/search_oracle.h"

using namespace schaas;

namespace {

struct Arguments {
  std::vector<std::string> kernels, profiles;
  bool unconstrained = false;
  bool list = false;
};

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void print_survivors(const frontier::Frontier& found, const problem::Problem& problem) {
  const cost::Variables variables = cost::variables_of(problem);
  for (const frontier::Survivor& one : found.survivors) {
    std::printf("    %-4s T = %s | M = %s | %s members, %llu trees | %s\n", one.id.c_str(),
                cost::print_time(one.cost, variables).c_str(),
                cost::print_memory(one.cost, variables).c_str(), one.members.c_str(),
                static_cast<unsigned long long>(one.loop_trees), schedule::print(one.traces[0]).c_str());
  }
}

void run(const test_support::SearchOracle& kernel, const std::string& profile, const Arguments& arguments) {
  problem::ProblemText text = kernel.text(profile);
  if (arguments.unconstrained) text.constraints.clear();
  const auto problem = problem::build(text);
  if (!problem.ok()) {
    std::printf("%s\n", support::render(problem.error()).c_str());
    return;
  }
  const support::Cancellation never;
  const auto found = frontier::compute(*problem, frontier::options_for(problem->profile), {}, never);
  if (!found.ok()) {
    std::printf("%s\n", support::render(found.error()).c_str());
    return;
  }
  const auto& n = found->counts;
  const auto& s = found->seconds;
  std::printf(
      "%-3s %-10s %12s %7s %7s %6s | %6llu %6llu %4zu%s | %7.3f %7.3f %7.3f %7.3f %7.3f | %5llu %4llu | "
      "%6.0f\n",
      kernel.name.c_str(), profile.c_str(), n.space.c_str(), n.stage1.c_str(), n.stage2.c_str(),
      n.stage3.c_str(), static_cast<unsigned long long>(n.classes_stage1),
      static_cast<unsigned long long>(n.classes_stage2), found->survivors.size(), found->complete ? " " : "+",
      s.space, s.stage1, s.stage2, s.stage3, s.total, static_cast<unsigned long long>(n.solver_queries),
      static_cast<unsigned long long>(n.solver_unknown), peak_megabytes());
  if (arguments.list) print_survivors(*found, *problem);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  for (int n = 1; n < argc; ++n) {
    if (std::strcmp(argv[n], "--profile") == 0 && n + 1 < argc) {
      arguments.profiles.emplace_back(argv[++n]);
    } else if (std::strcmp(argv[n], "--unconstrained") == 0) {
      arguments.unconstrained = true;
    } else if (std::strcmp(argv[n], "--list") == 0) {
      arguments.list = true;
    } else {
      arguments.kernels.emplace_back(argv[n]);
    }
  }
  if (arguments.profiles.empty()) arguments.profiles = {"sparseauto", "default"};
  std::printf(
      "kernel profile       members  stage1  stage2 stage3 | classes after 1, 2, 3 |  space  stage1  stage2  "
      "stage3   "
      "total s | solver, unknown | peak MB\n");
  for (const auto& kernel : test_support::search_oracle()) {
    const auto& names = arguments.kernels;
    if (!names.empty() && std::find(names.begin(), names.end(), kernel.name) == names.end()) continue;
    for (const std::string& profile : arguments.profiles) run(kernel, profile, arguments);
  }
  return 0;
}
