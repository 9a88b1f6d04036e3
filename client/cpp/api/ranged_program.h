#pragma once
#include <map>
#include <memory>
#include <string>

#include "client/cpp/api/computation.h"
#include "client/cpp/api/kernel_parts.h"
#include "client/cpp/expression/operand_parts.h"
#include "client/cpp/platform/process_mutex.h"
#include "schaas/selections.h"

namespace schaas::client {

/// The kernels of a program with ranges, or equations that are selections (equations.h). Parts of operands
/// that lie together are operands instead (operand_parts.h); other ranges become selections, which are made
/// for the tensors of each binding. Thread-safe.
class RangedProgram final : public KernelParts {
 public:
  /// Null: the program has neither. Errors: those of KernelSet::open and Selections::of.
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
  enum class Parts { where_they_lie, selected };
  static support::Result<std::unique_ptr<const RangedProgram>> open(const Session& session,
                                                                    const ProblemText& problem,
                                                                    const Program& program,
                                                                    const KernelSetOptions& options,
                                                                    Parts parts);
  /// Extent of an index by a range that is read as a part, with its source for messages.
  struct PartExtent {
    std::string index;
    std::int64_t count = 0;
    std::string source;
  };
  struct Selected {
    Operands operands;
    BindOptions options;
    std::vector<ReadPart> parts;
    std::vector<PartExtent> extents;
    std::vector<std::unique_ptr<PackedTensor>> selections;
  };
  RangedProgram(Session session, ProblemText problem, Program program, KernelSetOptions options,
                ProgramOfParts parts, Selections selections, KernelSet kernels)
      : session_(std::move(session)),
        problem_(std::move(problem)),
        given_(std::move(program)),
        options_(std::move(options)),
        parts_(std::move(parts)),
        selections_(std::move(selections)),
        kernels_(std::move(kernels)) {}
  support::Result<const RangedProgram*> serving(const Operands& operands) const;
  support::Result<Selections::Parameters> take_parameters(Selected& out) const;
  support::Result<void> take_parts(Selected& out, const Selections::Parameters& parameters) const;
  bool is_range_of_part(const Access& access, std::size_t mode) const;
  support::Result<Selected> selected(const Operands& operands, const BindOptions& options) const;

  const Session session_;
  const ProblemText problem_;  ///< as given, with ranges
  const Program given_;
  const KernelSetOptions options_;
  const ProgramOfParts parts_;
  const Selections selections_;  ///< ranges that are no parts
  const KernelSet kernels_;
  mutable ProcessMutex mutex_;
  mutable std::unique_ptr<const RangedProgram> all_selected_;  ///< opened when it is first needed
};

}  // namespace schaas::client
