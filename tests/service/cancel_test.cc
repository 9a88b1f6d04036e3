// A long search ends soon after its client cancelled.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <future>
#include <random>
#include <thread>

#include "compiler/frontier/frontier.h"

namespace schaas {
namespace {

using support::Cancellation;
using Steady = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// Seven operands: takes far longer than any moment below.
problem::Problem long_search() {
  problem::ProblemText text;
  text.expression = "A(i,o) = B(i,j) * C(i,k) * D(j,k) * E(j,l) * F(l,m) * G(m,n) * H(n,o)";
  text.formats["B"] = "csr";
  return problem::build(text).value();
}

std::vector<double> moments(std::size_t count, double longest) {
  std::mt19937_64 random(20260301);
  std::vector<double> out;
  for (std::size_t n = 0; n < count; ++n)
    out.push_back(std::uniform_real_distribution<double>(0.0, longest)(random));
  return out;
}

void print(const char* what, std::vector<double> delays) {
  std::sort(delays.begin(), delays.end());
  std::printf("%s: %zu times, median %.1f ms, longest %.1f ms\n", what, delays.size(),
              1e3 * delays[delays.size() / 2], 1e3 * delays.back());
}

// The limit is generous, since the machine may be busy; the aim is 0.1 s.
constexpr double limit = 1.0;

TEST(LongSearches, EndSoonAfterTheyAreCancelled) {
  const problem::Problem problem = long_search();
  std::vector<double> delays;
  for (const double moment : moments(8, 0.8)) {
    Cancellation cancellation;
    auto search =
        std::async(std::launch::async, [&] { return frontier::compute(problem, {}, {}, cancellation); });
    std::this_thread::sleep_for(Seconds(moment));
    const auto start = Steady::now();
    cancellation.cancel();
    const auto answer = search.get();
    delays.push_back(Seconds(Steady::now() - start).count());
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "cancelled");
    EXPECT_LT(delays.back(), limit) << "cancelled after " << moment << " s";
  }
  print("cancelled", delays);
}

TEST(LongSearches, EndSoonAfterTheirDeadline) {
  const problem::Problem problem = long_search();
  std::vector<double> delays;
  for (const double moment : moments(8, 0.8)) {
    const auto deadline = Steady::now() + std::chrono::duration_cast<Steady::duration>(Seconds(moment));
    const auto answer = frontier::compute(problem, {}, {}, Cancellation(deadline));
    delays.push_back(Seconds(Steady::now() - deadline).count());
    // With some operand orders finished there may be an answer; it is marked.
    if (answer.ok()) {
      EXPECT_FALSE(answer->complete);
    } else {
      EXPECT_EQ(answer.error().code, "deadline");
    }
    EXPECT_LT(delays.back(), limit) << "deadline after " << moment << " s";
  }
  print("deadline", delays);
}

}  // namespace
}  // namespace schaas
