#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/auth/access_control.h"
#include "server/auth/kernel_signer.h"
#include "server/daemon/certificate_copies.h"
#include "server/daemon/connection_acceptor.h"
#include "server/http/http_server.h"
#include "server/http/listen_address.h"
#include "server/jobs/jobs_service.h"
#include "server/providers/admitting_provider.h"
#include "server/rpc/admin_service.h"
#include "server/rpc/response_cache.h"
#include "server/rpc/scheduler_service.h"
#include "server/storage/cache_evictor.h"
#include "server/storage/data_directory.h"
#include "server/telemetry/log.h"
#include "server/telemetry/metrics.h"

namespace grpc {
class Server;
}

namespace schaas::server {

/// Limits of one connection.
struct ConnectionLimits {
  static constexpr int sent_bytes = 256 << 20;
  static constexpr int metadata_bytes = 16 << 10;
};

struct DaemonOptions {
  // Behaviour
  std::string data_directory;       ///< absolute
  std::vector<std::string> listen;  ///< listen addresses; none: the socket in the data directory
  std::string http;       ///< host:port of metrics, health and status page (http_server.h); none: nowhere
  bool http_any = false;  ///< `http` may be any address; then without status page
  HttpReach http_reach() const { return http_any ? HttpReach::anywhere : HttpReach::loopback; }
  std::chrono::seconds idle{0};    ///< `wait` returns after this time without a request; 0: never
  std::chrono::seconds drain{10};  ///< time for running requests to finish when stopping
  std::string version = "unknown";
  std::string solver;       ///< path of schaas-solver; none: Z3 runs in this process and cannot be killed
  std::string trial;        ///< path of schaas-trial; none: kernels are served unvalidated
  std::string nvrtc;        ///< path of schaas-nvrtc; none: GPU kernels need nvcc
  std::string signing_key;  ///< path; none: the one in the data directory
  std::string database;     ///< file that names the database shared with other servers; none: files alone
  bool worker = false;      ///< takes items of jobs and listens nowhere
  bool adopt_toolchain = false;             ///< makes this machine's compilers those of the shared database
  std::vector<std::string> compiler_reads;  ///< folders that compilers may read beside the system's
  // Authentication
  TlsFiles tls;               ///< for all TCP addresses
  std::string tokens;         ///< path of the tokens file; none: every client is authorised for everything
  bool insecure_tcp = false;  ///< allow TCP without TLS on addresses other than loopback
  unsigned socket_mode =
      0600;  ///< mode of Unix sockets; users beside the owner need a token when there are any
  CacheLimits cache;
  kernels_cache::JobLimits jobs;
  // Performance
  ResponseCache::Limits response_cache;
  Admission admission;
  SearchMeans search;                                         ///< the solver is schaas-solver, above
  std::size_t max_kernels = SchedulingOptions().max_kernels;  ///< kernels compiled from one frontier
  int compile_seconds =
      toolchain::CToolchainOptions().timeout_seconds;  ///< time limit of one CPU compilation
  std::uint64_t compile_memory = toolchain::CToolchainOptions().memory_bytes;  ///< bytes
  int cuda_compile_seconds =
      toolchain::CudaToolchainOptions().timeout_seconds;  ///< time limit of one GPU compilation
  std::size_t source_bytes =
      toolchain::CToolchainOptions().source_bytes;            ///< limit on the source of one kernel
  std::size_t job_requests = JobsService::Limits().requests;  ///< limit on the requests of one job
  int message_bytes = 16 << 20;                               ///< limit on received messages
  int threads = 64;                ///< concurrent calls; further ones fail with RESOURCE_EXHAUSTED
  int streams = 128;               ///< concurrent calls per connection; further ones wait in the client
  std::size_t connections = 1000;  ///< limit for all clients together (connection_acceptor.h)
  std::chrono::milliseconds handshake_timeout{
      20'000};  ///< a new connection that has not completed its handshake by then is closed
  std::chrono::milliseconds keepalive_time{
      60'000};  ///< interval of keepalive pings on silent connections, also those without calls
  std::chrono::milliseconds keepalive_timeout{
      20'000};  ///< a connection whose ping is not answered by then is closed
  /// Memory for incomplete messages of all connections; above it sending calls are cancelled one by one.
  std::uint64_t connection_memory = std::uint64_t{512} << 20;
  std::uint64_t solver_memory = std::uint64_t{1} << 30;  ///< address space of each schaas-solver
  std::chrono::seconds max_request_time{3600};
  std::chrono::seconds max_item_time{3600};  ///< time limit of an item of a job
  int items = 1;                             ///< items of jobs worked on at once
  std::chrono::milliseconds write_timeout{
      60'000};  ///< a client that reads nothing of what is sent for this long is disconnected
  std::chrono::milliseconds partial_search_delay = SchedulingOptions().partial_search_delay;
  // Tests
  std::shared_ptr<toolchain::Toolchain> toolchain;  ///< none: the system's C compiler
  /// Wraps the innermost provider, to count or to fail.
  std::function<std::unique_ptr<KernelProvider>(std::unique_ptr<KernelProvider>)> wrap_compiling;
};

/// A running server; drains and stops when destroyed.
class Daemon {
 public:
  /// Locks the data directory, opens the stores and listens. Errors: those of DataDirectory::open, of the
  /// stores, invalid [tokens], [tls], [insecure-listen], [signing-key], [listen], unreachable
  /// [socket-in-use].
  static support::Result<std::unique_ptr<Daemon>> start(const DaemonOptions& options, Log log);
  ~Daemon();

  /// Reads the tokens file again; on an error the old tokens stay. Certificates are reloaded automatically.
  support::Result<void> reload() { return access_control_->reload(); }
  /// Returns the addresses for clients, with the real ports.
  const std::vector<std::string>& addresses() const { return addresses_; }
  /// Returns the address of metrics, health and status page, with the real port; "" when HTTP is off.
  std::string http_address() const { return http_ == nullptr ? "" : http_->address(); }
  /// Returns the time since the last request or job item ended; zero while one runs.
  std::chrono::steady_clock::duration idle() const;
  /// Refuses new requests, waits up to `drain` for running ones, then cancels them. Returns when all have
  /// ended.
  void stop();

 private:
  /// Stores of a data directory, or of a database.
  struct Opened {
    Stores stores;
    std::shared_ptr<kernels_cache::JobStore> jobs;
    std::shared_ptr<const Quarantine> quarantine;
    std::shared_ptr<kernels_cache::Database> shared;  ///< null: none
  };
  static support::Result<Opened> open(const DaemonOptions& options, const DataDirectory& directory,
                                      const Log& log);
  Daemon(const DaemonOptions& options, DataDirectory directory, const Opened& opened,
         std::shared_ptr<toolchain::Toolchain> toolchain, std::shared_ptr<KernelSigner> signer,
         std::shared_ptr<AccessControl> access, Log log);
  support::Result<void> listen(const std::vector<ListenAddress>& addresses);
  support::Result<void> open_http();
  bool is_ready();
  ServerFacts facts() const;

  const DaemonOptions options_;
  const DataDirectory directory_;
  const Log log_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  const std::shared_ptr<Metrics> metrics_ = std::make_shared<Metrics>();
  const Stores stores_;
  const std::shared_ptr<kernels_cache::JobStore> jobs_;
  const std::shared_ptr<const Quarantine> quarantine_;
  const std::shared_ptr<KernelSigner> signer_;
  const std::shared_ptr<AccessControl> access_control_;
  const std::shared_ptr<CacheEvictor> evictor_;
  const std::shared_ptr<ResponseCache> response_cache_;
  const AdmissionQueues queues_;
  const std::shared_ptr<toolchain::Toolchain> toolchain_;  ///< this machine's
  std::unique_ptr<Scheduling> scheduling_;
  std::unique_ptr<RequestBoundary> boundary_;
  std::unique_ptr<SchedulerService> service_;
  std::unique_ptr<JobRunner> runner_;
  std::unique_ptr<JobsService> jobs_service_;
  std::unique_ptr<AdminService> admin_service_;
  std::unique_ptr<CertificateCopies> certificates_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<ConnectionAcceptor> acceptor_;
  std::unique_ptr<HttpServer> http_;
  std::vector<std::string> addresses_;
};

}  // namespace schaas::server
