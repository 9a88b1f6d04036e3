#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/support/digest.h"
#include "compiler/support/result.h"
#include "kernels_cache/changes.h"
#include "kernels_cache/claims.h"
#include "kernels_cache/clock.h"

/// Durable results: frontiers, kernels and measurements. Schedules are opaque here: a frontier is a payload,
/// a trace is text. Schema and reasons: docs/storage.md.
namespace schaas::kernels_cache {

/// Identity of a search: the problem, its options and the version of the code.
struct FrontierKey {
  std::string problem_key;  ///< problem::Canonical::key
  std::string options;      ///< fingerprint of the search options
  int search_version = 0;   ///< pipeline::search_version
};

struct FrontierRow {
  FrontierKey key;
  std::string canonical;  ///< canonical problem text, stored once per problem
  std::string payload;    ///< opaque
  bool complete = true;   ///< false: a budget ended the search early
  std::uint64_t schedules = 0;
  double seconds = 0;             ///< duration of the search
  std::string created;            ///< UTC, ISO 8601; set by the store
  std::string unconstrained_key;  ///< key without constraints, for subsumption; "": none. Column `family`
  std::string asked;  ///< problem text in the names of the last request that searched; "": unknown
};

struct KernelRow {
  std::string kernel_key;  ///< pipeline::kernel_key
  std::string problem_key;
  std::string canonical;  ///< canonical problem text, stored once per problem
  std::string trace;      ///< canonical names
  std::string isa;
  support::Digest digest;
  double seconds = 0;     ///< duration of the compilation
  std::string created;    ///< set by the store
  std::string signature;  ///< opaque; "": stored before kernels were signed
};

/// One timing measured by a client.
struct MeasurementRow {
  std::string problem_key;
  std::string canonical;  ///< canonical problem text, stored once per problem
  std::string host;       ///< class of hosts, opaque
  std::string sizes;      ///< class of sizes, opaque
  int threads = 1;
  std::string isa;
  std::string trace;     ///< canonical names
  int code_version = 0;  ///< pipeline::code_version; times of other versions do not compare
  double seconds = 0;
  std::string created;     ///< set by the store
  bool exclusive = false;  ///< nothing else ran on the machine
  bool operator==(const MeasurementRow&) const = default;
};

/// Kernels of a pinned problem are not evicted.
enum class Pinned { no, yes };

struct ProblemSummary {
  std::string problem_key;
  std::string canonical;
  std::uint64_t schedules = 0;  ///< size of the newest stored frontier; 0: none stored
  std::uint64_t kernels = 0;
  std::string created;
  Pinned pinned = Pinned::no;
  std::string asked;         ///< FrontierRow::asked
  std::uint64_t number = 0;  ///< increases with the time of storing, from 1
};

/// A part of the stored problems.
struct ProblemRange {
  enum class Order { oldest_first, newest_first };
  std::string prefix{};     ///< beginning of their keys
  std::uint64_t after = 0;  ///< ProblemSummary::number that all of the part are above
  std::size_t limit = 0;    ///< 0: none
  Order order = Order::oldest_first;
};

struct Statistics {
  std::uint64_t problems = 0;
  std::uint64_t frontiers = 0;
  std::uint64_t kernels = 0;
  std::uint64_t frontier_bytes = 0;  ///< total of the payloads
  bool operator==(const Statistics&) const = default;
};

struct DroppedFrontiers {
  std::uint64_t frontiers = 0, bytes = 0;  ///< dropped
  std::uint64_t left_bytes = 0;            ///< payload bytes that remain
};

/// Thread-safe. Every put is atomic and replaces the row with the same key. Errors of every method: exhausted
/// [disk-full]; internal [storage] (with the database's message), [damaged-database].
class ScheduleStore {
 public:
  virtual ~ScheduleStore() = default;

