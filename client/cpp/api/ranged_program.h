#pragma once
#include <map>
#include <memory>
#include <string>

#include "client/cpp/api/kernel_parts.h"
#include "schaas/selections.h"

namespace schaas::client {

/// The kernels of a program with ranges: those of the program with selections instead, which are made for the
/// tensors of each binding. Thread-safe.
class RangedProgram final : public KernelParts {
 public:
  /// Null: the program has no ranges. Errors: those of KernelSet::open and Selections::of.
  static support::Result<std::unique_ptr<const RangedProgram>> open(const Session& session,
                                                                    const ProblemText& problem,
                                                                    const Program& program,
                                                                    const KernelSetOptions& options);

  const KernelSet& kernels() const { return kernels_; }
  support::Result<Computation> bind(const Operands& operands, const BindOptions& options) const override;
  support::Result<Tuning> tune(const Operands& operands, const BindOptions& options) const override;
  support::Result<Frontier> frontier(const std::stop_token& stop) const override {
    return kernels_.frontier(stop);
  }
  support::Result<FrontierHere> frontier_at(const Operands& operands,
                                            const BindOptions& options) const override;
  void begin(const BindOptions& options) const override { kernels_.begin(options); }

 private:
  struct Selected {
    Operands operands;
    std::vector<std::unique_ptr<PackedTensor>> own;
  };
  RangedProgram(Selections selections, KernelSet kernels)
      : selections_(std::move(selections)), kernels_(std::move(kernels)) {}
  support::Result<Selected> selected(const Operands& operands, const BindOptions& options) const;

  const Selections selections_;
  const KernelSet kernels_;
};

}  // namespace schaas::client
