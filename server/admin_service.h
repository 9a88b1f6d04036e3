#pragma once
#include <functional>

#include "schaas/v1/admin.grpc.pb.h"
#include "server/backup.h"
#include "server/cache_keeper.h"
#include "server/request_boundary.h"

namespace schaas::server {

/// The RPCs of who runs the server, inside RequestBoundary::run. Thread-safe.
class AdminService final : public v1::Admin::Service {
 public:
  using BackUp = std::function<support::Result<BackedUp>(const std::string& name)>;
  AdminService(Stores stores, std::shared_ptr<CacheKeeper> keeper, BackUp back_up, RequestBoundary& boundary);

  grpc::Status Backup(grpc::ServerContext* context, const v1::BackupRequest* request,
                      v1::BackupReply* reply) override;
  grpc::Status Pin(grpc::ServerContext* context, const v1::PinRequest* request, v1::PinReply* reply) override;
  grpc::Status Collect(grpc::ServerContext* context, const v1::CollectRequest* request,
                       v1::CollectReply* reply) override;

 private:
  const Stores stores_;
  const std::shared_ptr<CacheKeeper> keeper_;
  const BackUp back_up_;
  RequestBoundary& boundary_;
};

}  // namespace schaas::server
