#pragma once
#include <string>
#include <vector>

#include "compiler/lower/lower.h"
#include "compiler/problem/problem.h"
#include "compiler/schedule/trace.h"
#include "compiler/toolchain/toolchain.h"
#include "tests/support/dense_oracle.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/packed_tensor.h"
#include "tests/support/random_tensor.h"

namespace schaas::test_support {

/// The kernel of a schedule of a problem, through every stage and its verifier.
support::Result<loop_ir::Kernel> kernel_of(const schedule::Trace& trace, const problem::Problem& problem,
                                           const lower::PassList& passes = lower::all_passes());

/// The C of a schedule of a problem, through every stage and its verifier; `symbol`s are as in print_c.
support::Result<std::string> source_of(const schedule::Trace& trace, const problem::Problem& problem,
                                       const lower::PassList& passes = lower::all_passes());

/// Problem, trace and tree, for a person who has to find what went wrong.
std::string described(const schedule::Trace& trace, const problem::Problem& problem, const std::string& what);

/// Random inputs of one problem, packed, with the result the oracle says; made once, used by many schedules.
class Trials {
 public:
  /// `count` inputs, drawn from `seed`: a third with extents 0..6; a third with extents 1..3 and one index
  /// of 20..70, so that vector code of every width runs, and ends in the middle of a vector; a third with
  /// extents 1..5, but 8, 16 or 32 where only dense tensors have them, for which kernels have versions.
  Trials(const problem::Problem& problem, std::size_t count, std::uint64_t seed);
  /// These inputs.
  Trials(const problem::Problem& problem, std::vector<RandomInput> inputs);
  ~Trials();
  Trials(const Trials&) = delete;
  Trials& operator=(const Trials&) = delete;

  /// Runs a kernel on one of the inputs into a result that holds what the descriptor asks for, or, when the
  /// statement updates it, something. A result with compressed levels is allocated after counting and its
  /// structure checked. "" or what went wrong.
  std::string error_of(const schaas_kernel_descriptor& kernel, std::size_t input, Cuts cuts,
                       std::mt19937_64& random) const;
  /// The same on `runs` of the inputs, from `first` on, whole and in random pieces on two threads by turns.
  std::string error_of(const schaas_kernel_descriptor& kernel, std::size_t first, std::size_t runs,
                       std::mt19937_64& random) const;

  /// Applies, lowers, compiles (in one batch) and runs every schedule on `runs` of the inputs. Returns one
  /// text per schedule that went wrong: its trace, its tree and what happened.
  std::vector<std::string> failures(const std::vector<schedule::Trace>& schedules, std::size_t runs,
                                    toolchain::Toolchain& toolchain, std::mt19937_64& random) const;

  /// Elements of all inputs' results, and how many of them have one right value.
  std::size_t elements() const;
  std::size_t determined_elements() const;

 private:
  struct Trial;
  void add(RandomInput input);
  const problem::Problem problem_;
  std::vector<Trial> trials_;
};

}  // namespace schaas::test_support
