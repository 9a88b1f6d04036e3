#pragma once
#include <string>
#include <vector>

#include "compiler/problem/problem.h"
#include "compiler/schedule/trace.h"
#include "compiler/toolchain/toolchain.h"
#include "tests/support/dense_oracle.h"
#include "tests/support/packed_tensor.h"
#include "tests/support/random_tensor.h"

namespace schaas::test_support {

/// Random inputs of one problem, packed, with the result the oracle says; made once, used by many schedules.
class Trials {
 public:
  /// `count` inputs, drawn from `seed`: most with extents 1..6; every third has extents 1..3 and one index
  /// of 20..70, so that vector code of every width runs, and ends in the middle of a vector.
  Trials(const problem::Problem& problem, std::size_t count, std::uint64_t seed);
  ~Trials();
  Trials(const Trials&) = delete;
  Trials& operator=(const Trials&) = delete;

  /// Applies, lowers, compiles (in one batch) and runs every schedule on `runs` of the inputs, whole and in
  /// random pieces on two threads, into a result that is not zero before. Returns one text per schedule that
  /// went wrong: its trace, its tree and what happened.
  std::vector<std::string> failures(const std::vector<schedule::Trace>& schedules, std::size_t runs,
                                    toolchain::Toolchain& toolchain, std::mt19937_64& random) const;

 private:
  struct Trial;
  const problem::Problem problem_;
  std::vector<Trial> trials_;
};

}  // namespace schaas::test_support
