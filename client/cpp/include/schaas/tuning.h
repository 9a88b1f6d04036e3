#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "schaas/frontier.h"
#include "schaas/select.h"

/// Autotuning: kernels run in rounds on the real tensors. Measurements are remembered for sizes of the same
/// class on like hosts (Connection::report).
namespace schaas::client {

/// Runs a kernel once on the real tensors: its seconds.
using TimedRun = std::function<support::Result<double>()>;

/// Times of one schedule's runs, without the first.
struct Measured {
  std::string id;
  std::string trace;
  double seconds = 0;  ///< one run: the median of the rounds
  int runs = 0;
};
struct Candidate {
  std::string id, trace;
  TimedRun run;
};
/// Measures candidates. All run once to warm up, then in rounds, so that other work of the machine affects
/// all of them alike. A turn is as many runs as take a millisecond, up to 100. Short runs then find the
/// caches as they leave them. A candidate drops out whose minimum is above four times the least median, from
/// the third round on above one and a half. It ends after fifteen rounds, or after three when one is left.
/// When `seconds` are over it ends after the third round, or the first. In the order of the candidates.
/// Errors: those of the first run that fails.
support::Result<std::vector<Measured>> measure_candidates(const std::vector<Candidate>& candidates,
                                                          double seconds);
/// The least median; one that is less than 3 % above it and comes earlier stays ahead of it. `measured` is
/// not empty.
std::size_t winner(const std::vector<Measured>& measured);

/// Returns the class of sizes: the rounded binary logarithms of the extents and of the stored entries of all
/// levels, by canonical names: "i=14 j=14 k=6 B:14,17".
std::string size_class(const Frontier& frontier, const Sizes& sizes);

/// Place of a measurement: the instruction set, and with "cuda" the device (GpuTarget::class_text).
struct Where {
  std::string isa;
  std::string device{};
};
/// Returns the text of the sizes of a measurement: their class, and the device.
std::string sizes_text(const Frontier& frontier, const Sizes& sizes, const Where& where);

/// The schedule that was fastest at sizes of this class on a host like this, with as many threads. At least
/// two schedules must have been measured there; those of `beside` count, too.
struct Remembered {
  std::string trace;
  double seconds = 0;
  std::size_t of = 0;          ///< schedules measured
  std::string reason() const;  ///< one sentence
};
std::optional<Remembered> remembered(const Frontier& frontier, const Sizes& sizes, const Machine& machine,
                                     const Where& where, const std::optional<Where>& beside = {});

/// Returns the measurements at sizes of this class on hosts like this, newest first.
std::vector<Measurement> measured_at(const Frontier& frontier, const Sizes& sizes, const Machine& machine,
                                     const Where& where);

/// The entry that the trace is of, its own or a variant's.
std::optional<std::size_t> entry_with(const std::vector<FrontierEntry>& entries, const std::string& trace);

}  // namespace schaas::client
