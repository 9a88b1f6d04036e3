#include "server/daemon/daemon.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "compiler/pipeline/solver_worker.h"
#include "compiler/support/instruction_set.h"
#include "compiler/toolchain/child_user.h"
#include "compiler/toolchain/isolation.h"
#include "kernels_cache/fleet_key.h"
#include "proto/kernel_abi.h"
#include "server/auth/signing_key.h"
#include "server/daemon/options_check.h"
#include "server/http/gauges.h"
#include "server/http/health_routes.h"
#include "server/http/status_page.h"
#include "server/jobs/stored_request.h"
#include "server/providers/caching_provider.h"
#include "server/providers/coalescing_provider.h"
#include "server/providers/compiling_provider.h"
#include "server/providers/instrumented_provider.h"
#include "server/providers/validating_provider.h"
#include "server/storage/agreed_toolchain.h"
#include "server/storage/database_file.h"
#include "server/storage/open_stores.h"

// Composition of the server: every object is made here, gets what it uses, and is owned here. Order of
// starting: options, lock, stores, key, addresses; only then anything listens. Members are declared in order
// of dependence, so they end in reverse.
// Order of stopping: readiness first, so that load balancers look elsewhere; then the job runner, whose item
// goes back; then running requests, which get time; last the transports.
namespace schaas::server {
namespace {

using support::Result;

// Derives the options of scheduling, with solvers in processes where their program is there.
SchedulingOptions scheduling_options(const DaemonOptions& options, const Stores& stores,
                                     const AdmissionQueues& queues, const Log& log) {
  SchedulingOptions out;
  out.measurements = stores.schedules;
  out.compile_threads = static_cast<std::size_t>(options.admission.compilations);
  out.partial_search_delay = options.partial_search_delay;
  out.max_kernels = options.max_kernels;
  out.search = options.search;
  out.overloaded = [queues] { return queues.overloaded(); };
  out.waiting_first_kernels = [queues](const std::string& client) {
    return queues.waiting_first_kernels(client);
  };
  if (options.solver.empty()) return out;
  pipeline::SolverWorkerOptions worker;
  worker.program = options.solver;
  worker.memory_bytes = options.solver_memory;
  worker.log = [log](const std::string& sentence) { log->warn("{}", sentence); };
  out.search.solver = pipeline::solver_workers(std::move(worker));
  return out;
}

// Builds the providers from the inside out, in the order that providers/README.md states.
std::shared_ptr<KernelProvider> stack(const DaemonOptions& options,
                                      std::shared_ptr<const Quarantine> quarantine,
                                      std::shared_ptr<toolchain::Toolchain> toolchain, const Stores& stores,
                                      std::shared_ptr<KernelSigner> signer,
                                      std::shared_ptr<CacheEvictor> evictor, const Log& log,
                                      const AdmissionQueues& queues,
                                      const std::shared_ptr<Metrics>& metrics) {
  auto provider = make_compiling_provider(std::move(toolchain));
  if (options.wrap_compiling) provider = options.wrap_compiling(std::move(provider));
  provider = make_timing_provider(std::move(provider), metrics);
  if (!options.trial.empty()) {
    TrialOptions trial;
    trial.program = options.trial;
    provider =
        make_validating_provider(std::move(provider), timed(make_process_trial(std::move(trial)), metrics),
                                 std::move(quarantine), log);
  }
  provider = make_admitting_provider(std::move(provider), queues, metrics);
  provider = make_caching_provider(std::move(provider), stores, std::move(signer), log, std::move(evictor));
  provider = make_coalescing_provider(std::move(provider));
  return make_counting_provider(std::move(provider), metrics);
}

// Returns a time as gRPC's arguments take it.
int milliseconds(std::chrono::milliseconds time) {
  return static_cast<int>(std::min<std::int64_t>(time.count(), std::numeric_limits<int>::max()));
}

// Threads that wait for requests. gRPC keeps two unless told: with more requests at once it starts and ends a
// thread for nearly each of them.
constexpr int waiting_threads = 8;
/// Threads of gRPC for calls beyond those that are served. Each refusal takes one for a moment; without them
/// a burst of one client would leave none to hear the others.
constexpr int refusing_threads = 64;

// Sets the limits of connections (docs/limits.md, "Connections"). No handler watches a call until its message
// is complete, so connections have a maximum age; afterwards their calls may run as long as any request.
void set_limits(grpc::ServerBuilder& builder, const DaemonOptions& options) {
  builder.SetMaxReceiveMessageSize(options.message_bytes);
  builder.SetMaxSendMessageSize(ConnectionLimits::sent_bytes);
  // A message of a kilobyte may unpack to a megabyte before its size is looked at.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, options.streams);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, ConnectionLimits::metadata_bytes);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, milliseconds(options.handshake_timeout));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, milliseconds(options.keepalive_time));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, milliseconds(options.keepalive_timeout));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, milliseconds(options.max_request_time));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS,
                             milliseconds(options.max_request_time + options.write_timeout));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // unlimited pings
}

// Returns the instruction sets that this process can try, and that of GPUs where it can compile for them.
// Items of others wait for another process.
kernels_cache::Takes takes_of(const toolchain::Toolchain& toolchain) {
  kernels_cache::Takes takes = {support::native_isa()};
  for (const auto& one : support::instruction_sets()) {
    const bool is_own = one.device == support::Device::processor ? support::runs_here(one.name)
                                                                 : toolchain.check({one.name}).ok();
    if (is_own) takes.push_back(one.name);
  }
  return takes;
}

std::shared_ptr<toolchain::Toolchain> toolchain_of(const DaemonOptions& options) {
  toolchain::CToolchainOptions c;
  toolchain::CudaToolchainOptions cuda;
  c.timeout_seconds = options.compile_seconds;
  c.memory_bytes = options.compile_memory;
  c.source_bytes = options.source_bytes;
  cuda.timeout_seconds = options.cuda_compile_seconds;
  c.readable = cuda.readable = options.compiler_reads;
  cuda.nvrtc = options.nvrtc;
  return toolchain::make_cuda_toolchain(toolchain::make_c_toolchain(std::move(c)), std::move(cuda));
}

void warn_of_open_children(const DaemonOptions& options, const Log& log) {
  const auto offered = toolchain::offered_isolation();
  if (offered != toolchain::Isolation{true, true, true})
    log->warn("this system keeps compilers and kernels on trial from {} alone; docs/security.md",
              toolchain::print(offered));
  toolchain::ChildOptions trial;
  trial.program = options.trial;
  trial.working_directory = "/";
  if (geteuid() == 0 && !toolchain::next_child_user(trial))
    log->warn(
        "compilers and kernels on trial run as root: this process may not change users, or `{}` is closed to "
        "others",
        options.trial);
}

// Compares this machine's compilers with those of the fleet, or makes them the fleet's. A server with others
// serves what is stored; items of jobs would fail there.
Result<void> join_toolchains(const DaemonOptions& options, const toolchain::Toolchain& own,
                             kernels_cache::ScheduleStore& schedules, const Log& log) {
  if (options.adopt_toolchain) return adopt_toolchain(own, schedules);
  const auto same = check_agreed_toolchain(own, schedules);
  if (same.ok() || same.error().code != "other-compiler" || options.worker || options.items > 0) return same;
  log->warn("{}", support::render(same.error()));
  return {};
}

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::start(const DaemonOptions& options, Log log) {
  SCHAAS_RETURN_IF_ERROR(check_options(options));
  SCHAAS_ASSIGN_OR_RETURN(DataDirectory directory, DataDirectory::open(options.data_directory));
  SCHAAS_ASSIGN_OR_RETURN(const Opened opened, open(options, directory, log));
  SCHAAS_ASSIGN_OR_RETURN(auto key, open_signing_key(options.signing_key.empty() ? directory.signing_key()
                                                                                 : options.signing_key));
  if (opened.shared != nullptr)
    SCHAAS_RETURN_IF_ERROR(kernels_cache::agree_on_key(*opened.shared, key.public_key().text()));
  SCHAAS_ASSIGN_OR_RETURN(const std::vector<ListenAddress> addresses, addresses_of(options));
  for (const ListenAddress& address : addresses) {
    if (address.is_unix) SCHAAS_RETURN_IF_ERROR(clear_stale_socket(address.path));
  }
  SCHAAS_ASSIGN_OR_RETURN(auto access, AccessControl::open({options.tokens, (options.socket_mode & 077) != 0,
                                                            AccessControl::steady_clock()}));
  auto toolchain = options.toolchain != nullptr ? options.toolchain : toolchain_of(options);
  if (opened.shared != nullptr)
    SCHAAS_RETURN_IF_ERROR(join_toolchains(options, *toolchain, *opened.stores.schedules, log));
  std::unique_ptr<Daemon> daemon(new Daemon(options, std::move(directory), opened, std::move(toolchain),
                                            std::make_shared<KernelSigner>(std::move(key)), std::move(access),
                                            std::move(log)));
  if (options.worker) {
    if (!options.http.empty()) SCHAAS_RETURN_IF_ERROR(daemon->open_http());
    daemon->log_->info("working on items of jobs, {} at once", options.items);
    return daemon;
  }
  SCHAAS_RETURN_IF_ERROR(daemon->listen(addresses));
  SCHAAS_RETURN_IF_ERROR(daemon->open_http());
  return daemon;
}

Result<Daemon::Opened> Daemon::open(const DaemonOptions& options, const DataDirectory& directory,
                                    const Log& log) {
  if (options.database.empty()) {
    SCHAAS_ASSIGN_OR_RETURN(const Stores stores, open_stores(directory, log));
    SCHAAS_ASSIGN_OR_RETURN(std::shared_ptr<kernels_cache::JobStore> jobs,
                            open_jobs(directory, options.jobs, log));
    if (const auto checked = jobs->check_requests(); !checked.ok())
      log->error("cannot check the jobs: {}", support::render(checked.error()));
    return Opened{stores, std::move(jobs), make_file_quarantine(directory.quarantine()), nullptr};
  }
  SCHAAS_ASSIGN_OR_RETURN(const auto database,
                          open_shared_database(options.database, options.worker ? "worker" : "server"));
  const auto clock = kernels_cache::system_clock();
  SCHAAS_ASSIGN_OR_RETURN(const Stores stores, open_shared_stores(directory, database, options.cache.bytes));
  return Opened{stores, kernels_cache::make_job_store(database, clock, options.jobs),
                make_shared_quarantine(database, clock, log), database};
}

Daemon::Daemon(const DaemonOptions& options, DataDirectory directory, const Opened& opened,
               std::shared_ptr<toolchain::Toolchain> toolchain, std::shared_ptr<KernelSigner> signer,
               std::shared_ptr<AccessControl> access, Log log)
    : options_(options),
      directory_(std::move(directory)),
      log_(std::move(log)),
      stores_(opened.stores),
      jobs_(opened.jobs),
      quarantine_(opened.quarantine),
      signer_(std::move(signer)),
      access_control_(std::move(access)),
      evictor_(std::make_shared<CacheEvictor>(stores_, options.cache, log_)),
      response_cache_(std::make_shared<ResponseCache>(stores_.schedules->changes(), options.response_cache)),
      queues_(options.admission),
      toolchain_(std::move(toolchain)) {
  const auto compilers = opened.shared == nullptr ? Compilers::each_its_own : Compilers::the_agreed;
  const auto agreed = make_agreed_toolchain(toolchain_, stores_.schedules, compilers, log_);
  scheduling_ = std::make_unique<Scheduling>(
      stack(options_, quarantine_, agreed, stores_, signer_, evictor_, log_, queues_, metrics_), agreed,
      scheduling_options(options_, stores_, queues_, log_));
  boundary_ = std::make_unique<RequestBoundary>(
      log_,
      RequestBoundary::Limits{options_.max_request_time, options_.write_timeout,
                              static_cast<std::size_t>(options_.threads),
                              static_cast<std::size_t>(options_.threads - options_.threads / 4)},
      access_control_, metrics_);
  service_ = std::make_unique<SchedulerService>(
      *scheduling_, stores_, [this] { return facts(); }, signer_, *boundary_, response_cache_, metrics_);
  // Runs a job's item as a client's request would be, without the client.
  const auto work = [this](const std::string& request, support::Cancellation& cancellation) -> Result<void> {
    SCHAAS_ASSIGN_OR_RETURN(ScheduleQuery query, query_of_stored(request));
    query.interactive = false;
    // An item is done when all its kernels are: a full disk makes it retry.
    std::optional<support::Diagnostic> no_room;
    const auto hear = [&](const Event& event) {
      const auto* failure = std::get_if<KernelFailure>(&event);
      if (failure != nullptr && is_storage_failure(failure->diagnostic)) no_room = failure->diagnostic;
      return true;
    };
    SCHAAS_RETURN_IF_ERROR(scheduling_->schedule(query, hear, cancellation));
    if (no_room) return *no_room;
    return {};
  };
  runner_ = std::make_unique<JobRunner>(
      jobs_,
      JobRunner::Options{.work = work,
                         .has_interactive_requests = [this] { return service_->has_interactive_requests(); },
                         .max_item_time = options_.max_item_time,
                         .items = options_.items,
                         // Without others every item is this process's.
                         .takes = opened.shared == nullptr ? kernels_cache::Takes() : takes_of(*toolchain_)},
      log_);
  jobs_service_ =
      std::make_unique<JobsService>(*scheduling_, jobs_, *runner_, *boundary_,
                                    JobsService::Limits{options_.job_requests, options_.threads / 4});
  admin_service_ = std::make_unique<AdminService>(
      stores_, evictor_, quarantine_,
      [this](const std::string& name) { return back_up(directory_, name, stores_, *jobs_); }, *boundary_);
}

Result<void> Daemon::listen(const std::vector<ListenAddress>& addresses) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  if (options_.tls.wanted()) {
    SCHAAS_ASSIGN_OR_RETURN(certificates_, CertificateCopies::start(options_.tls, directory_.tls(), log_));
  }
  acceptor_ = std::make_unique<ConnectionAcceptor>(options_.connections, log_);
  std::vector<ListenAddress> real = addresses;
  for (ListenAddress& address : real) {
    const auto credentials = certificates_ == nullptr || address.is_unix
                                 ? grpc::InsecureServerCredentials()
                                 : tls_credentials(certificates_->files());
    SCHAAS_RETURN_IF_ERROR(acceptor_->listen(address, options_.socket_mode, builder, credentials));
  }
  set_limits(builder, options_);
  builder.SetResourceQuota(grpc::ResourceQuota("schaasd")
                               .SetMaxThreads(options_.threads + refusing_threads)
                               .Resize(options_.connection_memory));
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::NUM_CQS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::MAX_POLLERS,
                              std::min(options_.threads, waiting_threads));
  builder.RegisterService(service_.get());
  builder.RegisterService(jobs_service_.get());
  builder.RegisterService(admin_service_.get());
  server_ = builder.BuildAndStart();
  SCHAAS_CHECK(server_ != nullptr, "a server without an address to fail");
  acceptor_->start();
  for (const ListenAddress& address : real) {
    const bool asks = !options_.tokens.empty() || !options_.tls.client_ca.empty();
    if (!address.is_local() && !options_.tls.wanted())
      log_->warn("listening on {} without TLS: traffic can be read and modified", address.text());
    if (!address.is_local() && !asks)
      log_->warn(
          "listening on {} without tokens and client certificates: any client that reaches it is "
          "authorised",
          address.text());
    addresses_.push_back(address.text());
    log_->info("listening on {}", addresses_.back());
  }
  warn_of_open_children(options_, log_);
  log_->info("kernels for GPUs: {}", toolchain_->identity({support::gpu_isa}));
  log_->info("kernels are signed with {}", signer_->public_key().text());
  return {};
}

