#pragma once
#include <grpcpp/support/status_code_enum.h>

#include "compiler/support/diagnostic.h"

namespace schaas::server {

/// Trailing metadata key of the serialised v1::Diagnostic.
inline constexpr const char* diagnostic_metadata = "schaas-diagnostic-bin";

/// Trailing metadata key of how many seconds to wait before asking again, as text; absent where asking again
/// is of no use.
inline constexpr const char* retry_metadata = "schaas-retry-seconds";

/// The one mapping from our errors to gRPC's; proto/schaas/v1/schaas.proto tells clients what to do with
/// each.
grpc::StatusCode status_code(const support::Diagnostic& diagnostic);

}  // namespace schaas::server
