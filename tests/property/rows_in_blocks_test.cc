#include <gtest/gtest.h>

#include <random>

#include "tests/support/seed.h"
#include "tests/support/threaded_kernel.h"

// Sums over the entries of a row or slice in blocks: rows of one block, of several, of none and without
// neighbours, narrow and wide, cut and whole, against the client's oracle. SCHAAS_SEED=n chooses another
// seed; it is in every failure.
namespace schaas {
namespace {

std::uint64_t seed() { return test_support::seed_or(20261123); }

struct Case {
  const char* expression;
  std::vector<const char*> formats;  ///< formats of B
  std::string trace;                 ///< in which SIZE is the block's
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)",
       {"csr", "dcsr", "coo"},
       "reorder(path={}, order={i,j,k,l}); loopfuse(path={}, loc=3, pol=left); block(path={}, size=SIZE)"},
      {"A(i,l,m) = B(i,j,k) * C(j,l) * D(k,m)",
       {"csf", "dense,compressed,compressed"},
       "permute(path={}, factors={1,0,2}); reorder(path={}, order={i,j,k,l,m}); "
       "loopfuse(path={}, loc=1, pol=right); block(path={}, size=SIZE); reorder(path={1}, order={l,j,m})"},
  };
  return all;
}

TEST(RowsInBlocks, ComputeWhatTheOracleSays) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  std::mt19937_64 random(seed());
  const auto between = [&](int least, int most) {
    return least + static_cast<int>(random() % static_cast<std::uint64_t>(most - least + 1));
  };
  int made = 0;
  for (const Case& each : cases()) {
    for (const char* format : each.formats) {
      problem::ProblemText text;
      text.expression = each.expression;
      text.formats["B"] = format;
      text.value_type = random() % 3 == 0 ? "f32" : "f64";
      std::string trace = each.trace;
      trace.replace(trace.find("SIZE"), 4, std::to_string(between(2, 9)));
      for (const double density : {0.02, 0.2, 0.7}) {
        const test_support::ThreadedKernel::Shape shape{{{"i", between(1, 30)},
                                                         {"j", between(1, 20)},
                                                         {"k", between(1, 9)},
                                                         {"l", between(1, 70)},
                                                         {"m", between(1, 9)}},
                                                        density};
        test_support::ThreadedKernel kernel(text, trace, shape, random());
        for (const int threads : {1, 3}) {
          client::ExecutionOptions options;
          options.threads = threads;
          EXPECT_EQ("", kernel.run(options).error)
              << text.expression << ", " << format << ", " << trace << ", " << threads << " threads";
        }
        ++made;
      }
    }
  }
  EXPECT_EQ(made, 15);
}

}  // namespace
}  // namespace schaas
