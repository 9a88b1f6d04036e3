#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "schaas/jobs.h"
#include "schaas/kernel_source.h"

/// The server, as seen by a client.
namespace schaas::client {

struct ServerInfo {
  std::string version;
  std::uint32_t abi_version = 0;
  std::string toolchain;
  std::string compiler_error;  ///< empty: kernels for CPUs are compiled; else why none is, with the remedy
  std::vector<std::string> isas;
  std::uint64_t frontiers = 0, kernels = 0, binary_bytes = 0;
  double uptime_seconds = 0;
  std::string data_directory;
  std::string public_key;  ///< kernels are signed with its other half
  std::string isolation;   ///< sandbox of its compilers and of kernels in validation
  std::string
      gpu_toolchain;  ///< compiler of kernels for GPUs: "nvcc ...", "NVRTC ...", "no CUDA toolkit ..."
  std::uint32_t expression_bytes = 0, factors = 0, indices = 0, constraints = 0;
};
/// One schedule to print. The server leaves out the passes of lowering after `last_pass`.
struct EmitRequest {
  ProblemText problem;
  std::string schedule = "auto";  ///< "auto", "linear", a frontier id or a trace
  std::string language = "c";     ///< trace, tree, loops, c, cuda
  std::string isa;
  SearchOptions search;
  std::string passes, last_pass;  ///< "a,b", "-c", "all", "baseline"; empty: all, to the last
};
/// The effect of one pass of lowering.
struct PassRemark {
  std::string pass;
  bool applied = false;
  std::string reason;  ///< set when the pass was not applied
  std::chrono::nanoseconds time{0};
};
struct EmitAnswer {
  std::string text;
  std::vector<PassRemark> remarks;  ///< empty for a trace or tree
};
/// A pinned problem's kernels are not evicted.
enum class Pinned { no, yes };
struct CacheEntry {
  std::string key, canonical;
  std::uint64_t frontier = 0, kernels = 0;
  std::string created;             ///< UTC, ISO 8601
  std::vector<KernelInfo> kernel;  ///< when asked by key
  Pinned pinned = Pinned::no;
  std::uint64_t number = 0;  ///< increases with the time of storing
};
/// A part of the stored problems, oldest first.
struct CacheRange {
  std::string prefix{};     ///< beginning of their keys
  std::uint64_t after = 0;  ///< CacheEntry::number that all of the part are above
  std::uint64_t limit = 0;  ///< 0: none
};
struct CacheVerification {
  std::uint64_t checked = 0;
  std::vector<std::string> damaged;  ///< digests dropped
  std::uint64_t missing = 0;
};

/// A kernel that failed its trial and is not served.
struct QuarantinedKernel {
  std::string key;
  std::string why;
  std::string since;  ///< UTC, ISO 8601
};

/// Counts of rows and files that `collect_cache` removed.
struct CacheCollection {
  std::uint64_t evicted = 0;    ///< least recently used binaries
  std::uint64_t orphans = 0;    ///< binaries of no kernel
  std::uint64_t rows = 0;       ///< kernels without binary
  std::uint64_t frontiers = 0;  ///< frontiers of older search versions
  std::uint64_t freed_bytes = 0, left_bytes = 0;
};
struct Backup {
  std::string path;  ///< on the server
  std::uint64_t binaries = 0, bytes = 0;
};

struct ConnectOptions {
  /// "unix:/path" or "host:port", or several servers of one fleet: "a:8470,b:8470", one of which is taken;
  /// the next when it goes. Empty: $SCHAAS_SERVER, else the user's private server, started when it is not
  /// running.
  std::string server;
  /// The key that the server must have ("ed25519:..."), or a file that holds it. Empty: $SCHAAS_SERVER_KEY,
  /// else what is known of the address (docs/security.md).
  std::string server_key;
  /// TLS, over TCP: the certificate authority of the server (a PEM file, or "system" for those this machine
  /// knows). The client's own certificate and key are for servers that ask for one. Empty: $SCHAAS_TLS_CA,
  /// $SCHAAS_TLS_CERT, $SCHAAS_TLS_KEY.
  std::string tls_ca, tls_cert, tls_key;
  /// The token for servers that ask for one, or the file it is in. Both empty: $SCHAAS_TOKEN_FILE. Never sent
  /// unencrypted to other machines, nor to the private server.
  std::string token, token_file;
  std::string data_directory;  ///< directory of the private server; "" = default_data_directory()
  /// Directory of the cache of sessions ("" = default_cache_directory()), and its limit in bytes; 0: no
  /// cache. Not set: $SCHAAS_CACHE_BYTES, else 256 MiB.
  std::string cache_directory;
  std::optional<std::uint64_t> cache_bytes;
  std::chrono::milliseconds start_limit{15'000};  ///< for a server to answer its first call
  std::chrono::milliseconds call_limit{30'000};   ///< deadline of every short call
  std::chrono::milliseconds schedule_limit{3'600'000};
  std::chrono::milliseconds busy_limit{
      60'000};  ///< limit of the retries of a call that a busy server refuses
  std::chrono::milliseconds away_limit{600'000};  ///< wait limit of a watch for a server that is gone or busy
  std::function<void(double seconds)>
      busy;                ///< told how long is waited before each further attempt; may be empty
  std::stop_token stop{};  ///< ends opening from another thread at once: exhausted [cancelled]
};

/// Returns the socket path of the private server of a data directory: in $XDG_RUNTIME_DIR, else in the data
/// directory.
std::string private_socket_path(const std::string& data_directory);

/// Thread-safe. No exception escapes. A server that goes away while it is asked is looked for again, or
/// started again where it is private, and asked once more. Every method may fail with: the server's own
/// diagnostic; unreachable [server-down] (the address and what to do), [tls-failed] (one end does not believe
/// the other), [server-refused]; exhausted [deadline]; internal [server-internal]. Where kernels are asked
/// for: unsupported [server-abi] (they would be for other clients).
class Connection final : public ServerSource {
 public:
  /// Connects, and starts the private server if that is what is asked for: the program `schaasd` beside this
  /// one, else on PATH, or $SCHAAS_SERVER_BINARY. A lock file makes sure that one is started however many
  /// clients ask. Errors: invalid [token-file], [tls-file], [server-address], [socket-path] (longer than a
  /// Unix socket allows); unreachable [server-down], [server-program], [server-start] (with the end of its
  /// log); when the server's key is not the right one unreachable [server-key-mismatch],
  /// [server-key-changed], [server-key-unknown].
  static support::Result<Connection> open(const ConnectOptions& options = {});
  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) noexcept;
  ~Connection() override;

  const std::string& address() const override;
  bool started_server() const override;

  support::Result<ScheduleAnswer> schedule(
      const ScheduleRequest& request,
      const std::function<bool(const ScheduleEvent&)>& listener = {}) override;
  using KernelSource::lookup;
  support::Result<Frontier> lookup(const ProblemText& problem, std::stop_token stop) override;
  /// schedule: "s2", "r17" (a removed class), "linear", a trace, or a loop tree ("i<j<k,l>,lm>"), which may
  /// stand for several costs. `request` gives problem, search and no_stage2.
  support::Result<std::vector<Explanation>> explain(const ScheduleRequest& request,
                                                    const std::string& schedule);
  support::Result<EmitAnswer> emit(const EmitRequest& request);
  /// Nothing is asked for that the server's key has not signed: invalid [kernel-signature].
  using KernelSource::download;
  support::Result<std::string> download(const KernelInfo& kernel, std::stop_token stop) override;
  support::Result<void> report(const ProblemText& problem,
                               const std::vector<Measurement>& measurements) override;
  std::string public_key() const override;
  support::Result<ServerInfo> info(std::stop_token stop = {});

  /// Accepted when this returns: on disk, and worked on also after a crash of the server. Requests are
  /// checked first. Errors: of the first wrong request; invalid [job], [idempotency-key] (used for another
  /// job).
  support::Result<Job> submit(const NewJob& job);
  support::Result<std::vector<Job>> jobs(std::uint32_t limit = 100);  ///< newest first
  /// Waits for the end of a job; the listener sees what has ended after the item with `ended` == after. A
  /// watch that is cut off, as by a restart of the server, goes on where it was. Returns how the job stands.
  /// Errors: invalid [unknown-job]; when the server was away for `away_limit` why it was.
  support::Result<Job> watch(const std::string& id, std::uint64_t after = 0,
                             const JobListener& listener = {});
  support::Result<Job> cancel(const std::string& id);  ///< stops what runs, too; invalid [unknown-job]
  support::Result<Job> retry(const std::string& id);   ///< failed and cancelled items; invalid [unknown-job]
  /// Lists stored problems, some hundreds with each call to the server.
  support::Result<std::vector<CacheEntry>> list_cache(const CacheRange& range = {});
  /// Returns a stored problem with its kernels. Errors: invalid [not-stored].
  support::Result<CacheEntry> cached_problem(const std::string& key);
  support::Result<CacheVerification> verify_cache();
  support::Result<void> pin(const std::string& key, Pinned pinned);
  support::Result<CacheCollection> collect_cache();
  support::Result<std::vector<QuarantinedKernel>> list_quarantine();
  /// The kernel is compiled and tried again when it is next asked for. Errors: invalid [not-stored].
  support::Result<void> lift_quarantine(const std::string& key);
  /// Into a folder of the server's; `name` "": the time.
  support::Result<Backup> back_up(const std::string& name);

 private:
  struct Link;
  struct State;
  class Scheduling;
  explicit Connection(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace schaas::client
