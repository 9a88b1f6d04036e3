#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "schaas/kernel_set.h"

namespace schaas::client {

/// The kernels of a program in two parts (problem/stored_intermediate.h): one makes an intermediate, whole
/// and stored sparse, and the other reads it. Each part may be split again. What is told of schedules,
/// kernels and frontiers is told of the part that makes the result. Thread-safe.
class SplitProgram {
 public:
  using Operands = std::map<std::string, PackedTensor*>;

  /// Null: the program is one part, or the session's bundle has it as one. Errors: those of KernelSet::open.
  static support::Result<std::unique_ptr<const SplitProgram>> open(const Session& session,
                                                                   const ProblemText& problem,
                                                                   const KernelSetOptions& options);

  /// As KernelSet::bind, and runs the first part for the intermediate's entries. A run of the computation
  /// computes its values anew, unless the operands stay what they are (BindOptions::operands_change). The
  /// kernel of the first part stays, since the other holds the addresses of what it made.
  support::Result<Computation> bind(const Operands& operands, const BindOptions& options) const;
  support::Result<Tuning> tune(const Operands& operands, const BindOptions& options) const;
  support::Result<Frontier> frontier(const std::stop_token& stop) const { return consumer_.frontier(stop); }
  support::Result<FrontierHere> frontier_at(const Operands& operands, const BindOptions& options) const;

 private:
  SplitProgram(std::string tensor, KernelSet producer, KernelSet consumer)
      : tensor_(std::move(tensor)), producer_(std::move(producer)), consumer_(std::move(consumer)) {}
  support::Result<Computation> produced(const Operands& operands, const BindOptions& options) const;
  Operands operands_of_consumer(const Operands& operands, Computation& produced) const;

  std::string tensor_;  ///< the intermediate
  KernelSet producer_, consumer_;
};

}  // namespace schaas::client
