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
  /// `failed` is told of everything that goes wrong: what, and what reproduces it.
  KernelQueue(std::size_t inputs, std::mt19937_64& random, std::function<void(const std::string&)> failed)
      : inputs_(inputs), random_(random), failed_(std::move(failed)) {}

  /// Takes a schedule of a problem; refusals of the compiler are returned. One that calls itself our bug, and
  /// a broken invariant, are failures as well.
  support::Result<void> add(const schedule::Trace& trace, const problem::Problem& problem);
  /// Runs what still waits.
  void finish();

  std::size_t combinations() const { return combinations_; }  ///< kernels times inputs, so far
  std::size_t elements() const { return elements_; }          ///< of all results
  std::size_t determined() const { return determined_; }      ///< those with one right value

 private:
  struct Waiting {
    std::shared_ptr<Trials> trials;
    std::string source;
    std::string description;
  };
  void run(std::vector<Waiting>& waiting);

  const std::size_t inputs_;
  std::mt19937_64& random_;
  const std::function<void(const std::string&)> failed_;
  QuickToolchain toolchain_;
  std::map<problem::ValueType, std::vector<Waiting>> waiting_;  ///< a batch has one value type
  std::size_t combinations_ = 0;
  std::size_t elements_ = 0;
  std::size_t determined_ = 0;
};

}  // namespace schaas::test_support
