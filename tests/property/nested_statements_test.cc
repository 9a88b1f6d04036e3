// Nested statements through the whole compiler: the problem, a search with a small budget, and for up to
// eight schedules of its frontier the trace as text and back, replay, lowering with all passes, and C. Those
// of each third statement are interpreted against the dense oracle; entries of a sparse result that depend on
// the schedule are counted (docs/schedule_space.md, "Sparse results").
// One statement in four is a program of random_program.h. Refusals of the front end, `unsupported` ones of
// kernels and parts of searches without a schedule are counted by code. Failures are an error that calls
// itself ours, an illegal directive in a trace of ours, and a whole search without any schedule.
// SCHAAS_SEED=n is the seed of the first statement, and each next one has the next seed; SCHAAS_STATEMENTS=n
// is their number; SCHAAS_SHOW=1 prints figures.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "compiler/frontier/frontier.h"
#include "tests/support/interpreted_trial.h"
#include "tests/support/kernel_trial.h"
#include "tests/support/nested_statement.h"
#include "tests/support/random_program.h"
#include "tests/support/seed.h"

namespace schaas {
namespace {

#if defined(SCHAAS_MANY_STATEMENTS)
constexpr std::uint64_t statements = 20'000;
#else
constexpr std::uint64_t statements = 100;
#endif
constexpr double search_seconds = 0.1;
constexpr double late_seconds = 0.1;  ///< beyond the budget of a search
constexpr std::size_t max_schedules = 8;
constexpr std::size_t inputs = 3;
constexpr std::size_t shown = 5;
constexpr const char* other_entries = "the result has ";  ///< begins an error of Trials

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Processor time of this thread: other processes do not count.
double seconds_used() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

std::string text_of(const problem::ProblemText& text) {
  std::string out = text.expression;
  for (const auto& [tensor, format] : text.formats) out += " -f " + tensor + "=" + format;
  for (const auto& constraint : text.constraints) out += " --where '" + constraint + "'";
  return out + " --space " + text.space + " --dtype " + text.value_type;
}

/// A count with an example.
struct Refusal {
  std::size_t count = 0;
  std::string example;
};

class Survey {
 public:
  void check(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto text = random() % 4 == 0 ? test_support::random_program_text({}, random)
                                        : test_support::nested_statement_text(random);
    check(text, seed, random);
  }

  void check(const problem::ProblemText& text, std::uint64_t seed, std::mt19937_64& random) {
    seed_ = seed;
    text_ = text;
    try {
      check_statement(random);
    } catch (const std::exception& broken) {
      failed(broken.what());
    }
  }

  int failures() const { return failures_; }
  std::size_t kernels() const { return kernels_; }
  std::size_t interpreted() const { return interpreted_; }

  void print(std::uint64_t drawn) {
    std::cout << drawn << " statements, " << problems_ << " problems, " << complete_ << " whole frontiers, "
              << kernels_ << " kernels, " << interpreted_ << " interpreted, " << failures_ << " failures, "
              << late_ << " late searches\n";
    std::vector<std::pair<std::string, Refusal>> refusals(refusals_.begin(), refusals_.end());
    std::stable_sort(refusals.begin(), refusals.end(),
                     [](const auto& a, const auto& b) { return a.second.count > b.second.count; });
    for (const auto& [code, refusal] : refusals)
      std::cout << refusal.count << " " << code << ", as of " << refusal.example << "\n";
    if (other_entries_.count != 0)
      std::cout << other_entries_.count << " results with other entries than by another schedule, as of "
                << other_entries_.example << "\n";
    std::sort(slowest_.rbegin(), slowest_.rend());
    for (std::size_t n = 0; n < slowest_.size() && n < shown; ++n)
      std::cout << slowest_[n].first << " s " << slowest_[n].second << "\n";
  }

 private:
  void check_statement(std::mt19937_64& random) {
    const auto problem = problem::build(text_);
    if (!problem.ok()) return refused("input", problem.error());
    ++problems_;
    frontier::Options options = frontier::options_for(problem->profile);
    options.search_seconds = search_seconds;
    // The first parts of a search of the server.
    if (random() % 4 == 0 && frontier::has_parts(*problem))
      options.operand_orders = random() % 2 == 0 ? 1 : 16;
    const double start = seconds_used();
    const auto found = frontier::compute(*problem, options, {}, support::Cancellation());
    const double searched = seconds_used() - start;
    if (searched > search_seconds + late_seconds) {
      ++late_;
      slowest_.emplace_back(searched, "search of seed " + std::to_string(seed_) + ": " + text_of(text_));
    }
    if (!found.ok()) return refused(options.operand_orders == 0 ? "search" : "part", found.error());
    complete_ += found->complete ? 1 : 0;
    if (found->survivors.empty()) return failed("no schedule and no error");
    std::vector<schedule::Trace> traces;
    for (const auto& survivor : found->survivors)
      traces.push_back(survivor.traces[random() % survivor.traces.size()]);
    std::shuffle(traces.begin(), traces.end(), random);
    if (traces.size() > max_schedules) traces.resize(max_schedules);
    for (const auto& trace : traces) check_kernel(trace, *problem);
    if (random() % 3 == 0) interpret(traces, *problem, random);
    const double used = seconds_used() - start - searched;
    if (used > search_seconds * 5)
      slowest_.emplace_back(used, "kernels of seed " + std::to_string(seed_) + ": " + text_of(text_));
  }

