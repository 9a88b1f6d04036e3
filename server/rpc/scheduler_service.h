#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "schaas/v1/schaas.grpc.pb.h"
#include "server/answers/scheduling.h"
#include "server/auth/kernel_signer.h"
#include "server/rpc/request_boundary.h"
#include "server/rpc/response_cache.h"
#include "server/rpc/server_facts.h"
#include "server/storage/stores.h"
#include "server/telemetry/metrics.h"

namespace schaas::server {

/// gRPC service: each handler unmarshals, calls and marshals inside RequestBoundary::run. Thread-safe.
class SchedulerService final : public v1::Scheduler::Service {
 public:
  /// `facts` returns the constant part of ServerInfo; counts come from the stores. `replies` caches responses
  /// made from these stores.
  SchedulerService(Scheduling& scheduling, Stores stores, std::function<ServerFacts()> facts,
                   std::shared_ptr<const KernelSigner> signer, RequestBoundary& boundary,
                   std::shared_ptr<ResponseCache> response_cache, std::shared_ptr<Metrics> metrics);

  grpc::Status Schedule(grpc::ServerContext* context, const v1::ScheduleRequest* request,
                        grpc::ServerWriter<v1::ScheduleEvent>* writer) override;
  grpc::Status Lookup(grpc::ServerContext* context, const v1::LookupRequest* request,
                      v1::Frontier* reply) override;
  grpc::Status Explain(grpc::ServerContext* context, const v1::ExplainRequest* request,
                       v1::ExplainReply* reply) override;
  grpc::Status Emit(grpc::ServerContext* context, const v1::EmitRequest* request,
                    v1::EmitReply* reply) override;
  grpc::Status Download(grpc::ServerContext* context, const v1::DownloadRequest* request,
                        grpc::ServerWriter<v1::DownloadChunk>* writer) override;
  grpc::Status Report(grpc::ServerContext* context, const v1::ReportRequest* request,
                      v1::ReportReply* reply) override;
  grpc::Status Info(grpc::ServerContext* context, const v1::InfoRequest* request,
                    v1::ServerInfo* reply) override;
  grpc::Status ListCache(grpc::ServerContext* context, const v1::ListCacheRequest* request,
                         v1::ListCacheReply* reply) override;
  grpc::Status VerifyCache(grpc::ServerContext* context, const v1::VerifyCacheRequest* request,
                           v1::VerifyCacheReply* reply) override;

  /// Returns true while a Schedule request runs.
  bool has_interactive_requests() const { return in_flight_ > 0; }

 private:
  support::Result<void> list_problems(const v1::ListCacheRequest& request, v1::ListCacheReply& reply);
  support::Result<void> replay(const ResponseCache::Response& cached,
                               grpc::ServerWriter<v1::ScheduleEvent>& writer, RequestSummary& summary,
                               support::Cancellation& cancellation);

  std::atomic<int> in_flight_{0};
  Scheduling& scheduling_;
  Stores stores_;
  std::function<ServerFacts()> facts_;
  std::shared_ptr<const KernelSigner> signer_;  ///< signs answers, for those who keep them in files
  RequestBoundary& boundary_;
  std::shared_ptr<ResponseCache> response_cache_;
  std::shared_ptr<Metrics> metrics_;
};

}  // namespace schaas::server
