#include <gtest/gtest.h>

#include <random>

#include "compiler/pipeline/pipeline.h"
#include "tests/support/random_problem.h"
#include "tests/support/seed.h"
#include "tests/support/threaded_kernel.h"

// Programs over matrices in blocks, of random sizes and extents, under random schedules, made, run and read
// back by the client, against its oracle, which sees the user's matrices. SCHAAS_SEED=n chooses another seed;
// it is in every failure.
namespace schaas {
namespace {

#if defined(SCHAAS_MANY_KERNELS)
constexpr int rounds = 40;
#else
constexpr int rounds = 2;
#endif

std::uint64_t seed() { return test_support::seed_or(20260404); }

struct Case {
  std::string expression;
  /// Indices of rows and columns of blocked tensors; dense ones are stored in a random order of modes.
  std::map<std::string, std::string> blocked;
  std::vector<std::string> dense_matrices{};
  bool signs = true;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"y(i) = B(i,j) * x(j)", {{"B", "ij"}}},
      {"y(j) = B(i,j) * x(i)", {{"B", "ij"}}},
      {"y(i) += B(i,j) * x(j)", {{"B", "ij"}}},
      {"s = B(i,j)", {{"B", "ij"}}},
      {"A(i,l) = B(i,j) * C(j,l)", {{"B", "ij"}}, {"A", "C"}},
      {"A(l,i) = C(l,j) * B(i,j)", {{"B", "ij"}}, {"A", "C"}},
      {"A(i,j) = B(i,j) * C(i,k) * D(k,j)", {{"A", "ij"}, {"B", "ij"}}, {"C", "D"}},
      {"A(i,j) = B(i,j) * C(i,k) * D(k,j)", {{"B", "ij"}}, {"A", "C", "D"}},
      {"A(i,j) = B(i,k) * C(k,j)", {{"A", "ij"}, {"B", "ik"}, {"C", "kj"}}},
      {"A(i,j) = B(i,k) * C(k,j)", {{"B", "ik"}, {"C", "kj"}}, {"A"}},
      {"A(i,j) = B(i,j) + C(i,j) - D(i,j)", {{"A", "ij"}, {"B", "ij"}, {"C", "ij"}, {"D", "ij"}}},
      {"A(i,l) = B(i,j) * C(j,l) + D(i,l)", {{"B", "ij"}}, {"A", "C", "D"}},
      {"T(j) = C(j,k) * z(k); y(i) = B(i,j) * T(j)", {{"B", "ij"}}, {"C"}},
      {"A(i,j) = B(i,j) * B(j,i)", {{"B", "ii"}}, {"A"}},
      {"min-plus: y(i) = B(i,j) * x(j)", {{"B", "ij"}}},
      {"max-times: y(i) = B(i,j) * x(j)", {{"B", "ij"}}, {}, false},
      {"A(i,l) = B(i,j) * C(j,k) * D(k,l)", {{"B", "ij"}, {"C", "jk"}}, {"A", "D"}},
  };
  return all;
}

std::string label(const problem::ProblemText& text, const std::string& trace,
                  const std::map<std::string, std::int64_t>& extents) {
  std::string out = text.expression + ", schedule " + trace;
  for (const auto& [tensor, format] : text.formats) out += ", " + tensor + " " + format;
  for (const auto& [index, extent] : extents) out += ", " + index + "=" + std::to_string(extent);
  return out;
}

/// A random one that has a kernel: no sparse result is made in blocks of a loop.
std::string a_schedule(const problem::Problem& problem, std::mt19937_64& random) {
  while (true) {
    const auto trace = test_support::random_trace(problem, 4, random);
    if (pipeline::emit(problem, trace, pipeline::Language::c, toolchain::Target().isa).ok())
      return schedule::print(trace);
  }
}

TEST(BlockedKernels, ComputeWhatTheOracleSays) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  std::mt19937_64 random(seed());
  for (int round = 0; round < rounds; ++round) {
    for (const Case& each : cases()) {
      problem::ProblemText text;
      text.expression = each.expression;
      text.value_type = random() % 3 == 0 ? "f32" : "f64";
      text.position_bits = random() % 2 == 0 ? "32" : "64";
      std::map<char, int> sizes;
      for (const char index : std::string("ijkl")) sizes[index] = static_cast<int>(1 + random() % 5);
      for (const auto& [tensor, indices] : each.blocked)
        text.formats[tensor] =
            "bcsr(" + std::to_string(sizes[indices[0]]) + "," + std::to_string(sizes[indices[1]]) + ")";
      for (const auto& tensor : each.dense_matrices)
        text.formats[tensor] = random() % 2 == 0 ? "dense" : "dense:1,0";
      std::map<std::string, std::int64_t> extents;
      for (const std::string index : {"i", "j", "k", "l"}) extents[index] = random() % 24;
      if (each.expression == "A(i,j) = B(i,j) * B(j,i)") extents["j"] = extents["i"];
      const auto problem = problem::build(text);
      ASSERT_TRUE(problem.ok()) << support::render(problem.error());
      const std::string trace = round == 0 ? "linear" : a_schedule(*problem, random);
      const auto what = label(text, trace, extents);
      test_support::ThreadedKernel kernel(text, trace, {extents, 0.3, each.signs}, random());
      client::ExecutionOptions options;
      options.threads = 1 + round % 2;
      const auto outcome = kernel.run(options);
      EXPECT_EQ("", outcome.error) << what;
    }
  }
}

}  // namespace
}  // namespace schaas
