#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>

#include "compiler/problem/problem.h"
#include "compiler/schedule/apply.h"
#include "tests/support/kernel_batch.h"
#include "tests/support/kernel_trial.h"
#include "tests/support/random_problem.h"
#include "tests/support/random_program.h"

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
constexpr std::size_t batch_size = 32;

std::uint64_t seed() {
  const char* text = std::getenv("SCHAAS_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 20260202;
}

struct Waiting {
  std::shared_ptr<test_support::Trials> trials;
  std::string source;
  std::string description;
};

class Session {
 public:
  Session() : random_(seed()) {}

  void draw() {
    ++drawn_;
    const auto text = test_support::random_program_text({}, random_);
    const auto problem = problem::build(text);
    if (!problem.ok()) return refused(problem.error(), text.expression);
    std::vector<schedule::Trace> traces{schedule::Trace{}};
    if (random_() % 2 == 0) traces.push_back(test_support::random_trace(*problem, 3, random_));
    std::shared_ptr<test_support::Trials> trials;
    for (const auto& trace : traces) {
      auto source = source_or_error(trace, *problem);
      if (!source.ok()) {
        refused(source.error(), text.expression);
        if (source.error().family == support::Family::internal) {
          fail(test_support::described(trace, *problem, support::render(source.error())));
        }
        continue;
      }
      if (!trials) {
        trials = std::make_shared<test_support::Trials>(*problem, inputs, random_());
        elements_ += trials->elements();
        determined_ += trials->determined_elements();
      }
      auto& waiting = waiting_[problem->value_type];
      waiting.push_back({trials, std::move(source).value(), test_support::described(trace, *problem, "")});
      if (waiting.size() == batch_size) run(waiting);
    }
  }

  void finish() {
    for (auto& [type, waiting] : waiting_) run(waiting);
    if (std::getenv("SCHAAS_SHOW") == nullptr) return;
    for (const auto& [code, count] : refusals_) {
      std::cout << count.first << " " << code << ", as of " << count.second << "\n";
    }
    std::cout << drawn_ << " drawn, " << combinations_ << " combinations, " << determined_ << " of "
              << elements_ << " elements determined\n";
  }

  std::size_t combinations() const { return combinations_; }
  std::size_t drawn() const { return drawn_; }
  int failures() const { return failures_; }
  double determined_share() const {
    return static_cast<double>(determined_) / static_cast<double>(elements_);
  }

 private:
  void fail(const std::string& what) {
    if (++failures_ <= 5) ADD_FAILURE() << what;
  }

  /// An invariant that breaks is our bug too.
  static support::Result<std::string> source_or_error(const schedule::Trace& trace,
                                                      const problem::Problem& problem) {
    try {
      return test_support::source_of(trace, problem);
    } catch (const std::exception& broken) {
      return support::internal("invariant", broken.what());
    }
  }

  void refused(const support::Diagnostic& diagnostic, const std::string& expression) {
    auto& count = refusals_[diagnostic.code];
    ++count.first;
    count.second = expression + ": " + diagnostic.message;
  }

  void run(std::vector<Waiting>& waiting) {
    std::vector<std::string> sources;
    for (const auto& each : waiting) sources.push_back(each.source);
    if (sources.empty()) return;
    const auto kernels = test_support::compile_batch(sources, *toolchain_);
    if (!kernels.ok()) {
      for (const auto& each : waiting) {
        const auto alone = test_support::compile_batch({each.source}, *toolchain_);
        if (!alone.ok()) fail(support::render(alone.error()) + each.description);
      }
    } else {
      for (std::size_t n = 0; n < waiting.size(); ++n) {
        const auto error = waiting[n].trials->error_of((*kernels)[n].descriptor(), n, inputs, random_);
        if (!error.empty()) fail(error + waiting[n].description);
        combinations_ += inputs;
      }
    }
    waiting.clear();
  }

  std::mt19937_64 random_;
  test_support::QuickToolchain toolchain_;
  std::map<problem::ValueType, std::vector<Waiting>> waiting_;
  std::map<std::string, std::pair<std::size_t, std::string>> refusals_;
  std::size_t drawn_ = 0;
  std::size_t combinations_ = 0;
  std::size_t elements_ = 0;
  std::size_t determined_ = 0;
  int failures_ = 0;
};

TEST(RandomPrograms, ComputeWhatTheOracleSays) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  Session session;
  while (session.combinations() < combinations_wanted && session.failures() < 5 &&
         session.drawn() < combinations_wanted) {
    session.draw();
  }
  session.finish();
  EXPECT_GE(session.combinations() + batch_size * inputs * 2, combinations_wanted);
  EXPECT_GT(session.determined_share(), 0.6);
}

}  // namespace
}  // namespace schaas
