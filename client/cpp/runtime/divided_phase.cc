#include "client/cpp/runtime/divided_phase.h"

#include <algorithm>
#include <utility>

// Division depends on structure alone, so that it is made once. Pieces of exclusive writes cost nothing but
// their call, and idle threads find some to take; pieces of a reduction cost an array each.
namespace schaas::client {
namespace {

/// A phase of more pieces is not cut finer inside its iterations because more threads run it.
constexpr std::int64_t deterministic_ranges = 96;
/// Entries for which a call of their own is worth it.
constexpr std::int64_t min_entries_of_a_call = 256;

using Folding = ExecutionOptions::Folding;

/// Divides one phase.
class PhaseDivider {
 public:
  PhaseDivider(const schaas_phase& phase, const Division& division)
      : phase_(phase),
        division_(division),
        range_(phase.over > 0 ? division.shared.coordinates(phase.over - 1)
                              : phase.range(division.arguments.data())),
        weights_(weights()) {}

  support::Result<DividedPhase> result() {
    const std::int64_t count = max_pieces();
    const bool folds = count > 1 && phase_.fold != SCHAAS_FOLD_NONE;
    const std::int64_t ranges = folds ? 4 * count : count;  // a piece that folds is put together from several
    DividedPhase divided{{}, {0}, {}, {}};
    const std::int64_t most = max_entries(ranges);
    const bool always = division_.options.folding == Folding::always;
    // Tests split each iteration in three where they can; else parts are as many as the weight asks for.
    divided.tasks = tasks_between(cut_range(range_, ranges, weights_), most > 0 ? weights_ : nullptr, most,
                                  always ? 3 : range_ + total_weight(range_, weights_));
    if (folds) {
      SCHAAS_RETURN_IF_ERROR(add_reduction(count, divided));
    } else {
      SCHAAS_RETURN_IF_ERROR(add_partial_results(divided));
    }
    return divided;
  }

 private:
  /// Returns the level whose entries weigh the iterations; null: all weigh alike. Only levels with positions
  /// by parent can weigh, and at least as many parents as iterations.
  const schaas_level* weights() const {
    if (phase_.balance_arg < 0) return nullptr;
    const schaas_tensor& tensor = *division_.arguments.list()[static_cast<std::size_t>(phase_.balance_arg)];
    if (phase_.balance_level < 0 || phase_.balance_level >= tensor.order) return nullptr;
    const schaas_level& level = tensor.levels[phase_.balance_level];
    const std::int64_t parents =
        phase_.balance_level == 0 ? 1 : tensor.levels[phase_.balance_level - 1].entries;
    const bool weighs = level.format == SCHAAS_LEVEL_COMPRESSED || level.format == SCHAAS_LEVEL_BANDED;
    return weighs && range_ <= parents ? &level : nullptr;
  }

  std::int64_t max_pieces() const {
    if (phase_.parallel == 0) return 1;
    const ExecutionOptions& options = division_.options;
    if (phase_.fold == SCHAAS_FOLD_NONE) {
      const bool whole = division_.threads == 1 && options.folding != Folding::always;
      return whole ? 1 : std::int64_t{division_.threads} * std::max(options.chunks_per_thread, 1);
    }
    const auto size = static_cast<std::int64_t>(bytes_of(division_.result.value_type()));
    return std::max<std::int64_t>(
        PrivatisedReduction::pieces(phase_, division_.arguments.data(), fold_elements(), size,
                                    division_.threads, options),
        1);
  }

  /// Iterations with more entries than this are split; 0: none is.
  std::int64_t max_entries(std::int64_t ranges) const {
    const ExecutionOptions& options = division_.options;
    if (weights_ == nullptr || phase_.part == nullptr || ranges == 1) return 0;
    if (options.folding == Folding::never) return 0;
    if (options.folding == Folding::always) return 1;
    if (division_.threads == 1 && !options.deterministic) return 0;
    // Whatever the threads: the order in which a long row is summed.
    const std::int64_t count = options.deterministic ? deterministic_ranges : ranges;
    const std::int64_t most =
        std::max<std::int64_t>(total_weight(range_, weights_) / count, min_entries_of_a_call);
    // Parts that write where the phase does need no memory; those with partial results are limited by it.
    if (phase_.carry_elements == nullptr || phase_.fold != SCHAAS_FOLD_NONE) return most;
    const std::int64_t elements = phase_.carry_elements(division_.arguments.data());
    const double bytes = static_cast<double>(elements) * 8 * static_cast<double>(count);
    return elements <= most && bytes <= static_cast<double>(options.folding_bytes) ? most : 0;
  }

  std::int64_t fold_elements() const {
    if (phase_.fold_target < 0) return division_.result.stored();
    return division_.shared.bytes(phase_.fold_target) /
           static_cast<std::int64_t>(bytes_of(division_.result.value_type()));
  }

  support::Result<void> add_reduction(std::int64_t count, DividedPhase& divided) const {
    divided.borders = group(divided.tasks, weights_, count);
    if (divided.pieces() <= 1) return {};
    SCHAAS_ASSIGN_OR_RETURN(divided.reduction,
                            PrivatisedReduction::make(phase_, division_.result.value_type(), fold_elements(),
                                                      static_cast<std::int64_t>(divided.pieces()),
                                                      division_.arguments.list(), division_.shared.list()));
    return {};
  }

  support::Result<void> add_partial_results(DividedPhase& divided) const {
    for (std::size_t n = 0; n < divided.tasks.size(); ++n) divided.borders.push_back(n + 1);
    if (!divided.splits_iterations() || phase_.carry_elements == nullptr) return {};
    SCHAAS_ASSIGN_OR_RETURN(
        divided.partial_results,
        PartialResults::make(phase_, division_.result.value_type(),
                             phase_.carry_elements(division_.arguments.data()), divided.tasks));
    return {};
  }

  const schaas_phase& phase_;
  const Division& division_;
  const std::int64_t range_;
  const schaas_level* const weights_;
};

}  // namespace

bool DividedPhase::splits_iterations() const {
  return std::any_of(tasks.begin(), tasks.end(), [](const Task& task) { return task.is_part(); });
}

std::int64_t DividedPhase::bytes() const {
  return (reduction ? reduction->bytes() : 0) + (partial_results ? partial_results->bytes() : 0);
}

support::Result<DividedPhase> divide(const schaas_phase& phase, const Division& division) {
  return PhaseDivider(phase, division).result();
}

}  // namespace schaas::client
