#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/access.h"
#include "server/admin_service.h"
#include "server/admitting_provider.h"
#include "server/cache_keeper.h"
#include "server/credentials.h"
#include "server/data_directory.h"
#include "server/http_door.h"
#include "server/jobs_service.h"
#include "server/kept_replies.h"
#include "server/listen_address.h"
#include "server/log.h"
#include "server/metrics.h"
#include "server/scheduler_service.h"

namespace grpc {
class Server;
}

namespace schaas::server {

/// What one connection may do.
struct ConnectionLimits {
  static constexpr int sent_bytes = 256 << 20;
  static constexpr int metadata_bytes = 16 << 10;
};

struct DaemonOptions {
  // Behaviour
  std::string data_directory;       ///< absolute
  std::vector<std::string> listen;  ///< listen addresses; none: the socket in the data directory
  std::string http;  ///< host:port of metrics, health and status page (http_door.h); none: nowhere
  std::chrono::seconds idle{0};    ///< `wait` returns after so long without a request; 0: never
  std::chrono::seconds drain{10};  ///< how long running requests may finish when stopping
  std::string version = "unknown";
  std::string solver;       ///< path of schaas-solver; none: Z3 in this process, which nothing can end
  std::string trial;        ///< path of schaas-trial; none: kernels are served untried
  std::string nvrtc;        ///< path of schaas-nvrtc; none: kernels for GPUs need nvcc
  std::string signing_key;  ///< path; none: the one in the data directory
  std::vector<std::string> compiler_reads;  ///< what compilers may read beside the system's folders
  // Who may connect
  TlsFiles tls;               ///< of all TCP addresses
  std::string tokens;         ///< path of the tokens file; none: who reaches an address may do everything
  bool insecure_tcp = false;  ///< listen without TLS where other machines reach
  unsigned socket_mode =
      0600;  ///< of Unix sockets; who is let in beside the owner needs a token, where there are any
  CacheLimits cache;
  kernels_cache::JobLimits jobs;
  // Performance
  KeptReplies::Limits replies;
  Admission admission;
  SearchMeans search;                                           ///< its solver is schaas-solver, above
  std::size_t most_kernels = SchedulingOptions().most_kernels;  ///< compiled of one frontier
  int compile_seconds = toolchain::CToolchainOptions().timeout_seconds;          ///< of one kernel for CPUs
  std::uint64_t compile_memory = toolchain::CToolchainOptions().memory_bytes;    ///< bytes
  int cuda_compile_seconds = toolchain::CudaToolchainOptions().timeout_seconds;  ///< of one kernel for GPUs
  std::size_t source_bytes = toolchain::CToolchainOptions().source_bytes;        ///< of one kernel
  std::size_t job_requests = JobsService::Limits().requests;                     ///< of one job
  int message_bytes = 16 << 20;                                                  ///< longest that is received
  int threads = 64;   ///< of gRPC; more calls at once are refused RESOURCE_EXHAUSTED
  int streams = 128;  ///< calls of one connection at the same moment; more wait in the client
  std::chrono::milliseconds handshake{
      20'000};  ///< a new connection that has not said hello by then is closed
  std::chrono::milliseconds silence{
      60'000};  ///< after so long a silent connection, also one without calls, is asked whether it is there
  std::chrono::milliseconds ping_answer{20'000};  ///< who has not answered by then is gone
  /// Bytes of what connections have sent and is no whole message yet, all together: beyond it calls that send
  /// are cancelled, one after the other.
  std::uint64_t connection_memory = std::uint64_t{512} << 20;
  std::uint64_t solver_memory = std::uint64_t{1} << 30;  ///< bytes of address space of each schaas-solver
  std::chrono::seconds longest_request{3600};
  std::chrono::seconds longest_item{3600};  ///< of a job
  std::chrono::milliseconds transfer{
      60'000};  ///< a client that takes nothing of what is sent for so long is left
  std::chrono::milliseconds head_start = SchedulingOptions().head_start;
  // Tests
  std::shared_ptr<toolchain::Toolchain> toolchain;  ///< none: the system's C compiler
  /// Wraps the bottom of the provider stack, to count or to fail.
  std::function<std::unique_ptr<KernelProvider>(std::unique_ptr<KernelProvider>)> wrap_compiling;
};

/// A running server. Stops, draining, when destroyed.
class Daemon {
 public:
  /// Takes the data directory, opens the stores, listens. Errors: those of DataDirectory::open, of the
  /// stores, invalid [tokens], [tls], [insecure-listen], [signing-key], [listen], unreachable
  /// [socket-in-use].
  static support::Result<std::unique_ptr<Daemon>> start(const DaemonOptions& options, Log log);
  ~Daemon();

  /// Reads the tokens file again; on an error the old tokens stay. Certificates are read again by themselves.
  support::Result<void> reload() { return access_->reload(); }
  /// What clients connect to, with the real port.
  const std::vector<std::string>& addresses() const { return addresses_; }
  /// Where metrics, health and status page are, with the real port; "" when nowhere.
  std::string http_address() const { return http_ == nullptr ? "" : http_->address(); }
  /// How long nothing has been asked or worked on.
  std::chrono::steady_clock::duration idle() const;
  /// Refuses new requests, lets running ones finish for `drain`, then cancels them. Returns when all have
  /// ended.
  void stop();

 private:
  Daemon(const DaemonOptions& options, DataDirectory directory, Stores stores,
         std::shared_ptr<kernels_cache::JobStore> jobs, std::shared_ptr<KernelSigner> signer,
         std::shared_ptr<Access> access, Log log);
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
  const std::shared_ptr<KernelSigner> signer_;
  const std::shared_ptr<Access> access_;
  const std::shared_ptr<CacheKeeper> keeper_;
  const std::shared_ptr<KeptReplies> replies_;
  const Lines lines_;
  std::shared_ptr<toolchain::Toolchain> toolchain_;
  std::unique_ptr<Scheduling> scheduling_;
  std::unique_ptr<RequestBoundary> boundary_;
  std::unique_ptr<SchedulerService> service_;
  std::unique_ptr<JobRunner> runner_;
  std::unique_ptr<JobsService> jobs_service_;
  std::unique_ptr<AdminService> admin_service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<HttpDoor> http_;
  std::vector<std::string> addresses_;
};

}  // namespace schaas::server
