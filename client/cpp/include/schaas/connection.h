#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "compiler/support/result.h"
#include "schaas/frontier.h"
#include "schaas/jobs.h"

/// The server, as seen by a client.
namespace schaas::client {

/// The user's texts (docs/language.md).
struct ProblemText {
  std::string expression;
  std::map<std::string, std::string> formats;  ///< tensor -> format; others are dense
  std::vector<std::string> constraints;
  std::string value_type = "f64";
  std::string position_bits = "auto";
  std::string profile = "default";
  std::string space = "none";  ///< what is searched beyond the plain space: "all", or options with commas
};

/// How the search is bounded beyond what the profile says; zero: not at all.
struct SearchOptions {
  int memory_depth = 0;                   ///< indices of a temporary
  std::uint64_t max_temporary_bytes = 0;  ///< of all temporaries of a schedule
  double seconds = 0;                     ///< of the search, before parts of the space stand for the whole
};

struct ScheduleRequest {
  ProblemText problem;
  SearchOptions search;
  std::string isa;                  ///< "" = host_isa()
  std::uint32_t kernels = 0;        ///< frontier schedules to compile at most; 0 = the server's default
  std::vector<std::string> traces;  ///< further ones: "linear", a frontier id, or a trace
  bool search_only = false;
  bool no_cache = false;
  bool no_stage2 = false;
  bool traces_only = false;
  bool wins = false;          ///< also tell at which sizes each schedule wins
  bool keep_working = false;  ///< who leaves after the first kernel stops nothing: the answer is stored
  /// After so long the answer is left as soon as it has a kernel.
  std::chrono::milliseconds patience = std::chrono::milliseconds::max();
};

struct Progress {
  std::string stage;
  std::uint64_t done = 0, of = 0;         ///< of == 0: unknown
  std::uint64_t states = 0, classes = 0;  ///< of the recursion; kept so far
  std::string members;                    ///< schedules covered so far, decimal; "": unknown
};
struct Done {
  bool hit = false;
  std::uint32_t compiled = 0;
  double seconds = 0, compile_seconds = 0;
  std::uint32_t failed = 0;  ///< kernels that could not be made
};
/// A kernel that could not be made; the others still come.
struct KernelFailure {
  std::string id, trace;
  support::Diagnostic diagnostic;
};
using ScheduleEvent = std::variant<Progress, Frontier, KernelInfo, Done, KernelFailure>;

/// All events of one request, collected.
struct ScheduleAnswer {
  Frontier frontier;                ///< the last one
  std::vector<KernelInfo> kernels;  ///< a draft only where the full kernel of its schedule has not come
  std::vector<KernelFailure> failures;
  Done done;  ///< when the answer was left: from what had come
  /// Whether and why it was left before its end.
  enum class Left { no, listener, patience } left = Left::no;
};

struct ServerInfo {
  std::string version;
  std::uint32_t abi_version = 0;
  std::string toolchain;
  std::vector<std::string> isas;
  std::uint64_t frontiers = 0, kernels = 0, binary_bytes = 0;
  double uptime_seconds = 0;
  std::string data_directory;
  std::string public_key;  ///< kernels are signed with its other half
  std::string isolation;   ///< what its compilers and kernels on trial are kept from
  std::uint32_t expression_bytes = 0, factors = 0, indices = 0, constraints = 0;
};
struct CacheEntry {
  std::string key, canonical;
  std::uint64_t frontier = 0, kernels = 0;
  std::string created;             ///< UTC, ISO 8601
  std::vector<KernelInfo> kernel;  ///< when asked by key
};
struct CacheVerification {
  std::uint64_t checked = 0;
  std::vector<std::string> damaged;  ///< digests dropped
  std::uint64_t missing = 0;
};

struct ConnectOptions {
  /// "unix:/path" or "host:port". Empty: $SCHAAS_SERVER, else the user's private server, started when it is
  /// not running.
  std::string server;
  /// The key that the server must have ("ed25519:..."), or a file that holds it. Empty: $SCHAAS_SERVER_KEY,
  /// else what is known of the address (docs/security.md).
  std::string server_key;
  /// TLS, over TCP: who vouches for the server (a PEM file, or "system" for the authorities this machine
  /// knows), and this client's own certificate and key where the server asks for one. Empty: $SCHAAS_TLS_CA,
  /// $SCHAAS_TLS_CERT, $SCHAAS_TLS_KEY.
  std::string tls_ca, tls_cert, tls_key;
  /// The token for servers that ask for one, or the file it is in. Both empty: $SCHAAS_TOKEN_FILE. Never sent
  /// unencrypted to other machines, nor to the private server.
  std::string token, token_file;
  std::string data_directory;                     ///< of the private server; "" = default_data_directory()
  std::chrono::milliseconds start_limit{15'000};  ///< for a server to answer its first call
  std::chrono::milliseconds call_limit{30'000};   ///< deadline of every short call
  std::chrono::milliseconds schedule_limit{3'600'000};
  std::chrono::milliseconds busy_limit{60'000};  ///< how long a call that a busy server refuses is made again
  std::function<void(double seconds)>
      busy;  ///< told how long is waited before each further attempt; may be empty
};

/// $XDG_DATA_HOME/schaas, else ~/.local/share/schaas.
std::string default_data_directory();
/// Where the private server of a data directory listens: in $XDG_RUNTIME_DIR, else in the data directory.
std::string private_socket_path(const std::string& data_directory);

/// Thread-safe. No exception escapes. Every method may fail with: the server's own diagnostic; unreachable
/// [server-down] (the address and what to do), [tls-failed] (one end does not believe the other),
/// [server-refused]; exhausted [deadline]; internal [server-internal].
class Connection {
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
  ~Connection();

  const std::string& address() const;
  /// True when open() had to start the private server.
  bool started_server() const;

  /// Streams the answer; `listener` (may be empty) sees each event in order, on the calling thread, and says
  /// whether to go on.
  support::Result<ScheduleAnswer> schedule(const ScheduleRequest& request,
                                           const std::function<bool(const ScheduleEvent&)>& listener = {});
  support::Result<Frontier> lookup(const ProblemText& problem);
  /// schedule: "s2", "r17" (a removed class), "linear", a trace, or a loop tree ("i<j<k,l>,lm>"), which may
  /// stand for several costs. `request` gives problem, search and no_stage2.
  support::Result<std::vector<Explanation>> explain(const ScheduleRequest& request,
                                                    const std::string& schedule);
  /// schedule: "auto", "linear", a frontier id or a trace; language: trace, tree, loops, c.
  support::Result<std::string> emit(const ProblemText& problem, const std::string& schedule,
                                    const std::string& language, const std::string& isa,
                                    const SearchOptions& search = {});
  /// The binary of a kernel. Nothing is asked for that the server's key has not signed: invalid
  /// [kernel-signature]; [kernel-digest] when the bytes are not what was promised.
  support::Result<std::string> download(const KernelInfo& kernel);
  /// Tells the server what was measured on this host, for the answers to hosts like it. At most 64 at once.
  /// Errors: invalid [measurement].
  support::Result<void> report(const ProblemText& problem, const std::vector<Measurement>& measurements);
  support::Result<ServerInfo> info();

  /// Accepted when this returns: on disk, and worked on also after a crash of the server. Requests are
  /// checked first. Errors: of the first wrong request; invalid [job], [idempotency-key] (used for another
  /// job).
  support::Result<Job> submit(const NewJob& job);
  support::Result<std::vector<Job>> jobs(std::uint32_t limit = 100);  ///< newest first
  /// Waits for the end of a job; the listener sees what has ended after the item with `ended` == after.
  /// Returns how it stands. Errors: invalid [unknown-job]; unreachable [stopping].
  support::Result<Job> watch(const std::string& id, std::uint64_t after = 0,
                             const JobListener& listener = {});
  support::Result<Job> cancel(const std::string& id);  ///< stops what runs, too; invalid [unknown-job]
  support::Result<Job> retry(const std::string& id);  ///< what failed or was cancelled; invalid [unknown-job]
  support::Result<std::vector<CacheEntry>> list_cache(const std::string& key = {});
  support::Result<CacheVerification> verify_cache();

 private:
  struct State;
  explicit Connection(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace schaas::client