  virtual support::Result<void> put_frontier(const FrontierRow& row) = 0;
  /// Reads a frontier and records the use, at most once a minute.
  virtual support::Result<std::optional<FrontierRow>> frontier(const FrontierKey& key) = 0;
  /// Lists up to `limit` complete frontiers with this key without constraints, options and version, newest
  /// first.
  virtual support::Result<std::vector<FrontierRow>> frontiers_of(const std::string& unconstrained_key,
                                                                 const std::string& options,
                                                                 int search_version, std::size_t limit) = 0;

  /// Reads the newest frontier of a problem, whatever its options and version.
  virtual support::Result<std::optional<FrontierRow>> newest_frontier(const std::string& problem_key) = 0;

  virtual support::Result<void> put_kernel(const KernelRow& row) = 0;
  virtual support::Result<std::optional<KernelRow>> kernel(const std::string& kernel_key) = 0;
  /// Lists the kernels of one problem, oldest first.
  virtual support::Result<std::vector<KernelRow>> kernels_of(const std::string& problem_key) = 0;
  /// Deletes every kernel row with one of these digests, some hundreds of digests at a time; returns the
  /// number of rows.
  virtual support::Result<std::uint64_t> drop_kernels_with(const std::vector<std::string>& sha256) = 0;
  /// Returns the digests of all kernels.
  virtual support::Result<std::set<std::string>> binaries() = 0;

  /// Stores the identity of the compiler that makes the kernels of a target.
  virtual support::Result<void> put_toolchain(const std::string& target, const std::string& identity) = 0;
  /// Stores the identity of a target that has none; returns the one that is stored.
  virtual support::Result<std::string> agree_on_toolchain(const std::string& target,
                                                          const std::string& identity) = 0;
  /// Returns identities by target.
  virtual support::Result<std::map<std::string, std::string>> toolchains() = 0;

  /// Stores the timings of one autotuning run, all or none. They replace those of the same circumstances
  /// (problem, host, sizes, threads, instruction set, code): times of different runs do not compare. Timings
  /// that are not exclusive are dropped where exclusive ones are stored. The newest `max_measurements` of a
  /// problem are kept.
  virtual support::Result<void> put_measurements(const std::vector<MeasurementRow>& rows) = 0;
  static constexpr std::size_t max_measurements = 4096;
  /// Lists up to `limit` timings of a problem, class of hosts ("": any) and code version, newest first.
  virtual support::Result<std::vector<MeasurementRow>> measurements_of(const std::string& problem_key,
                                                                       const std::string& host,
                                                                       int code_version,
                                                                       std::size_t limit) = 0;

  /// Pins or unpins a problem; returns false when it is not stored.
  virtual support::Result<bool> set_pin(const std::string& problem_key, Pinned pinned) = 0;
  /// Returns the digests of the kernels of pinned problems.
  virtual support::Result<std::set<std::string>> pinned_binaries() = 0;
  /// Deletes frontiers of older search versions; returns their number. A problem without any row left is
  /// deleted, unless it is pinned.
  virtual support::Result<std::uint64_t> drop_frontiers_before(int search_version) = 0;
  /// Deletes frontiers, least recently used first, until the payloads hold at most `bytes`. Frontiers used
  /// since `fresh` and those of pinned problems stay. A problem without any row left is deleted.
  virtual support::Result<DroppedFrontiers> drop_frontiers_above(std::uint64_t bytes, Clock::Time fresh) = 0;

  /// Copies all rows as of one instant into a new database at `path`; other calls proceed meanwhile. Errors:
  /// internal [storage], also for a store in memory.
  virtual support::Result<void> back_up(const std::string& path) = 0;

  virtual support::Result<std::vector<ProblemSummary>> list(const ProblemRange& range) = 0;
  support::Result<std::vector<ProblemSummary>> list() { return list({}); }
  virtual support::Result<Statistics> statistics() = 0;

  /// Returns the claims of all processes that share the store.
  virtual Claims& claims() = 0;

  /// Returns the stamps of changes to frontiers, kernels and measurements.
  const Changes& changes() const { return changes_; }

 protected:
  Changes changes_;
};

}  // namespace schaas::kernels_cache
