#pragma once
#include <atomic>
#include <memory>

#include "schaas/v1/jobs.grpc.pb.h"
#include "server/job_runner.h"
#include "server/request_boundary.h"
#include "server/scheduling.h"

namespace schaas::server {

/// The RPCs of offline precomputation, inside RequestBoundary::run. Thread-safe.
class JobsService final : public v1::Jobs::Service {
 public:
  struct Limits {
    std::size_t requests = 10'000;  ///< of one job
    int watchers = 16;              ///< each takes a thread for as long as it watches
  };
  /// `checking` says what is wrong with a request before a job is accepted.
  JobsService(Scheduling& checking, std::shared_ptr<kernels_cache::JobStore> store, JobRunner& runner,
              RequestBoundary& boundary, Limits limits);

  grpc::Status Submit(grpc::ServerContext* context, const v1::SubmitJobRequest* request,
                      v1::Job* reply) override;
  grpc::Status List(grpc::ServerContext* context, const v1::ListJobsRequest* request,
                    v1::ListJobsReply* reply) override;
  grpc::Status Watch(grpc::ServerContext* context, const v1::WatchJobRequest* request,
                     grpc::ServerWriter<v1::JobEvent>* writer) override;
  grpc::Status Cancel(grpc::ServerContext* context, const v1::JobRequest* request, v1::Job* reply) override;
  grpc::Status Retry(grpc::ServerContext* context, const v1::JobRequest* request, v1::Job* reply) override;

  static constexpr int highest_priority = 100;
  static constexpr std::size_t longest_text = 200;  ///< of keys, clients and labels

 private:
  /// Who is not of the scope `admin` passes nobody. Errors: unreachable [scope].
  static support::Result<void> check_priority(const Caller& caller, int priority);
  /// Errors: unreachable [not-yours]; invalid [unknown-job].
  support::Result<void> check_owner(const Caller& caller, const std::string& id);
  support::Result<kernels_cache::NewJob> checked(const v1::SubmitJobRequest& request,
                                                 const support::Cancellation& cancellation);
  support::Result<void> answer(const std::string& id, v1::Job& reply);

  Scheduling& checking_;
  const std::shared_ptr<kernels_cache::JobStore> store_;
  JobRunner& runner_;
  RequestBoundary& boundary_;
  const Limits limits_;
  std::atomic<int> watchers_{0};
};

}  // namespace schaas::server
