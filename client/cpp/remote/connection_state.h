#pragma once
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
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

struct Connection::State {
  std::string address;
  bool started = false;
  bool is_private = false;
  std::string version;            ///< version of the server
  std::uint32_t abi_version = 0;  ///< version of the kernels that it makes
  ConnectOptions options;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::Scheduler::Stub> stub;
  std::unique_ptr<v1::Jobs::Stub> jobs;
  std::unique_ptr<v1::Admin::Stub> admin;
  std::optional<support::PublicKey> key;  ///< the server's, once it was checked
  std::string authorization;              ///< metadata of every call; "": none

  /// Every attempt begins here: its id, its deadline (max(): none), and who asks.
  void begin(grpc::ClientContext& context, std::chrono::milliseconds time) const;
  /// Makes one attempt.
  using Call = std::function<grpc::Status(grpc::ClientContext& context)>;
  /// Makes a call with that deadline, again while the server is too busy; `stop` ends it from another thread.
  support::Result<void> call(std::chrono::milliseconds time, const Call& once,
                             const std::stop_token& stop = {}) const;
  support::Result<void> check_abi() const;
  support::Diagnostic failure(const grpc::Status& status, const grpc::ClientContext& context) const {
    return diagnostic_of(status, context, address);
  }
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
