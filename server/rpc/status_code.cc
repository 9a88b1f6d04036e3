#include "server/rpc/status_code.h"

// Statuses of gRPC by the code of an error where one says more than its family; clients that do not read our
// metadata see these alone.
namespace schaas::server {

grpc::StatusCode status_code(const support::Diagnostic& diagnostic) {
  const std::string& code = diagnostic.code;
  if (code == "not-stored" || code == "unknown-binary" || code == "unknown-job")
    return grpc::StatusCode::NOT_FOUND;
  if (code == "damaged-binary") return grpc::StatusCode::DATA_LOSS;
  if (code == "no-token" || code == "unknown-token") return grpc::StatusCode::UNAUTHENTICATED;
  if (code == "scope" || code == "not-yours") return grpc::StatusCode::PERMISSION_DENIED;
  if (code == "deadline") return grpc::StatusCode::DEADLINE_EXCEEDED;
  if (code == "cancelled") return grpc::StatusCode::CANCELLED;
  switch (diagnostic.family) {
    case support::Family::invalid:
      return grpc::StatusCode::INVALID_ARGUMENT;
    case support::Family::unsupported:
      return grpc::StatusCode::UNIMPLEMENTED;
    case support::Family::exhausted:
      return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case support::Family::internal:
      return grpc::StatusCode::INTERNAL;
    case support::Family::unreachable:
      return grpc::StatusCode::UNAVAILABLE;
  }
  return grpc::StatusCode::INTERNAL;
}

}  // namespace schaas::server
