#pragma once
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schaas/v1/schaas.grpc.pb.h"

/// A client's view of the service, each result in one value: for tests of the wire contract.
namespace schaas::test {

/// A status and its diagnostic.
struct Refusal {
  grpc::StatusCode status = grpc::StatusCode::OK;
  v1::Diagnostic diagnostic;  ///< empty when none came
  /// Prints "INVALID_ARGUMENT invalid [syntax]: ...", for comparison.
  std::string text() const;
};

struct Scheduled {
  Refusal refusal;
  std::size_t progress = 0;
  std::optional<v1::Frontier> frontier;
  std::vector<v1::Kernel> baselines, kernels;
  std::vector<v1::KernelFailure> failures;
  std::optional<v1::Done> done;
  bool ok() const { return refusal.status == grpc::StatusCode::OK; }
};

/// Requests one kernel of the statement for any x86-64 processor; `B` is csr.
v1::ScheduleRequest request_for(const std::string& expression = "y(i) = B(i,j) * x(j)");

class ServiceClient {
 public:
  explicit ServiceClient(const std::string& address);

  v1::Scheduler::Stub& stub() { return *stub_; }
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

  Scheduled schedule(const v1::ScheduleRequest& request,
                     std::chrono::milliseconds deadline = std::chrono::minutes(2));
  /// Downloads a binary, or returns the error.
  std::pair<std::string, Refusal> download(const std::string& sha256);

  template <class Method, class Request, class Reply>
  Refusal call(Method method, const Request& request, Reply& reply) {
    grpc::ClientContext context;
    return refusal_of(((*stub_).*method)(&context, request, &reply), context);
  }

  static Refusal refusal_of(const grpc::Status& status, const grpc::ClientContext& context);

 private:
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Scheduler::Stub> stub_;
};

}  // namespace schaas::test
