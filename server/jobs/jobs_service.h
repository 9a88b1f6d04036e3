#pragma once
#include <atomic>
#include <memory>

#include "schaas/v1/jobs.grpc.pb.h"
#include "server/answers/scheduling.h"
#include "server/jobs/job_feed.h"
#include "server/jobs/job_runner.h"
#include "server/rpc/request_boundary.h"

namespace schaas::server {

/// gRPC service of offline precomputation, inside RequestBoundary::run. Thread-safe.
class JobsService final : public v1::Jobs::Service {
 public:
  struct Limits {
    std::size_t requests = 10'000;  ///< limit per job
    int watchers = 16;              ///< concurrent watchers; each occupies a thread
  };
  /// `checking` validates each request before a job is accepted.
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

  static constexpr int max_priority = 100;
  static constexpr std::size_t max_text_bytes = 200;  ///< limit on keys, clients and labels

 private:
  class WatchedJob;
  /// Requires the scope `admin` for priorities above 0. Errors: unreachable [scope].
  static support::Result<void> check_priority(const Principal& principal, int priority);
  /// Requires the owner of the job, or the scope `admin`. Errors: unreachable [not-yours]; invalid
  /// [unknown-job].
  support::Result<void> check_owner(const Principal& principal, const std::string& id);
  support::Result<kernels_cache::NewJob> checked(const v1::SubmitJobRequest& request,
                                                 const support::Cancellation& cancellation);
  support::Result<void> answer(const std::string& id, v1::Job& reply);

  Scheduling& checking_;
  const std::shared_ptr<kernels_cache::JobStore> store_;
  JobRunner& runner_;
  RequestBoundary& boundary_;
  const Limits limits_;
  JobFeed feed_;
  std::atomic<int> watchers_{0};
};

}  // namespace schaas::server
