#pragma once
#include <grpcpp/support/status_code_enum.h>

#include "compiler/support/diagnostic.h"

namespace schaas::server {

/// Trailing metadata key of the serialised v1::Diagnostic.
inline constexpr const char* diagnostic_metadata = "schaas-diagnostic-bin";

/// Trailing metadata key of the seconds to wait before a retry, as text; absent where a retry is of no use.
inline constexpr const char* retry_metadata = "schaas-retry-seconds";

/// Maps errors to gRPC status codes; proto/schaas/v1/schaas.proto tells clients what to do with each.
grpc::StatusCode status_code(const support::Diagnostic& diagnostic);

}  // namespace schaas::server