Result<void> Daemon::open_http() {
  add_gauges(*metrics_, {stores_, jobs_, queues_, &boundary_->active(), response_cache_, quarantine_,
                         [this] { return is_ready(); }});
  if (options_.http.empty()) return {};
  const auto ready = [this] { return is_ready(); };
  std::vector<HttpRoute> routes = health_routes(metrics_, ready);
  // The pages show what users asked, so they stay on this machine.
  if (!options_.http_any) {
    for (auto& route : status_routes(
             stores_, jobs_, [this] { return facts(); }, ready))
      routes.push_back(std::move(route));
  }
  SCHAAS_ASSIGN_OR_RETURN(http_,
                          HttpServer::open(options_.http, std::move(routes), log_, options_.http_reach()));
  log_->info("serving http on {}", http_->address());
  return {};
}

// Totals are in memory, so a row is asked for to see that the database can be read.
bool Daemon::is_ready() { return !boundary_->stopping() && stores_.schedules->kernel("").ok(); }

ServerFacts Daemon::facts() const {
  ServerFacts facts;
  facts.version = options_.version;
  facts.abi_version = SCHAAS_KERNEL_ABI_VERSION;
  facts.toolchain = toolchain_->identity({});
  if (const auto usable = toolchain_->check({}); !usable.ok()) facts.compiler_error = usable.error().message;
  facts.gpu_toolchain = toolchain_->identity({support::gpu_isa});
  facts.isas = processor_isas();
  facts.uptime_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  facts.data_directory = directory_.path();
  facts.isolation = toolchain::print(toolchain::offered_isolation());
  facts.public_key = signer_->public_key().text();
  facts.limits = options_.search.problems;
  return facts;
}

std::chrono::steady_clock::duration Daemon::idle() const {
  return std::min(runner_->idle(), boundary_->active().idle());
}

void Daemon::stop() {
  if (server_ == nullptr) {
    runner_->stop();
    return;
  }
  boundary_->refuse();  // first, so that /readyz and the health service report it before anything ends
  if (auto* health = server_->GetHealthCheckService()) health->SetServingStatus(false);
  log_->info("stopping: running requests have {} s to finish", options_.drain.count());
  runner_->stop();  // the interrupted item resumes after the next start
  boundary_->drain(options_.drain);
  // A longer deadline would make gRPC wait seconds for idle clients to disconnect. At this one it cancels the
  // remaining calls, which ActiveRequests passes on.
  acceptor_->stop();
  server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
  server_.reset();
  http_.reset();
  log_->info("stopped");
}

Daemon::~Daemon() { stop(); }

}  // namespace schaas::server
