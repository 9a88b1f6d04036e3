#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "compiler/frontier/frontier.h"
#include "compiler/problem/problem.h"
#include "tests/support/interpreted_trial.h"
#include "tests/support/kernel_trial.h"
#include "tests/support/random_problem.h"
#include "tests/support/seed.h"

// Every form of index in full: diagonals, shifts, strides, reversed indices, windows, comparisons and numbers
// of indices, at matrices in every named format, alone and beside a second operand, with vectors and matrices
// in every named format as results; in f64 and, by turns, in every other type of values, under the default
// schedule and a random one. Kernels are interpreted, every access checked, against the dense oracle.
// SCHAAS_SEED=n replays a day.
namespace schaas {
namespace {

using Texts = std::vector<std::string>;

constexpr std::size_t inputs = 3;
constexpr std::size_t searched_one_in = 16;
constexpr std::size_t max_schedules = 6;  ///< of a search
constexpr double search_seconds = 0.1;

const Texts& formats() {
  static const Texts all{"dense", "csr", "csc", "dcsr", "dcsc", "coo", "bitmap", "banded", "hashed"};
  return all;
}
const Texts& result_formats() {
  static const Texts all{"dense", "csr", "csc", "dcsr", "dcsc", "coo"};
  return all;
}

/// Right sides of a vector A(i) and of a matrix A(i,j), of the matrix B, maybe a vector w and a matrix C.
const Texts vectors{
    "B(i,i)",
    "B(i+1,i)",
    "B(i,i-1)",
    "B(i,2*i)",
    "B(3-i,i)",
    "B(i+k-1,k)",
    "B(i,j)",
    "B(j,i)",
    "B(i,j+1)",
    "B(i+1,j)",
    "B(2*i+1,j)",
    "B(i,4-j)",
    "i * B(i,j)",
    "(i - j) * B(i,j)",
    "(j <= i) * B(i,j)",
    "(i == j) * B(i,j)",
    "(j == i + 1) * B(j,i)",
    "where(i < j, B(i,j), 2)",
    "B(i,j) * B(j,i)",
    "B(i,j) * B(i+1,j)",
    "B(i,j) + B(i+1,j)",
    "B(i+k-1,j) * w(k)",
    "B(i,j+k) * w(k)",
    "B(i,j) * w(i+j)",
    "B(i+j,j) * w(j)",
    "B(i,j) * w(2*j-i)",
    "B(i,i) - w(i)",
    "B(i,j) * C(j,i)",
    "B(i,j) * C(i,j+1)",
    "B(i+1,j) * C(i,j)",
    "B(i,i) + C(i,i)",
    "max(k)(B(i,k))",
    "max(k)(where(B(i,k) > 0, k, -1))",
};
const Texts matrices{
    "B(j,i)",
    "B(i+1,j)",
    "B(i,j-1)",
    "B(2*i,j)",
    "B(i,3-j)",
    "B(i+j,j)",
    "B(i,i) * w(j)",
    "B(i,i) + w(j)",
    "(i <= j) * B(i,j)",
    "(i < j) * B(j,i)",
    "where(i < j, B(i,j), B(j,i))",
    "(i - j) * B(i,j)",
    "B(i,j) + (i == j)",
    "w(i) * (i == j) - B(i,j)",
    "B(i,j) + B(j,i)",
    "B(i,j) * B(j,i)",
    "B(i,j) + B(i+1,j)",
    "B(i,j) * B(i,j+1)",
    "B(i+k-1,j) * w(k)",
    "B(i,j+k-1) * w(k)",
    "B(i,k) * B(k+1,j)",
    "B(i,k) * C(k,j)",
    "B(i,j) + C(j,i)",
    "B(i+1,j) * C(i,j)",
    "B(i,j) - C(i,j-1)",
    "where(B(i,j) > 0, C(j,i), 0)",
};

class Checks {
 public:
  explicit Checks(std::uint64_t seed) : random_(seed) {}

  /// The problem in f64 and in another type, of those that have its numbers.
  void check(problem::ProblemText text) {
    check_one(text);
    const auto& all = operators::value_types();
    const auto& type = all[++turn_ % all.size()];
    // Numbers without a sign have no difference below 0, and no maximum of nothing that is told from 0.
    const bool goes_below =
        text.expression.find('-') != std::string::npos || text.expression.find("max(") != std::string::npos;
    if (operators::is_unsigned(type.type) && goes_below) return;
    text.value_type = type.name;
    if (text.value_type == "bool") text.expression = "or-and: " + text.expression;
    check_one(text);
  }

  /// A schedule whose kernel was refused or wrong once.
  void check_known(const problem::ProblemText& text, const std::string& trace) {
    const auto problem = problem::build(text).value();
    for (int n = 0; n < 10; ++n) check_schedule(schedule::parse(trace).value(), problem);
  }

  bool enough() const { return failures_ >= 8; }
  std::size_t kernels() const { return kernels_; }
  const std::set<std::string>& types() const { return types_; }

