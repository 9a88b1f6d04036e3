#include "server/telemetry/metrics.h"

#include <algorithm>
#include <cstdint>

#include <spdlog/fmt/fmt.h>

// Counters and histograms in maps under one mutex, printed in Prometheus' text format. Label texts are made
// once, when an event is counted, and serve as keys. Names and help texts stand in switches without a
// default, so a new family needs both. Monitors depend on the names, so they stay.
namespace schaas::server {
namespace {

struct Family {
  const char* name;
  const char* help;
};

// Returns name and help of a counter.
Family described(Metrics::Counter family) {
  switch (family) {
    case Metrics::Counter::requests:
      return {"schaas_requests_total",
              "Requests that ended, by method and outcome (ok, or the diagnostic's code)."};
    case Metrics::Counter::frontiers:
      return {"schaas_frontiers_total", "Frontiers requested, by outcome: hit, made, failed."};
    case Metrics::Counter::kernels:
      return {"schaas_kernels_total", "Kernels requested, by outcome: hit, made, failed."};
    case Metrics::Counter::compile_seconds:
      return {"schaas_compile_seconds_total", "Seconds spent compiling kernels."};
    case Metrics::Counter::solver_queries:
      return {"schaas_solver_queries_total", "Solver queries of finished searches."};
    case Metrics::Counter::solver_unknown:
      return {"schaas_solver_unknown_total", "Solver queries left undecided: both schedules were kept."};
    case Metrics::Counter::sent_bytes:
      return {"schaas_sent_bytes_total", "Bytes of binaries sent."};
    case Metrics::Counter::refused:
      return {"schaas_overload_refusals_total",
              "Work refused because the admission queue was full, by kind."};
    case Metrics::Counter::response_cache_hits:
      return {"schaas_response_cache_hits_total", "Requests answered from the response cache, by method."};
  }
  return {"", ""};
}

using Counter = Metrics::Counter;
constexpr std::array all_counters = {
    Counter::requests,        Counter::frontiers,      Counter::kernels,
    Counter::compile_seconds, Counter::solver_queries, Counter::solver_unknown,
    Counter::sent_bytes,      Counter::refused,        Counter::response_cache_hits};

// Returns name and help of a histogram.
Family described(Metrics::Times family) {
  switch (family) {
    case Metrics::Times::request:
      return {"schaas_request_seconds", "Duration of requests, by method."};
    case Metrics::Times::stage:
      return {"schaas_stage_seconds", "Duration of the stages of work, by stage."};
  }
  return {"", ""};
}

void head(std::string& out, const std::string& name, const std::string& help, const char* type) {
  out += "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
}

// Prints one line: name, labels, value.
void sample(std::string& out, const std::string& name, const std::string& labels, double value) {
  out += labels.empty() ? fmt::format("{} {}\n", name, value)
                        : fmt::format("{}{{{}}} {}\n", name, labels, value);
}

}  // namespace

// Escapes backslashes, quotes and line feeds, as the format demands.
std::string Metrics::labels_text(Labels labels) {
  std::string out;
  for (const auto& [name, value] : labels) {
    if (!out.empty()) out += ',';
    out.append(name).append("=\"");
    for (const char c : value) {
      if (c == '\n') {
        out += "\\n";
        continue;
      }
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    out += '"';
  }
  return out;
}

void Metrics::add(Counter family, Labels labels, double amount) {
  const std::string text = labels_text(labels);
  const std::lock_guard lock(mutex_);
  counters_[family][text] += amount;
}

// Counts a duration in its bucket.
void Metrics::observe(Times family, Labels labels, double seconds) {
  const std::string text = labels_text(labels);
  // A bound belongs to its bucket ("le"); the last bucket has no bound.
  const auto bucket = std::lower_bound(bounds.begin(), bounds.end(), seconds) - bounds.begin();
  const std::lock_guard lock(mutex_);
  Distribution& distribution = times_[family][text];
  ++distribution.counts[static_cast<std::size_t>(bucket)];
  distribution.sum += seconds;
}

void Metrics::read(std::string name, std::string help, Reader reader) {
  gauges_.push_back({std::move(name), std::move(help), std::move(reader)});
}

std::string Metrics::text() const {
  std::string out;
  for (const Gauge& gauge : gauges_) {  // not locked: readers may be slow
    head(out, gauge.name, gauge.help, "gauge");
    for (const Sample& one : gauge.reader()) sample(out, gauge.name, one.labels, one.value);
  }
  const std::lock_guard lock(mutex_);
  for (const Counter family : all_counters) {  // families without samples included
    const Family known = described(family);
    head(out, known.name, known.help, "counter");
    const auto values = counters_.find(family);
    if (values == counters_.end()) continue;
    for (const auto& [labels, value] : values->second) sample(out, known.name, labels, value);
  }
  for (const auto& [family, values] : times_) {
    const Family known = described(family);
    const std::string name = known.name;
    head(out, name, known.help, "histogram");
    for (const auto& [labels, distribution] : values) {
      // Buckets are stored one by one and printed cumulatively, as the format wants them.
      std::uint64_t below = 0;
      for (std::size_t b = 0; b <= bounds.size(); ++b) {
        below += distribution.counts[b];
        const std::string bound = b < bounds.size() ? fmt::format("{}", bounds[b]) : "+Inf";
        sample(out, name + "_bucket", labels + (labels.empty() ? "" : ",") + "le=\"" + bound + "\"",
               static_cast<double>(below));
      }
      sample(out, name + "_sum", labels, distribution.sum);
      sample(out, name + "_count", labels, static_cast<double>(below));
    }
  }
  return out;
}

}  // namespace schaas::server
