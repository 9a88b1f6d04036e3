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

/// What the daemon counts, in the text format of Prometheus (version 0.0.4). docs/operations.md lists every
/// family. Values of labels are names of ours (methods, stages, codes), never a user's text, so that their
/// number stays small. Thread-safe.
class Metrics {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  /// The families that are counted where something happens; the others are read when somebody asks.
  enum class Counter {
    requests,
    frontiers,
    kernels,
    compile_seconds,
    solver_queries,
    solver_unknown,
    sent_bytes,
    refused,
    kept_replies
  };
  enum class Times { request, stage };

  void add(Counter family, Labels labels, double amount = 1);
  void observe(Times family, Labels labels, double seconds);

  /// One sample of a family that is read when asked: its labels as `labels_text` makes them, and its value.
  struct Sample {
    std::string labels;
    double value = 0;
  };
  using Reader = std::function<std::vector<Sample>()>;
  /// A value that goes up and down, read by `reader` whenever `text` is asked for. Before the first `text`.
  void read(std::string name, std::string help, Reader reader);

  std::string text() const;

  /// `method="Schedule",outcome="ok"`, escaped.
  static std::string labels_text(Labels labels);

 private:
  /// Upper ends of the buckets, in seconds.
  static constexpr std::array bounds = {0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1,  0.2,
                                        0.5,    1.0,    2.0,   5.0,   10.0,  30.0, 60.0, 300., 1800.};
  struct Distribution {
    std::array<std::uint64_t, bounds.size() + 1>
        counts{};  ///< of each bucket alone; the last is above all bounds
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
