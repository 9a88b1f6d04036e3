// Programs, sums, masks and products of several sparse operands, at counted work: members of their spaces are
// lowered without passes and interpreted (tests/support/interpreted_kernel.h), and what they do is counted.
// No schedule that the search dropped may be much faster than every one that it kept. SCHAAS_SEED=n chooses
// another seed, SCHAAS_PROGRAMS=n another number of programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <limits>
#include <optional>
#include <random>

#include "compiler/cost/cost.h"
#include "compiler/frontier/frontier.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/space/listed/program.h"
#include "compiler/space/space.h"
#include "tests/support/interpreted_kernel.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/kernel_trial.h"
#include "tests/support/random_program.h"
#include "tests/support/seed.h"

namespace schaas {
namespace {

constexpr std::size_t most_members = 40;
/// Rows are not of average length and their patterns not independent, as costs take them to be; access
/// classes weigh what an average processor takes.
constexpr double slack = 2, few_steps = 4000;

const support::Cancellation never;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Extents of 8 to 24, densities from 0.02 to 0.9.
test_support::RandomInput random_input(const problem::Problem& problem, std::mt19937_64& random) {
  test_support::Extents extents;
  const auto common = std::uniform_int_distribution<std::int64_t>(8, 24)(random);
  for (const auto& index : problem.indices())
    extents[index] = random() % 2 == 0 ? common : std::uniform_int_distribution<std::int64_t>(8, 24)(random);
  return test_support::random_input(problem, extents, random);
}

/// Options under which a search takes no longer than proofs without a solver do, about.
frontier::Options quick_options(const problem::Problem& problem) {
  frontier::Options options = frontier::options_for(problem.profile);
  options.solver_milliseconds = 50;
  options.solver_total_milliseconds = 500;
  return options;
}

struct Members {
  std::vector<schedule::Trace> kept, some;  ///< representatives of the frontier; members of the space
};

/// Members that begin with these directives.
void add_members(const schedule::Trace& begin, const problem::Problem& asked,
                 std::vector<schedule::Trace>& out) {
  const auto problem = schedule::problem_of(begin, asked);
  if (!problem.ok()) return;
  const auto found = space::program_members(schedule::default_nest(*problem), *problem, {}, never);
  if (!found.ok()) return;
  for (const auto& member : found->members) {
    auto trace = member.trace;
    trace.directives.insert(trace.directives.begin(), begin.directives.begin(), begin.directives.end());
    if (!trace.directives.empty()) out.push_back(std::move(trace));
  }
}

std::optional<Members> members_of(const problem::Problem& problem, std::mt19937_64& random) {
  const auto found = frontier::compute(problem, quick_options(problem), {}, never);
  if (!found.ok()) return std::nullopt;
  Members members;
  for (const auto& survivor : found->survivors) members.kept.push_back(survivor.traces.front());
  const schedule::Trace all = schedule::default_trace(problem);
  schedule::Trace copies = all;
  std::erase_if(copies.directives, [](const schedule::Directive& directive) {
    return std::holds_alternative<schedule::Mask>(directive);
  });
  add_members(all, problem, members.some);
  if (copies != all) add_members(copies, problem, members.some);
  std::shuffle(members.some.begin(), members.some.end(), random);
  if (members.some.size() > most_members) members.some.resize(most_members);
  return members;
}

/// Kernel of a schedule; nothing where lowering refuses the schedule. A refusal that is an error of ours
/// fails the test.
std::optional<loop_ir::Kernel> kernel_or_failure(const schedule::Trace& trace,
                                                 const problem::Problem& problem,
                                                 const lower::PassList& passes) {
  try {
    auto kernel = test_support::kernel_of(trace, problem, passes);
    if (kernel.ok()) return std::move(kernel).value();
    const bool ours =
        kernel.error().family == support::Family::internal || kernel.error().code == "illegal-directive";
    EXPECT_FALSE(ours) << support::render(kernel.error()) << test_support::described(trace, problem, "");
  } catch (const std::exception& broken) {
    ADD_FAILURE() << broken.what() << test_support::described(trace, problem, "");
  }
  return std::nullopt;
}

/// Weighted work of one run on one thread; nothing where the schedule cannot be lowered.
std::optional<double> work_of(const schedule::Trace& trace, const problem::Problem& problem,
                              const test_support::Trials& trials, std::mt19937_64& random) {
  const auto kernel = kernel_or_failure(trace, problem, {});
  if (!kernel) return std::nullopt;
  test_support::InterpretedKernel interpreted(*kernel);
  const auto error = trials.error_of(interpreted.descriptor(), 0, test_support::Cuts::none, random);
  EXPECT_EQ(error + interpreted.error(), "") << test_support::described(trace, problem, "");
  const auto work = interpreted.work();
  return work.leaves + work.cleared + work.jumps * 5 + work.functions * cost::weight(cost::Access::function) +
         work.steps * cost::weight(cost::Access::merged);
}

/// Cost and trace of a schedule, for a failure.
std::string priced(const schedule::Trace& trace, const problem::Problem& asked, double work) {
  const auto problem = schedule::problem_of(trace, asked).value();
  const auto cost = cost::of(schedule::apply(trace, asked).value(), problem);
  return "\n  " + std::to_string(work) + " counted, " + cost::print_time(cost, cost::variables_of(problem)) +
         ", by " + schedule::print(trace);
}

TEST(CountedPrograms, NoDroppedScheduleBeatsEverySurvivorInCountedWork) {
  const auto wanted = number_from("SCHAAS_PROGRAMS", 20);
  const auto first = test_support::seed_or(20261127);
  // Which entries of a sparse result a schedule appends decides whether it is one of the space.
  test_support::RandomProgramOptions options;
  options.sparse_results = false;
  std::size_t programs = 0, compared = 0, dropped_alone = 0;
  int failures = 0;
  for (std::uint64_t seed = first; programs < wanted && failures < 5; ++seed) {
    std::mt19937_64 random(seed);
    const auto problem = problem::build(test_support::random_program_text(options, random));
    if (!problem.ok() || operators::is_integer(problem->value_type) ||
        operators::is_complex(problem->value_type))
      continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto members = members_of(*problem, random);
    if (!members || members->some.size() < 2) continue;
    const test_support::Trials trials(*problem, {random_input(*problem, random)});
    double best = std::numeric_limits<double>::infinity();
    std::string survivors;
    for (const auto& trace : members->kept) {
      const auto work = work_of(trace, *problem, trials, random);
      if (!work) continue;
      best = std::min(best, *work);
      survivors += priced(trace, *problem, *work);
    }
    ++programs;
    for (const auto& trace : members->some) {
      const auto own = work_of(trace, *problem, trials, random);
      if (!own) continue;
      ++compared;
      dropped_alone += *own < best ? 1 : 0;
      if (best <= slack * *own + few_steps) continue;
      ++failures;
      ADD_FAILURE() << "dropped" << priced(trace, *problem, *own) << "\nsurvivors" << survivors
                    << test_support::described(trace, *problem, "");
      break;
    }
  }
  std::cout << programs << " programs, " << compared << " members, " << dropped_alone
            << " with less counted work\n";
  EXPECT_EQ(programs, wanted);
}

// Issue 38: schedules that merge a list of a condition, or unite lists of two terms, seemed as fast as those
// whose loops run over extents.
TEST(CountedPrograms, SurvivorsOfProgramsThatFailedOnceAreFast) {
  for (const std::uint64_t seed : {300170119, 300220058, 300250004}) {
    std::mt19937_64 random(seed);
    test_support::RandomProgramOptions options;
    options.sparse_results = options.coordinates = false;
    const auto problem = problem::build(test_support::random_program_text(options, random)).value();
    const auto members = members_of(problem, random).value();
    const test_support::Trials trials(problem, {random_input(problem, random)});
    const auto least = [&](const std::vector<schedule::Trace>& traces) {
      double best = std::numeric_limits<double>::infinity();
      for (const auto& trace : traces)
        best = std::min(best, work_of(trace, problem, trials, random).value_or(best));
      return best;
    };
    EXPECT_LE(least(members.kept), slack * least(members.some) + few_steps) << "seed " << seed;
  }
}

// Issue 38: two products of sums over one index, equal but for their order, had different normal forms.
TEST(CountedPrograms, SumsOverOneIndexAreDistributed) {
  std::mt19937_64 random(500520154);
  test_support::RandomProgramOptions options;
  options.coordinates = false;
  const auto problem = problem::build(test_support::random_program_text(options, random)).value();
  const auto found = frontier::compute(problem, quick_options(problem), {}, never).value();
  for (const auto& survivor : found.survivors)
    EXPECT_TRUE(kernel_or_failure(survivor.traces.front(), problem, lower::all_passes()));
}

// Traces that the search writes are replayed, and lowered with all passes.
TEST(CountedPrograms, EverySurvivorHasAKernel) {
  const auto wanted = number_from("SCHAAS_PROGRAMS", 20) * 3;
  const auto first = test_support::seed_or(20261128);
  std::size_t programs = 0, kernels = 0;
  std::pair<double, std::uint64_t> slowest{};
  for (std::uint64_t seed = first; programs < wanted && !HasFailure(); ++seed) {
    std::mt19937_64 random(seed);
    const auto problem = problem::build(test_support::random_program_text({}, random));
    if (!problem.ok()) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::clock_t start = std::clock();  // of this process: others may be at work
    const auto found = frontier::compute(*problem, quick_options(*problem), {}, never);
    const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    slowest = std::max(slowest, {took, seed});
    if (std::getenv("SCHAAS_SHOW") != nullptr && found.ok())
      std::cout << seed << ": " << took << " s, " << found->counts.space << " schedules, "
                << found->survivors.size() << " kept, " << problem::print(*problem) << "\n";
    if (!found.ok()) {
      EXPECT_NE(found.error().family, support::Family::internal) << support::render(found.error());
      continue;
    }
    ++programs;
    for (const auto& survivor : found->survivors)
      kernels += kernel_or_failure(survivor.traces.front(), *problem, lower::all_passes()) ? 1 : 0;
  }
  std::cout << programs << " programs, " << kernels << " kernels, slowest search " << slowest.first
            << " s, of seed " << slowest.second << "\n";
  EXPECT_GE(kernels, wanted);
}

// What a client gets first: schedules of a part, and of a search that ends before it has any.
TEST(CountedPrograms, FirstSchedulesComputeWhatTheOracleSays) {
  const auto wanted = number_from("SCHAAS_PROGRAMS", 20) * 3;
  const auto first = test_support::seed_or(20261129);
  std::size_t programs = 0, kernels = 0;
  for (std::uint64_t seed = first; programs < wanted && !HasFailure(); ++seed) {
    std::mt19937_64 random(seed);
    const auto problem = problem::build(test_support::random_program_text({}, random));
    if (!problem.ok() || operators::is_integer(problem->value_type) ||
        operators::is_complex(problem->value_type))
      continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    ++programs;
    const test_support::Trials trials(*problem, {random_input(*problem, random)});
    for (const bool part : {true, false}) {
      if (part && !frontier::has_parts(*problem)) continue;
      frontier::Options options = quick_options(*problem);
      options.search_seconds = part ? 0.1 : 1e-9;
      options.operand_orders = options.memory_depth = part ? 1 : 0;
      options.stage1 = part;
      const auto found = frontier::compute(*problem, options, {}, never);
      if (!found.ok()) {
        EXPECT_NE(found.error().family, support::Family::internal) << support::render(found.error());
        EXPECT_NE(found.error().family, support::Family::exhausted) << support::render(found.error());
        continue;
      }
      for (const auto& survivor : found->survivors)
        kernels += work_of(survivor.traces.front(), *problem, trials, random) ? 1 : 0;
    }
  }
  std::cout << programs << " programs, " << kernels << " kernels\n";
  EXPECT_GE(kernels, wanted);
}

}  // namespace
}  // namespace schaas
