#pragma once
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "compiler/support/signature.h"
#include "schaas/connection.h"
#include "schaas/v1/jobs.grpc.pb.h"
#include "schaas/v1/schaas.grpc.pb.h"
#include "status.h"

/// What the calls of a connection share.
namespace schaas::client {

struct Connection::State {
  std::string address;
  bool started = false;
  ConnectOptions options;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::Scheduler::Stub> stub;
  std::unique_ptr<v1::Jobs::Stub> jobs;
  std::optional<support::PublicKey> key;  ///< the server's, once it was checked

  support::Diagnostic failure(const grpc::Status& status, const grpc::ClientContext& context) const {
    return diagnostic_of(status, context, address);
  }
};

inline void limit(grpc::ClientContext& context, std::chrono::milliseconds time) {
  context.set_deadline(std::chrono::system_clock::now() + time);
}

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
