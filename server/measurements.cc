#include "server/measurements.h"

#include <cmath>

#include "compiler/pipeline/pipeline.h"
#include "compiler/schedule/apply.h"
#include "server/printable.h"
#include "server/scheduling.h"

namespace schaas::server {
namespace {

using kernels_cache::MeasurementRow;
using support::Result;

constexpr std::size_t most_text = 1024;
constexpr int most_threads = 4096;
constexpr std::size_t most_told = 256;

support::Diagnostic wrong(const std::string& what) { return support::invalid("measurement", what); }

Result<void> check_text(const std::string& text, const std::string& what) {
  return check_printable(text, {what + " of a measurement", "measurement", 1, most_text});
}

Result<MeasurementRow> row_of(const NamedMeasurement& from, const std::string& host, const Subject& subject) {
  SCHAAS_RETURN_IF_ERROR(check_text(from.sizes, "sizes"));
  SCHAAS_RETURN_IF_ERROR(check_isa(from.isa));
  if (from.threads < 1 || from.threads > most_threads) {
    return wrong("measured with " + std::to_string(from.threads) + " threads; expected 1 to " +
                 std::to_string(most_threads));
  }
  if (!std::isfinite(from.seconds) || from.seconds <= 0)
    return wrong("a measurement of " + std::to_string(from.seconds) + " s; expected a time above 0");
  SCHAAS_ASSIGN_OR_RETURN(const schedule::Trace trace, canonical_trace(from.trace, subject));
  return MeasurementRow{
      subject.canonical.key,  subject.canonical.text, host,         from.sizes, from.threads, from.isa,
      schedule::print(trace), pipeline::code_version, from.seconds, ""};
}

}  // namespace

Result<void> keep(const std::vector<NamedMeasurement>& measurements, const std::string& host,
                  const Subject& subject, kernels_cache::ScheduleStore& store) {
  if (measurements.size() > RequestLimits::measurements) {
    return wrong(std::to_string(measurements.size()) + " measurements; at most " +
                 std::to_string(RequestLimits::measurements) + " are taken at once");
  }
  SCHAAS_RETURN_IF_ERROR(check_text(host, "host"));
  std::vector<MeasurementRow> rows;
  for (const auto& measurement : measurements) {
    SCHAAS_ASSIGN_OR_RETURN(MeasurementRow row, row_of(measurement, host, subject));
    rows.push_back(std::move(row));
  }
  return store.put_measurements(rows);
}

Result<std::vector<NamedMeasurement>> measured(const Subject& subject, const std::string& host,
                                               kernels_cache::ScheduleStore& store) {
  std::vector<NamedMeasurement> out;
  if (host.empty()) return out;
  SCHAAS_ASSIGN_OR_RETURN(
      const auto rows, store.measurements_of(subject.canonical.key, host, pipeline::code_version, most_told));
  for (const MeasurementRow& row : rows) {
    const auto trace = schedule::parse(row.trace);
    if (!trace.ok() || !schedule::apply(*trace, subject.canonical.problem).ok()) continue;
    out.push_back(
        {schedule::print(subject.names.to_user(*trace)), row.sizes, row.isa, row.threads, row.seconds});
  }
  return out;
}

}  // namespace schaas::server
