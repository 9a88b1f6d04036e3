#include "server/answers/measurements.h"

#include <cmath>

#include "compiler/pipeline/pipeline.h"
#include "compiler/schedule/replay/apply.h"
#include "server/answers/printable_text.h"
#include "server/answers/scheduling.h"

// Timings of clients, which are strangers' data: every text is bounded and printable, numbers are finite, and
// the trace must apply to the problem. All rows of a report are checked before the first is stored. Sizes and
// hosts are compared, never interpreted.
namespace schaas::server {
namespace {

using kernels_cache::MeasurementRow;
using support::Result;

constexpr std::size_t max_text_bytes = 1024;
constexpr int max_threads = 4096;
constexpr std::size_t max_returned = 256;

support::Diagnostic wrong_measurement(const std::string& what) {
  return support::invalid("measurement", what);
}

Result<void> check_measured_text(const std::string& text, const std::string& what) {
  return check_printable(text, {what + " of a measurement", "measurement", 1, max_text_bytes});
}

// Checks one timing and turns it into a row, with its trace in canonical names.
Result<MeasurementRow> row_of(const answers::Measurement& from, const std::string& host,
                              const PreparedProblem& prepared) {
  SCHAAS_RETURN_IF_ERROR(check_measured_text(from.sizes, "sizes"));
  SCHAAS_RETURN_IF_ERROR(check_isa(from.isa));
  if (from.threads < 1 || from.threads > max_threads) {
    return wrong_measurement("measured with " + std::to_string(from.threads) + " threads; expected 1 to " +
                             std::to_string(max_threads));
  }
  if (!std::isfinite(from.seconds) || from.seconds <= 0)
    return wrong_measurement("a measurement of " + std::to_string(from.seconds) +
                             " s; expected a time above 0");
  SCHAAS_ASSIGN_OR_RETURN(const schedule::Trace trace, canonical_trace(from.trace, prepared));
  return MeasurementRow{
      prepared.canonical.key, prepared.canonical.text, host,         from.sizes, from.threads,  from.isa,
      schedule::print(trace), pipeline::code_version,  from.seconds, "",         from.exclusive};
}

}  // namespace

Result<void> keep(const std::vector<answers::Measurement>& measurements, const std::string& host,
                  const PreparedProblem& prepared, kernels_cache::ScheduleStore& store) {
  if (measurements.size() > RequestLimits::measurements) {
    return wrong_measurement(std::to_string(measurements.size()) + " measurements; at most " +
                             std::to_string(RequestLimits::measurements) + " are taken at once");
  }
  SCHAAS_RETURN_IF_ERROR(check_measured_text(host, "host"));
  std::vector<MeasurementRow> rows;
  for (const auto& measurement : measurements) {
    SCHAAS_ASSIGN_OR_RETURN(MeasurementRow row, row_of(measurement, host, prepared));
    rows.push_back(std::move(row));
  }
  return store.put_measurements(rows);
}

Result<std::vector<answers::Measurement>> measured(const PreparedProblem& prepared, const std::string& host,
                                                   kernels_cache::ScheduleStore& store) {
  std::vector<answers::Measurement> out;
  if (host.empty()) return out;
  SCHAAS_ASSIGN_OR_RETURN(const auto rows, store.measurements_of(prepared.canonical.key, host,
                                                                 pipeline::code_version, max_returned));
  for (const MeasurementRow& row : rows) {
    const auto trace = schedule::parse(row.trace);
    // Rows of an older version of schedules may no longer apply; they are no reason to fail.
    if (!trace.ok() || !schedule::apply(*trace, prepared.canonical.problem).ok()) continue;
    out.push_back({schedule::print(prepared.names.to_user(*trace)), row.sizes, row.isa, row.threads,
                   row.seconds, row.exclusive});
  }
  return out;
}

}  // namespace schaas::server