  void check_kernel(const schedule::Trace& trace, const problem::Problem& problem) {
    trace_ = schedule::print(trace);
    const auto read = schedule::parse(trace_);
    if (!read.ok()) return failed("the trace is not read: " + support::render(read.error()));
    if (*read != trace) return failed("the trace is read as another: " + schedule::print(*read));
    const auto source = test_support::source_of(trace, problem);
    if (source.ok())
      ++kernels_;
    else
      refused("kernel", source.error());
    trace_.clear();
  }

  void interpret(const std::vector<schedule::Trace>& traces, const problem::Problem& problem,
                 std::mt19937_64& random) {
    const std::uint64_t seed = random();
    const test_support::Trials trials(problem, inputs, seed);
    for (const auto& trace : traces) {
      const auto kernel = test_support::kernel_of(trace, problem);
      if (!kernel.ok()) continue;
      trace_ = schedule::print(trace);
      std::string error = test_support::interpreted_error(*kernel, trials, 0, inputs, random);
      if (error.starts_with(other_entries)) {
        if (++other_entries_.count == 1) other_entries_.example = example() + ": " + error;
        error = test_support::interpreted_error(*kernel, test_support::Trials(problem, inputs, seed), 0,
                                                inputs, random);
      }
      if (!error.empty()) failed(error);
      ++interpreted_;
      trace_.clear();
    }
  }

  void refused(const std::string& stage, const support::Diagnostic& why) {
    const bool is_ours = why.family == support::Family::internal || why.code == "illegal-directive" ||
                         (stage == "kernel" && why.family == support::Family::invalid);
    const bool is_unanswered = stage == "search" && why.code == "no-schedule";
    const bool is_failure = is_ours || is_unanswered || why.family == support::Family::exhausted;
    if (is_failure) return failed(stage + ": " + support::render(why));
    Refusal& refusal = refusals_[stage + " " + why.code];
    if (++refusal.count == 1) refusal.example = example() + ": " + why.message;
  }

  std::string example() const {
    const std::string trace = trace_.empty() ? "" : ", " + trace_;
    return "seed " + std::to_string(seed_) + ": " + text_of(text_) + trace;
  }

  void failed(const std::string& what) {
    ++failures_;
    ADD_FAILURE() << "seed " << seed_ << ": " << text_of(text_) << "\n  trace " << trace_ << "\n  " << what;
    trace_.clear();
  }

  std::uint64_t seed_ = 0;
  problem::ProblemText text_;
  std::string trace_;
  int failures_ = 0;
  std::size_t problems_ = 0, complete_ = 0, kernels_ = 0, interpreted_ = 0, late_ = 0;
  std::map<std::string, Refusal> refusals_;
  Refusal other_entries_;
  std::vector<std::pair<double, std::string>> slowest_;
};

TEST(NestedStatements, EndWithoutAnErrorOfOurs) {
  const auto first = test_support::seed_or(20261128);
  const auto wanted = number_from("SCHAAS_STATEMENTS", statements);
  const bool shows = std::getenv("SCHAAS_SHOW") != nullptr;
  Survey survey;
  for (std::uint64_t n = 0; n < wanted; ++n) {
    survey.check(first + n);
    if (shows && n % 1000 == 999) std::cout << n + 1 << " of " << wanted << std::endl;
  }
  if (shows) survey.print(wanted);
  EXPECT_GT(survey.kernels() * 2 + 10, wanted);
}

/// Statements that had no schedule once. The loop over n of the first has one value, and has to wait for m,
/// since A is appended to in the order of its rows. A part of the second one's space is split from a nest
/// that is not legal itself.
TEST(NestedStatements, KnownOnesHaveSchedules) {
  problem::ProblemText equation, product;
  equation.expression = "A(j,m) = B(n,m) * sum(i)(C(j,i) * E(n,j)) * (j + 1 == n)";
  equation.formats = {{"A", "csr"}, {"B", "compressed,dense:1,0"}, {"C", "csr"}};
  product.expression = "A(n,l) = sum(m)(C(m,l) * B(l,m) * D(n,j)) * E(l,j)";
  product.formats = {{"A", "coo:1,0"}, {"B", "csr"}, {"C", "coo:1,0"}, {"D", "coo"}, {"E", "dcsr"}};
  product.space = "all";
  for (const auto& text : {equation, product}) {
    Survey survey;
    for (std::uint64_t seed = 0; survey.interpreted() < 4 && seed < 200; ++seed) {
      std::mt19937_64 random(seed);
      survey.check(text, seed, random);
    }
    EXPECT_GE(survey.interpreted(), 4U);
  }
}

}  // namespace
}  // namespace schaas
