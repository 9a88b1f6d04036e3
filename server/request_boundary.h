#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <string>

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include "server/access.h"
#include "server/active_requests.h"
#include "server/log.h"
#include "server/metrics.h"

namespace schaas::server {

/// What the summary line of a request says; handlers fill in what they know.
struct RequestSummary {
  std::string key;               ///< of the problem, first digits
  std::string detail;            ///< "hit=1 search=0.0 compiled=0 ..."
  std::uint64_t sent_bytes = 0;  ///< of binaries
  double retry_seconds = 1;      ///< when the request is refused for now ([overloaded], [quota-...])
  Caller caller;                 ///< known before the handler runs
  Transfer transfer;             ///< what a stream sends goes through it
};

/// Metadata key of a request's id: what a client sends is used, when it is 1 to 64 letters, digits, dots,
/// dashes and underscores; the trailing metadata tell the id that the log has.
inline constexpr const char* request_id_metadata = "schaas-request-id";

/// The one place every request passes: gives it an id and a Cancellation tied to its client and deadline,
/// lets in who may ask (access.h), runs the handler, maps its error to a gRPC status with the diagnostic in
/// the trailing metadata, catches what should never be thrown (the user gets an id, the log the facts), and
/// writes one summary line.
class RequestBoundary {
 public:
  struct Times {
    std::chrono::seconds longest{3600};          ///< no request works longer, whatever its client allows
    std::chrono::milliseconds transfer{60'000};  ///< a client that takes nothing for so long has left
  };
  RequestBoundary(Log log, Times times, std::shared_ptr<Access> access, std::shared_ptr<Metrics> metrics);

  using Handler =
      std::function<support::Result<void>(RequestSummary& summary, support::Cancellation& cancellation)>;
  /// `outlives_client` may be null: while it points to true, a client that leaves stops nothing.
  grpc::Status run(const Method& method, grpc::ServerContext& context, const Handler& handler,
                   const std::atomic<bool>* outlives_client = nullptr);

  const ActiveRequests& active() const { return active_; }
  /// Whether new requests are refused.
  bool stopping() const { return stopping_; }
  /// From now on new requests are refused.
  void refuse() { stopping_ = true; }
  /// From now on new requests are refused: unreachable [stopping]. Waits for running ones, at most so long;
  /// then those are cancelled.
  void drain(std::chrono::steady_clock::duration longest);

 private:
  support::Result<void> guarded(const std::string& id, const std::function<support::Result<void>()>& work);
  std::string id_of(const grpc::ServerContext& context);

  Log log_;
  Times times_;
  std::shared_ptr<Access> access_;
  std::shared_ptr<Metrics> metrics_;
  std::string id_prefix_;
  std::atomic<std::uint64_t> serial_{0};
  std::atomic<bool> stopping_{false};
  ActiveRequests active_;
};

}  // namespace schaas::server
