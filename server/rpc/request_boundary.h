#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include "server/auth/access_control.h"
#include "server/providers/kernel_provider.h"
#include "server/rpc/active_requests.h"
#include "server/telemetry/log.h"
#include "server/telemetry/metrics.h"

namespace schaas::server {

/// Fields of a request's summary line, filled in by its handler.
struct RequestSummary {
  std::string key;               ///< first digits of the problem's key
  std::string detail;            ///< "hit=1 search=0.0 compiled=0 ..."
  std::uint64_t sent_bytes = 0;  ///< bytes of binaries
  double retry_seconds = 1;      ///< suggested delay before a retry ([overloaded], [quota-...])
  Principal principal;           ///< set before the handler runs
  Requester requester;           ///< its client is the name of the token, else the host
  PendingWrite pending_write;    ///< streams send through it
  /// For requests that run for long: the token may have been withdrawn.
  std::function<support::Result<void>()> authorise_again;
};

/// Metadata key of a request's id. A client's id is used when it has 1 to 64 letters, digits, dots, dashes
/// and underscores; the trailing metadata return the id in the log.
inline constexpr const char* request_id_metadata = "schaas-request-id";

/// Wrapper of every handler. Assigns an id and a Cancellation tied to client and deadline, authorises
/// (access_control.h), bounds the requests of each client, and runs the handler. Maps its error to a gRPC
/// status with the diagnostic in the trailing metadata. Catches exceptions (the client gets an id, the log
/// the details) and writes one summary line.
class RequestBoundary {
 public:
  struct Limits {
    std::chrono::seconds longest{3600};  ///< limit on the duration of a request, whatever its client allows
    std::chrono::milliseconds write_timeout{
        60'000};                        ///< a client that reads nothing for this long counts as disconnected
    std::size_t calls = 64;             ///< concurrent requests
    std::size_t calls_per_client = 48;  ///< concurrent requests of one client
  };
  RequestBoundary(Log log, Limits limits, std::shared_ptr<AccessControl> access,
                  std::shared_ptr<Metrics> metrics);

  using Handler =
      std::function<support::Result<void>(RequestSummary& summary, support::Cancellation& cancellation)>;
  /// Runs a handler. `outlives_client` may be null: while it points to true, a disconnecting client cancels
  /// nothing.
  grpc::Status run(const Method& method, grpc::ServerContext& context, const Handler& handler,
                   const std::atomic<bool>* outlives_client = nullptr);

  const ActiveRequests& active() const { return active_; }
  /// Returns true while new requests are refused.
  bool stopping() const { return stopping_; }
  /// Refuses new requests from now on.
  void refuse() { stopping_ = true; }
  /// Refuses new requests from now on (unreachable [stopping]), waits for running ones up to the given time,
  /// then cancels them.
  void drain(std::chrono::steady_clock::duration longest);

 private:
  /// Counts a request of a client for as long as it lives.
  class Share {
   public:
    Share(RequestBoundary& boundary, std::string client) : boundary_(&boundary), client_(std::move(client)) {}
    Share(Share&& other) noexcept
        : boundary_(std::exchange(other.boundary_, nullptr)), client_(std::move(other.client_)) {}
    Share& operator=(Share&&) = delete;
    ~Share();

   private:
    RequestBoundary* boundary_;
    std::string client_;
  };
  support::Result<Share> share_of(const std::string& client);
  support::Result<void> guarded(const std::string& id, const std::function<support::Result<void>()>& work);
  std::string id_of(const grpc::ServerContext& context);

  Log log_;
  Limits limits_;
  std::shared_ptr<AccessControl> access_control_;
  std::shared_ptr<Metrics> metrics_;
  std::string id_prefix_;
  std::atomic<std::uint64_t> serial_{0};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::map<std::string, std::size_t> running_;  ///< requests by client; none of 0
  std::size_t all_running_ = 0;                 ///< requests of all clients
  ActiveRequests active_;
};

}  // namespace schaas::server
