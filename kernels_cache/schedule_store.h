#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/support/digest.h"
#include "compiler/support/result.h"
#include "kernels_cache/changes.h"
#include "kernels_cache/clock.h"

/// What survives a restart: which frontiers were found and which kernels were compiled. Nothing here parses a
/// schedule: a frontier is an opaque payload, a trace is text. Schema and reasons: docs/storage.md.
namespace schaas::kernels_cache {

/// A frontier is found again only for the same problem, searched by the same rules and the same code.
struct FrontierKey {
  std::string problem_key;  ///< problem::Canonical::key
  std::string options;      ///< fingerprint of the search options, text
  int search_version = 0;   ///< pipeline::search_version
};

struct FrontierRow {
  FrontierKey key;
  std::string canonical;  ///< canonical problem text, stored once per problem
  std::string payload;    ///< opaque
  bool complete = true;   ///< false: a budget ended the search early
  std::uint64_t schedules = 0;
  double seconds = 0;   ///< what the search took
  std::string created;  ///< UTC, ISO 8601; set by the store
  std::string family;   ///< what problems that differ only in constraints share; "": none
  std::string asked;    ///< the problem in the names of who asked when it was searched last; "": not known
};

struct KernelRow {
  std::string kernel_key;  ///< pipeline::kernel_key
  std::string problem_key;
  std::string canonical;  ///< canonical problem text, stored once per problem
  std::string trace;      ///< canonical names
  std::string isa;
  support::Digest digest;
  double seconds = 0;     ///< what the compilation took
  std::string created;    ///< set by the store
  std::string signature;  ///< opaque; "": stored before kernels were signed
};

/// Seconds that a client measured.
struct MeasurementRow {
  std::string problem_key;
  std::string canonical;  ///< canonical problem text, stored once per problem
  std::string host;       ///< what like hosts share, text
  std::string sizes;      ///< what like sizes share, text
  int threads = 1;
  std::string isa;
  std::string trace;     ///< canonical names
  int code_version = 0;  ///< pipeline::code_version: other code, other times
  double seconds = 0;
  std::string created;  ///< set by the store
  bool operator==(const MeasurementRow&) const = default;
};

/// A pinned problem's kernels are not evicted.
enum class Pinned { no, yes };

struct ProblemSummary {
  std::string problem_key;
  std::string canonical;
  std::uint64_t schedules = 0;  ///< on the newest stored frontier; 0 when none is stored
  std::uint64_t kernels = 0;
  std::string created;
  Pinned pinned = Pinned::no;
  std::string asked;  ///< FrontierRow::asked
};

struct Statistics {
  std::uint64_t problems = 0;
  std::uint64_t frontiers = 0;
  std::uint64_t kernels = 0;
  std::uint64_t frontier_bytes = 0;  ///< of the payloads
  bool operator==(const Statistics&) const = default;
};

struct DroppedFrontiers {
  std::uint64_t frontiers = 0, bytes = 0;  ///< what was dropped
  std::uint64_t left_bytes = 0;            ///< of the payloads that stay
};

/// Thread-safe. Every put is atomic and replaces the row of the same key. Errors of every method:
/// exhausted [disk-full]; internal [storage] (the database's own words are in the message),
/// [damaged-database].
class ScheduleStore {
 public:
  virtual ~ScheduleStore() = default;

  virtual support::Result<void> put_frontier(const FrontierRow& row) = 0;
  /// Reading it is a use, noted at most once a minute.
  virtual support::Result<std::optional<FrontierRow>> frontier(const FrontierKey& key) = 0;
  /// Complete frontiers of one family, searched by the same options and version, newest first, at most
  /// `limit`.
  virtual support::Result<std::vector<FrontierRow>> frontiers_of(const std::string& family,
                                                                 const std::string& options,
                                                                 int search_version, std::size_t limit) = 0;

  /// The newest frontier of a problem, whatever it was searched by.
  virtual support::Result<std::optional<FrontierRow>> newest_frontier(const std::string& problem_key) = 0;

  virtual support::Result<void> put_kernel(const KernelRow& row) = 0;
  virtual support::Result<std::optional<KernelRow>> kernel(const std::string& kernel_key) = 0;
  /// Kernels of one problem, oldest first; an empty key means every kernel.
  virtual support::Result<std::vector<KernelRow>> kernels_of(const std::string& problem_key) = 0;
  /// Forgets every kernel whose binary has this digest; returns how many.
  virtual support::Result<std::uint64_t> drop_kernels_with(const std::string& sha256) = 0;

  /// What was measured in one contest, all or none: replaces what an earlier one found in the same
  /// circumstances (problem, host, sizes, threads, instruction set, code), whose times, at other sizes of
  /// that class or on another day, are not to be compared with these. Of one problem the newest
  /// `most_measurements` are kept.
  virtual support::Result<void> put_measurements(const std::vector<MeasurementRow>& rows) = 0;
  static constexpr std::size_t most_measurements = 4096;
  /// Those of one problem, kind of host ("": any) and code, newest first, at most `limit`.
  virtual support::Result<std::vector<MeasurementRow>> measurements_of(const std::string& problem_key,
                                                                       const std::string& host,
                                                                       int code_version,
                                                                       std::size_t limit) = 0;

  /// False: no such problem is stored.
  virtual support::Result<bool> set_pin(const std::string& problem_key, Pinned pinned) = 0;
  /// Digests of the kernels of pinned problems.
  virtual support::Result<std::set<std::string>> pinned_binaries() = 0;
  /// Forgets frontiers of older search versions; returns how many.
  virtual support::Result<std::uint64_t> drop_frontiers_before(int search_version) = 0;
  /// Forgets frontiers, those used longest ago first, until the payloads hold at most `bytes`. Those used at
  /// `fresh` or later stay, and those of pinned problems. A problem of which nothing is left goes with them.
  virtual support::Result<DroppedFrontiers> drop_frontiers_above(std::uint64_t bytes, Clock::Time fresh) = 0;

  /// A copy of all rows as they are at one instant, as a database of its own at `path`, which is not there;
  /// others go on meanwhile. Errors: internal [storage] also where rows are not kept in a file.
  virtual support::Result<void> back_up(const std::string& path) = 0;

  /// Every problem, oldest first.
  virtual support::Result<std::vector<ProblemSummary>> list() = 0;
  virtual support::Result<Statistics> statistics() = 0;

  /// Of frontiers, kernels and measurements.
  const Changes& changes() const { return changes_; }

 protected:
  Changes changes_;
};

}  // namespace schaas::kernels_cache
