#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/support/kernel_batch.h"
#include "tests/support/kernel_trial.h"

namespace schaas::test_support {

/// Kernels of many problems, compiled together a batch at a time and then run on random inputs of their own
/// problem, against the oracle.
class KernelQueue {
 public:
  enum class Machine { cpu, emulated_gpu };

  /// `failed` is told of everything that goes wrong: what, and what reproduces it.
  KernelQueue(std::size_t inputs, std::mt19937_64& random, std::function<void(const std::string&)> failed,
              Machine machine = Machine::cpu)
      : inputs_(inputs), random_(random), failed_(std::move(failed)), machine_(machine) {}

  /// Takes a schedule of a problem; refusals of the compiler are returned. One that calls itself our bug, and
  /// a broken invariant, are failures as well.
  support::Result<void> add(const schedule::Trace& trace, const problem::Problem& problem);
  /// The same on inputs that several schedules share.
  support::Result<void> add(const schedule::Trace& trace, const problem::Problem& problem,
                            std::shared_ptr<Trials> trials);
  /// Runs what still waits.
  void finish();

  std::size_t combinations() const { return combinations_; }  ///< kernels times inputs, so far
  std::size_t elements() const { return elements_; }          ///< elements of all results
  std::size_t determined() const { return determined_; }      ///< those with one right value

 private:
  struct Waiting {
    std::shared_ptr<Trials> trials;
    std::string source;
    std::string description;
  };
  void run(std::vector<Waiting>& waiting);
  support::Result<std::string> source_or_error(const schedule::Trace& trace, const problem::Problem& problem,
                                               const lower::PassList& passes) const;
  support::Result<std::vector<LoadedKernel>> compile(const std::vector<std::string>& sources);

  const std::size_t inputs_;
  std::mt19937_64& random_;
  const std::function<void(const std::string&)> failed_;
  const Machine machine_;
  QuickToolchain toolchain_;
  std::map<problem::ValueType, std::vector<Waiting>> waiting_;  ///< a batch has one value type
  std::size_t combinations_ = 0;
  std::size_t elements_ = 0;
  std::size_t determined_ = 0;
};

}  // namespace schaas::test_support
