#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/cpp/api/kernel_parts.h"
#include "client/cpp/platform/process_mutex.h"

namespace schaas::client {

/// The kernels of a program in parts, each of which makes a tensor that later ones read. These are programs
/// with an intermediate that is stored sparse (problem/stored_intermediate.h), and long products
/// (long_product.h), whose parts depend on the extents. Each part may be split again. Schedules, kernels and
/// frontiers that are told are those of the last part, which makes the result. Thread-safe.
class SplitProgram final : public KernelParts {
 public:
  using Extents = std::map<std::string, std::int64_t>;

  /// `program`: the problem's expression, parsed. Null: the program is one part, or the session's bundle has
  /// it as one. Errors: those of KernelSet::open and product_steps.
  static support::Result<std::unique_ptr<const SplitProgram>> open(const Session& session,
                                                                   const ProblemText& problem,
                                                                   const Program& program,
                                                                   const KernelSetOptions& options);

  /// As KernelSet::bind, and runs all parts but the last for the entries of their results. A run of the
  /// computation computes the values anew, unless the operands stay what they are
  /// (BindOptions::operands_change). The kernels of these parts stay, since later ones hold the addresses of
  /// their results.
  support::Result<Computation> bind(const Operands& operands, const BindOptions& options) const override;
  support::Result<Tuning> tune(const Operands& operands, const BindOptions& options) const override;
  /// Long products are taken in the order for equal extents.
  support::Result<Frontier> frontier(const std::stop_token& stop) const override;
  support::Result<FrontierHere> frontier_at(const Operands& operands,
                                            const BindOptions& options) const override;
  /// The parts begin when tensors are bound.
  void begin(const BindOptions&) const override {}

 private:
  /// Opened parts, in order.
  struct Parts {
    std::vector<KernelSet> sets;
    std::string note;  ///< for the reason of a computation
    const KernelSet& last() const { return sets.back(); }
  };
  using PartsPointer = std::shared_ptr<const Parts>;
  class Run;

  SplitProgram(Session session, ProblemText problem, Program program, KernelSetOptions options);
  support::Result<PartsPointer> parts(const Extents& extents) const;
  support::Result<PartsPointer> parts_for(const Operands& operands, const BindOptions& options) const;
  static support::Result<PartsPointer> opened(const Session& session,
                                              const std::vector<ProblemText>& problems, std::string note,
                                              const KernelSetOptions& options);

  const Session session_;
  const ProblemText problem_;
  const Program program_;
  const KernelSetOptions options_;
  PartsPointer fixed_;  ///< null: the parts depend on the extents
  mutable ProcessMutex mutex_;
  mutable std::map<std::vector<std::string>, PartsPointer> known_;  ///< by their expressions
  mutable std::map<Extents, PartsPointer> by_extents_;
};

}  // namespace schaas::client
