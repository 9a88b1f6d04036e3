#pragma once
#include <array>
#include <functional>
#include <initializer_list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace schaas::server {

/// Counters, gauges and histograms in Prometheus' text format (version 0.0.4); docs/operations.md lists every
/// family. Label values are names of this code (methods, stages, codes), never a user's text, which bounds
/// their number. Thread-safe.
class Metrics {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  /// Families counted where the event happens; gauges are read on demand.
  enum class Counter {
    requests,
    frontiers,
    kernels,
    compile_seconds,
    solver_queries,
    solver_unknown,
    sent_bytes,
    refused,
    response_cache_hits
  };
  enum class Times { request, stage };

  void add(Counter family, Labels labels, double amount = 1);
  void observe(Times family, Labels labels, double seconds);

  /// One sample of a gauge: labels as made by `labels_text`, and the value.
  struct Sample {
    std::string labels;
    double value = 0;
  };
  using Reader = std::function<std::vector<Sample>()>;
  /// Registers a gauge that `reader` reads at each `text`. Must precede the first `text`.
  void read(std::string name, std::string help, Reader reader);

  std::string text() const;

  /// Prints `method="Schedule",outcome="ok"`, escaped.
  static std::string labels_text(Labels labels);

 private:
  /// Upper bounds of the buckets, in seconds.
  static constexpr std::array bounds = {0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1,  0.2,
                                        0.5,    1.0,    2.0,   5.0,   10.0,  30.0, 60.0, 300., 1800.};
  struct Distribution {
    std::array<std::uint64_t, bounds.size() + 1>
        counts{};  ///< per bucket, not cumulative; the last is above all bounds
    double sum = 0;
  };
  struct Gauge {
    std::string name, help;
    Reader reader;
  };

  mutable std::mutex mutex_;
  std::map<Counter, std::map<std::string, double>> counters_;
  std::map<Times, std::map<std::string, Distribution>> times_;
  std::vector<Gauge> gauges_;
};

}  // namespace schaas::server
