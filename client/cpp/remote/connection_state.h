#pragma once
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <stop_token>
#include <string>

#include "client/cpp/platform/cancelled.h"
#include "client/cpp/remote/status.h"
#include "compiler/support/signature.h"
#include "schaas/connection.h"
#include "schaas/v1/admin.grpc.pb.h"
#include "schaas/v1/jobs.grpc.pb.h"
#include "schaas/v1/schaas.grpc.pb.h"

/// State that the calls of a connection share.
namespace schaas::client {

/// The way to a running server, whose key was checked. Immutable: a server that was started again gets a new
/// one.
struct Connection::Link {
  std::unique_ptr<v1::Scheduler::Stub> stub;
  std::unique_ptr<v1::Jobs::Stub> jobs;
  std::unique_ptr<v1::Admin::Stub> admin;
  std::string address;                    ///< one of the connection's
  std::string authorization;              ///< metadata of every call; "": none
  std::string version;                    ///< version of the server
  std::uint32_t abi_version = 0;          ///< version of the kernels that it makes
  std::optional<support::PublicKey> key;  ///< the server's
};

struct Connection::State {
  ConnectOptions options;
  std::string address;  ///< one server, or several with one key: "a:8470,b:8470"
  bool is_private = false;
  std::atomic<bool> started{false};  ///< by this connection, the private server

  /// Makes one attempt.
  using Call = std::function<grpc::Status(const Link& link, grpc::ClientContext& context)>;
  /// Makes a call with that deadline, again while the server is too busy, and once more when the server went
  /// away meanwhile; `stop` ends it from another thread.
  support::Result<void> call(std::chrono::milliseconds time, const Call& once,
                             const std::stop_token& stop = {});
  /// Begins an attempt: its id, its deadline (max(): none), and who asks.
  static void begin(const Link& link, grpc::ClientContext& context, std::chrono::milliseconds time);

  /// Starts the private server where it is wanted, connects and checks the server's key.
  support::Result<void> open(const std::stop_token& stop);
  std::shared_ptr<const Link> link() const;
  /// Replaces a link whose server is gone, unless another thread has done so. Looks for a server for
  /// `return_limit`.
  support::Result<std::shared_ptr<const Link>> replace(const std::shared_ptr<const Link>& gone,
                                                       const std::stop_token& stop);
  static constexpr std::chrono::milliseconds return_limit{2'000};

  support::Result<void> check_abi(const Link& link) const;
  support::Diagnostic failure(const grpc::Status& status, const grpc::ClientContext& context) const {
    const auto now = link();
    return diagnostic_of(status, context, now == nullptr ? address : now->address);
  }

 private:
  /// Links to the first server that answers, from the one after the last on.
  support::Result<std::shared_ptr<const Link>> new_link(const std::stop_token& stop);
  support::Result<std::shared_ptr<const Link>> link_to(const std::string& one, const std::stop_token& stop);
  support::Result<void> call_once(const Link& link, std::chrono::milliseconds time, const Call& once,
                                  const std::stop_token& stop) const;

  std::mutex replacing_;                       ///< held while a server is looked for; taken before mutex_
  std::size_t next_ = std::random_device{}();  ///< number of the address that is tried first
  mutable std::mutex mutex_;                   ///< guards link_
  std::shared_ptr<const Link> link_;
};

// The library's boundary: an exception (no memory, a broken invariant) becomes a diagnostic.
template <class Call>
auto guarded(Call call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return support::exhausted("memory", "the client ran out of memory");
  } catch (const std::exception& e) {
    return support::internal("client-internal", e.what());
  }
}

}  // namespace schaas::client
