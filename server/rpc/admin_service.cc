#include "server/rpc/admin_service.h"

#include <utility>

#include "compiler/support/digest.h"

// Calls of administrators, each a few lines inside the request boundary, which checks the scope `admin`.
// Texts of a request are quoted in errors up to a bound.
namespace schaas::server {

using kernels_cache::Pinned;
using support::Cancellation;
using support::Result;

AdminService::AdminService(Stores stores, std::shared_ptr<CacheEvictor> evictor,
                           std::shared_ptr<const Quarantine> quarantine, BackUp back_up,
                           RequestBoundary& boundary)
    : stores_(std::move(stores)),
      evictor_(std::move(evictor)),
      quarantine_(std::move(quarantine)),
      back_up_(std::move(back_up)),
      boundary_(boundary) {}

grpc::Status AdminService::Backup(grpc::ServerContext* context, const v1::BackupRequest* request,
                                  v1::BackupReply* reply) {
  return boundary_.run(
      methods::backup, *context, [&](RequestSummary& summary, Cancellation&) -> Result<void> {
        SCHAAS_ASSIGN_OR_RETURN(const BackedUp done, back_up_(request->name()));
        summary.detail = "binaries=" + std::to_string(done.binaries) + " bytes=" + std::to_string(done.bytes);
        reply->set_path(done.path);
        reply->set_binaries(done.binaries);
        reply->set_bytes(done.bytes);
        return {};
      });
}

grpc::Status AdminService::Pin(grpc::ServerContext* context, const v1::PinRequest* request, v1::PinReply*) {
  return boundary_.run(methods::pin, *context, [&](RequestSummary&, Cancellation&) -> Result<void> {
    SCHAAS_ASSIGN_OR_RETURN(
        const bool known,
        stores_.schedules->set_pin(request->key(), request->pinned() ? Pinned::yes : Pinned::no));
    if (!known)
      return support::invalid("not-stored",
                              "nothing is stored under the key " + request->key().substr(0, 80));
    return {};
  });
}

// Removes what nothing refers to, then evicts; waits for an eviction that runs.
grpc::Status AdminService::Collect(grpc::ServerContext* context, const v1::CollectRequest*,
                                   v1::CollectReply* reply) {
  return boundary_.run(methods::collect, *context,
                       [&](RequestSummary& summary, Cancellation&) -> Result<void> {
                         SCHAAS_ASSIGN_OR_RETURN(const EvictionReport done, evictor_->collect());
                         summary.detail = "freed_bytes=" + std::to_string(done.freed_bytes);
                         reply->set_evicted(done.evicted);
                         reply->set_orphans(done.orphans);
                         reply->set_rows(done.rows);
                         reply->set_frontiers(done.frontiers);
                         reply->set_freed_bytes(done.freed_bytes);
                         reply->set_left_bytes(done.left_bytes);
                         return {};
                       });
}

grpc::Status AdminService::ListQuarantine(grpc::ServerContext* context, const v1::ListQuarantineRequest*,
                                          v1::ListQuarantineReply* reply) {
  return boundary_.run(methods::list_quarantine, *context,
                       [&](RequestSummary&, Cancellation&) -> Result<void> {
                         for (const QuarantinedKernel& kernel : quarantine_->list()) {
                           auto& one = *reply->add_kernels();
                           one.set_key(kernel.key);
                           one.set_why(kernel.why);
                           one.set_since(kernel.since);
                         }
                         return {};
                       });
}

grpc::Status AdminService::LiftQuarantine(grpc::ServerContext* context,
                                          const v1::LiftQuarantineRequest* request,
                                          v1::LiftQuarantineReply*) {
  return boundary_.run(
      methods::lift_quarantine, *context, [&](RequestSummary&, Cancellation&) -> Result<void> {
        const std::string& key = request->key();
        // The key becomes the name of a file, so it must be a digest.
        if (support::is_sha256_hex(key) && quarantine_->lift(key)) return {};
        return support::invalid("not-stored", "no kernel in quarantine has the key " + key.substr(0, 80));
      });
}

}  // namespace schaas::server