 private:
  void check_one(const problem::ProblemText& text) {
    const auto problem = problem::build(text);
    // A type may have no order, no negative numbers, or another meaning of `+`.
    if (!problem.ok() && text.value_type != "f64") return;
    if (!problem.ok()) return failed(support::render(problem.error()), {}, nullptr);
    types_.insert(text.value_type);
    check_schedule({}, *problem);
    check_schedule(test_support::random_trace(*problem, 4, random_), *problem);
    if (random_() % searched_one_in == 0) check_search(*problem);
  }

  /// What a short search finds: its schedules are all lowered, without a refusal.
  void check_search(const problem::Problem& problem) {
    frontier::Options options = frontier::options_for(problem.profile);
    options.search_seconds = search_seconds;
    const auto found = frontier::compute(problem, options, {}, support::Cancellation());
    if (!found.ok()) return failed("search: " + support::render(found.error()), {}, &problem);
    for (std::size_t n = 0; n < found->survivors.size() && n < max_schedules; ++n)
      check_schedule(found->survivors[n].traces.front(), problem, /*is_ours=*/true);
  }

  /// Inputs are drawn for each schedule: those that the search leaves out may store more zeros.
  void check_schedule(const schedule::Trace& trace, const problem::Problem& problem, bool is_ours = false) {
    const test_support::Trials trials(problem, inputs, random_());
    const auto kernel = test_support::kernel_of(trace, problem);
    if (!kernel.ok()) {
      if (is_ours || kernel.error().family == support::Family::internal || trace.directives.empty())
        failed(support::render(kernel.error()), trace, &problem);
      return;
    }
    const auto error = test_support::interpreted_error(*kernel, trials, 0, inputs, random_);
    if (!error.empty()) failed(error, trace, &problem);
    ++kernels_;
  }

  void failed(const std::string& what, const schedule::Trace& trace, const problem::Problem* problem) {
    ++failures_;
    ADD_FAILURE() << what << (problem == nullptr ? "" : test_support::described(trace, *problem, ""));
  }

  std::mt19937_64 random_;
  std::size_t turn_ = 0, kernels_ = 0;
  int failures_ = 0;
  std::set<std::string> types_;
};

void check_all(Checks& checks, const std::string& head, const Texts& expressions, const Texts& results) {
  for (const auto& expression : expressions) {
    const bool vector = expression.find("w(") != std::string::npos;
    const bool second = expression.find("C(") != std::string::npos;
    for (const auto& a : results) {
      for (const auto& b : formats()) {
        for (const std::string& c : second ? Texts{"dense", "csr", "csc", "coo"} : Texts{""}) {
          for (const std::string& w : vector ? Texts{"dense", "compressed"} : Texts{""}) {
            if (checks.enough()) return;
            problem::ProblemText text;
            text.expression = head + expression;
            text.formats["B"] = b;
            text.formats["A"] = a;
            if (second) text.formats["C"] = c;
            if (vector) text.formats["w"] = w;
            checks.check(text);
          }
        }
      }
    }
  }
}

TEST(IndexForms, OfVectorsComputeWhatTheOracleSays) {
  const std::uint64_t seed = test_support::seed_of_the_day();
  SCOPED_TRACE("SCHAAS_SEED=" + std::to_string(seed));
  Checks checks(seed);
  check_all(checks, "A(i) = ", vectors, {"dense", "compressed"});
  EXPECT_EQ(checks.types().size(), operators::value_types().size());
  EXPECT_GE(checks.kernels(), 3000U);
}

TEST(IndexForms, OfMatricesComputeWhatTheOracleSays) {
  const std::uint64_t seed = test_support::seed_of_the_day();
  SCOPED_TRACE("SCHAAS_SEED=" + std::to_string(seed));
  Checks checks(seed);
  check_all(checks, "A(i,j) = ", matrices, result_formats());
  EXPECT_EQ(checks.types().size(), operators::value_types().size());
  EXPECT_GE(checks.kernels(), 8000U);
}

TEST(IndexForms, UnderKnownSchedulesComputeWhatTheOracleSays) {
  Checks checks(1);
  problem::ProblemText text;
  // Entries of 64 rows were flattened by the width of a band, which is known inside of a row alone.
  text.expression = "A(i,j) = B(i+1,j) * C(i,j)";
  text.formats = {{"A", "csc"}, {"B", "dense,banded:1,0"}, {"C", "csc"}};
  checks.check_known(text, "linear");
  // A loop around one that chooses the element of an atomic write was a vector loop.
  text.expression = "A(i) = B(i+k-1,k)";
  text.formats = {{"B", "dense,banded"}};
  checks.check_known(
      text, "reorder(path={}, order={B_mode1,k,i}); parallelize(path={}, loop=B_mode1, races=atomics)");
  EXPECT_EQ(checks.kernels(), 20U);
}

}  // namespace
}  // namespace schaas
