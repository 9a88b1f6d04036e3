#pragma once
#include <string>

#include "server/rpc/marshalling.h"

namespace schaas::server {

/// Prints a request as JSON, which later versions can still read.
std::string stored_request(const v1::ScheduleRequest& request);
/// Parses a stored request. Errors: internal [stored-request].
support::Result<ScheduleQuery> query_of_stored(const std::string& text);

}  // namespace schaas::server
