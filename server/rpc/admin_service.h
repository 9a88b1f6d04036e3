#pragma once
#include <functional>

#include "schaas/v1/admin.grpc.pb.h"
#include "server/rpc/request_boundary.h"
#include "server/storage/backup.h"
#include "server/storage/cache_evictor.h"
#include "server/storage/quarantine.h"

namespace schaas::server {

/// gRPC service of the server's operator, inside RequestBoundary::run. Thread-safe.
class AdminService final : public v1::Admin::Service {
 public:
  using BackUp = std::function<support::Result<BackedUp>(const std::string& name)>;
  AdminService(Stores stores, std::shared_ptr<CacheEvictor> evictor,
               std::shared_ptr<const Quarantine> quarantine, BackUp back_up, RequestBoundary& boundary);

  grpc::Status Backup(grpc::ServerContext* context, const v1::BackupRequest* request,
                      v1::BackupReply* reply) override;
  grpc::Status Pin(grpc::ServerContext* context, const v1::PinRequest* request, v1::PinReply* reply) override;
  grpc::Status Collect(grpc::ServerContext* context, const v1::CollectRequest* request,
                       v1::CollectReply* reply) override;
  grpc::Status ListQuarantine(grpc::ServerContext* context, const v1::ListQuarantineRequest* request,
                              v1::ListQuarantineReply* reply) override;
  grpc::Status LiftQuarantine(grpc::ServerContext* context, const v1::LiftQuarantineRequest* request,
                              v1::LiftQuarantineReply* reply) override;

 private:
  const Stores stores_;
  const std::shared_ptr<CacheEvictor> evictor_;
  const std::shared_ptr<const Quarantine> quarantine_;
  const BackUp back_up_;
  RequestBoundary& boundary_;
};

}  // namespace schaas::server
