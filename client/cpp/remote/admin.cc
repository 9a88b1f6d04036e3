#include "client/cpp/remote/connection_state.h"

// Methods of the server's operator, one call each. Those that read or copy all binaries have the long limit
// of a search; the others are short calls.
namespace schaas::client {

support::Result<Backup> Connection::back_up(const std::string& name) {
  return guarded([&]() -> support::Result<Backup> {
    v1::BackupRequest request;
    request.set_name(name);
    v1::BackupReply reply;
    SCHAAS_RETURN_IF_ERROR(state_->call(state_->options.schedule_limit, [&](const Link& to, auto& context) {
      return to.admin->Backup(&context, request, &reply);
    }));
    return Backup{reply.path(), reply.binaries(), reply.bytes()};
  });
}

support::Result<void> Connection::pin(const std::string& key, Pinned pinned) {
  return guarded([&]() -> support::Result<void> {
    v1::PinRequest request;
    request.set_key(key);
    request.set_pinned(pinned == Pinned::yes);
    v1::PinReply reply;
    return state_->call(state_->options.call_limit, [&](const Link& to, auto& context) {
      return to.admin->Pin(&context, request, &reply);
    });
  });
}

support::Result<CacheCollection> Connection::collect_cache() {
  return guarded([&]() -> support::Result<CacheCollection> {
    v1::CollectReply reply;
    SCHAAS_RETURN_IF_ERROR(state_->call(state_->options.schedule_limit, [&](const Link& to, auto& context) {
      return to.admin->Collect(&context, v1::CollectRequest(), &reply);
    }));
    return CacheCollection{reply.evicted(),   reply.orphans(),     reply.rows(),
                           reply.frontiers(), reply.freed_bytes(), reply.left_bytes()};
  });
}

support::Result<std::vector<QuarantinedKernel>> Connection::list_quarantine() {
  return guarded([&]() -> support::Result<std::vector<QuarantinedKernel>> {
    v1::ListQuarantineReply reply;
    SCHAAS_RETURN_IF_ERROR(state_->call(state_->options.call_limit, [&](const Link& to, auto& context) {
      return to.admin->ListQuarantine(&context, v1::ListQuarantineRequest(), &reply);
    }));
    std::vector<QuarantinedKernel> kernels;
    for (const auto& one : reply.kernels()) kernels.push_back({one.key(), one.why(), one.since()});
    return kernels;
  });
}

support::Result<void> Connection::lift_quarantine(const std::string& key) {
  return guarded([&]() -> support::Result<void> {
    v1::LiftQuarantineRequest request;
    request.set_key(key);
    v1::LiftQuarantineReply reply;
    return state_->call(state_->options.call_limit, [&](const Link& to, auto& context) {
      return to.admin->LiftQuarantine(&context, request, &reply);
    });
  });
}

}  // namespace schaas::client
