#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "schaas/v1/schaas.grpc.pb.h"
#include "server/caching_provider.h"
#include "server/kept_replies.h"
#include "server/metrics.h"
#include "server/request_boundary.h"
#include "server/scheduling.h"
#include "server/server_facts.h"

namespace schaas::server {

/// The RPCs: each unmarshals, calls, marshals, inside RequestBoundary::run. Thread-safe.
class SchedulerService final : public v1::Scheduler::Service {
 public:
  /// `facts` gives the unchanging part of ServerInfo; counts are taken from the stores. `replies` are made
  /// from these stores.
  SchedulerService(Scheduling& scheduling, Stores stores, std::function<ServerFacts()> facts,
                   RequestBoundary& boundary, std::shared_ptr<KeptReplies> replies,
                   std::shared_ptr<Metrics> metrics);

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

  /// Whether somebody waits for a schedule.
  bool somebody_waits() const { return waiting_ > 0; }

 private:
  support::Result<void> tell_again(const KeptReplies::Reply& kept,
                                   grpc::ServerWriter<v1::ScheduleEvent>& writer, RequestSummary& summary,
                                   support::Cancellation& cancellation);

  std::atomic<int> waiting_{0};
  Scheduling& scheduling_;
  Stores stores_;
  std::function<ServerFacts()> facts_;
  RequestBoundary& boundary_;
  std::shared_ptr<KeptReplies> replies_;
  std::shared_ptr<Metrics> metrics_;
};

}  // namespace schaas::server
