#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "schaas/kernel_set.h"

/// Which format an operand should be stored in: the same computation, measured with each of several. What a
/// conversion takes counts as often as it is done, a run as often as the operand is used.
namespace schaas::client {

/// A computation one of whose operands is stored in some format.
struct FormatFigures {
  std::string format;          ///< as it was asked for
  std::int64_t bytes = 0;      ///< memory of the operand
  double convert_seconds = 0;  ///< from the format that the operand has; 0: it has this one
  double run_seconds = 0;      ///< one run of the kernel that was selected, the median of several
  std::string tree;            ///< its loops
  /// Reason why there are no seconds: the format does not fit the operand, or no schedule reads it.
  std::optional<support::Diagnostic> error{};

  double seconds(double uses) const { return convert_seconds + uses * run_seconds; }
};

struct FormatComparisonOptions {
  std::vector<std::string> formats{};  ///< candidates beside the operand's own; empty: usual_formats
  double seconds = 2;                  ///< measuring time, all formats together
  KernelSetOptions search{};
  BindOptions bind{};  ///< `result` is not used; without a wait limit, final kernels are waited for
  /// Told the number of formats that are ready to be measured, and of how many.
  std::function<void(std::size_t, std::size_t)> progress{};
};

/// Returns the named formats of a tensor of these extents; csf with each mode first. `dense` is among them
/// where it has less than a hundred elements for each entry.
std::vector<std::string> usual_formats(const std::vector<std::int64_t>& extents, std::int64_t entries);

/// Converts an operand to each format, binds the kernels selected for it, and measures all in turns
/// (measure_candidates). The operand's own format comes first; a candidate that is the same format is left
/// out. `problem` is that of the operands as they are. Errors of candidates are told beside them.
/// Thread-safe. Errors: invalid [unknown-tensor] (no such operand is given), [format-comparison] (it lies on
/// a device); for the own format those of KernelSet::open, bind and run.
support::Result<std::vector<FormatFigures>> compare_formats(
    const Session& session, const ProblemText& problem, const std::string& operand,
    const std::map<std::string, PackedTensor*>& operands, const FormatComparisonOptions& options = {});

/// Returns the format that takes the least time when it is used so often, among those without an error.
std::size_t best_format(const std::vector<FormatFigures>& figures, double uses);

/// Uses from which on a format takes less time than the first one, conversion included; none: never.
std::optional<double> uses_to_pay(const std::vector<FormatFigures>& figures, std::size_t format);

/// Returns an array of {format, bytes, convert_seconds, run_seconds, uses_to_pay or null, tree}; of a format
/// that does not fit {format, error: {code, message}}.
nlohmann::ordered_json formats_json(const std::vector<FormatFigures>& figures);

}  // namespace schaas::client
