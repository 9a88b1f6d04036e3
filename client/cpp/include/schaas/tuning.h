#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "schaas/frontier.h"
#include "schaas/select.h"

/// Choosing by measurement: kernels run in turns on the real tensors, and what that showed is remembered for
/// sizes of the same class on like hosts (Connection::report).
namespace schaas::client {

/// Runs a kernel once on the real tensors: its seconds.
using TimedRun = std::function<support::Result<double>()>;

/// What runs of one schedule took, but for the first.
struct Measured {
  std::string id;
  std::string trace;
  double seconds = 0;  ///< of one run: the median of the turns
  int runs = 0;
};
struct Contender {
  std::string id, trace;
  TimedRun run;
};
/// All run once to warm up, then in turns, so that what else the machine does meets all of them; a turn is as
/// many runs as take a millisecond, up to 100, so that short ones find the caches as they leave them. Those
/// whose least time is above the least median drop out: four times of it at once, one and a half from the
/// third round on. Ends after fifteen rounds; after three when one is left or `seconds` are over; after one
/// when they are over by then. In the order of the contenders. Errors: of the first run that fails.
support::Result<std::vector<Measured>> contest(const std::vector<Contender>& contenders, double seconds);
/// The least median; one that is less than 3 % above it and comes earlier stays ahead of it. `measured` is
/// not empty.
std::size_t winner(const std::vector<Measured>& measured);

/// What near sizes share: the rounded binary logarithms of the extents and of the stored entries of all
/// levels, by canonical names: "i=14 j=14 k=6 B:14,17".
std::string size_class(const Frontier& frontier, const Sizes& sizes);

/// Where something was measured on a host: with an instruction set; with "cuda", on which device (GpuTarget::
/// class_text).
struct Where {
  std::string isa;
  std::string device{};
};
/// What is told of the sizes of a measurement: their class, and the device.
std::string sizes_text(const Frontier& frontier, const Sizes& sizes, const Where& where);

/// The schedule that was fastest at sizes of this class on a host like this, with as many threads, there,
/// among at least two that were measured there; those of `beside` count, too.
struct Remembered {
  std::string trace;
  double seconds = 0;
  std::size_t of = 0;          ///< schedules measured
  std::string reason() const;  ///< one sentence
};
std::optional<Remembered> remembered(const Frontier& frontier, const Sizes& sizes, const Machine& machine,
                                     const Where& where, const std::optional<Where>& beside = {});

/// What was measured at sizes of this class on hosts like this, newest first.
std::vector<Measurement> measured_at(const Frontier& frontier, const Sizes& sizes, const Machine& machine,
                                     const Where& where);

/// The entry that the trace is of, its own or a variant's.
std::optional<std::size_t> entry_with(const std::vector<FrontierEntry>& entries, const std::string& trace);

}  // namespace schaas::client
