#pragma once
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schaas/v1/schaas.grpc.pb.h"

/// What a client sees, in one value each: for tests of the wire contract.
namespace schaas::test {

/// A status and the diagnostic that came with it.
struct Refusal {
  grpc::StatusCode status = grpc::StatusCode::OK;
  v1::Diagnostic diagnostic;  ///< empty when none came
  /// "INVALID_ARGUMENT invalid [syntax]: ...": what the tests compare.
  std::string text() const;
};

struct Scheduled {
  Refusal refusal;
  std::size_t progress = 0;
  std::optional<v1::Frontier> frontier;
  std::vector<v1::Kernel> drafts, kernels;
  std::vector<v1::KernelFailure> failures;
  std::optional<v1::Done> done;
  bool ok() const { return refusal.status == grpc::StatusCode::OK; }
};

/// One kernel of the statement for processors like any here; `B` is csr.
v1::ScheduleRequest request_for(const std::string& expression = "y(i) = B(i,j) * x(j)");

class ServiceClient {
 public:
  explicit ServiceClient(const std::string& address);

  v1::Scheduler::Stub& stub() { return *stub_; }
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

  Scheduled schedule(const v1::ScheduleRequest& request,
                     std::chrono::milliseconds deadline = std::chrono::minutes(2));
  /// The binary, or why not.
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
