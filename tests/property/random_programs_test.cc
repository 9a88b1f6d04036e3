#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>

#include "compiler/problem/problem.h"
#include "tests/support/kernel_queue.h"
#include "tests/support/random_problem.h"
#include "tests/support/random_program.h"
#include "tests/support/seed.h"

// Random programs of the whole language in random formats, compiled and run on random tensors, against the
// dense oracle. A combination is a program with its formats, a schedule, and one input. What the front end or
// lowering refuses is counted by code; a refusal that calls itself our bug is a failure. SCHAAS_SEED=n
// chooses another seed; it is in every failure. SCHAAS_SHOW=1 prints what was refused.
namespace schaas {
namespace {

#if defined(SCHAAS_MANY_KERNELS)
constexpr std::size_t combinations_wanted = 20000;
#else
constexpr std::size_t combinations_wanted = 2000;
#endif
constexpr std::size_t inputs = 10;

std::uint64_t seed() { return test_support::seed_or(20260202); }

class Session {
 public:
  Session()
      : random_(seed()), queue_(inputs, random_, [this](const std::string& what) {
          if (++failures_ <= 5) ADD_FAILURE() << what;
        }) {}

  void draw() {
    ++drawn_;
    const auto text = test_support::random_program_text({}, random_);
    const auto problem = problem::build(text);
    if (!problem.ok()) return refused(problem.error(), text.expression);
    std::vector<schedule::Trace> traces{schedule::Trace{}};
    if (random_() % 2 == 0) traces.push_back(test_support::random_trace(*problem, 3, random_));
    for (const auto& trace : traces) {
      const auto added = queue_.add(trace, *problem);
      if (!added.ok()) refused(added.error(), text.expression);
    }
  }

  void finish() {
    queue_.finish();
    if (std::getenv("SCHAAS_SHOW") == nullptr) return;
    for (const auto& [code, count] : refusals_) {
      std::cout << count.first << " " << code << ", as of " << count.second << "\n";
    }
    std::cout << drawn_ << " drawn, " << queue_.combinations() << " combinations, " << queue_.determined()
              << " of " << queue_.elements() << " elements determined\n";
  }

  const test_support::KernelQueue& queue() const { return queue_; }
  std::size_t drawn() const { return drawn_; }
  /// Returns the number of programs refused with this code.
  std::size_t refusals(const std::string& code) const {
    const auto found = refusals_.find(code);
    return found == refusals_.end() ? 0 : found->second.first;
  }
  int failures() const { return failures_; }

 private:
  void refused(const support::Diagnostic& diagnostic, const std::string& expression) {
    auto& count = refusals_[diagnostic.code];
    ++count.first;
    count.second = expression + ": " + diagnostic.message;
  }

  std::mt19937_64 random_;
  int failures_ = 0;
  test_support::KernelQueue queue_;
  std::map<std::string, std::pair<std::size_t, std::string>> refusals_;
  std::size_t drawn_ = 0;
};

TEST(RandomPrograms, ComputeWhatTheOracleSays) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  Session session;
  while (session.queue().combinations() < combinations_wanted && session.failures() < 5 &&
         session.drawn() < combinations_wanted) {
    session.draw();
  }
  session.finish();
  EXPECT_GE(session.queue().combinations(), combinations_wanted);
  EXPECT_EQ(0U, session.refusals("no-loop-order")) << "operands stored against each other are copied";
  EXPECT_GT(session.queue().determined(), session.queue().elements() * 6 / 10);
}

}  // namespace
}  // namespace schaas
