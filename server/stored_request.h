#pragma once
#include <string>

#include "server/marshalling.h"

namespace schaas::server {

/// How an item of a job is stored: JSON, which later versions can still read.
std::string stored_request(const v1::ScheduleRequest& request);
/// Errors: internal [stored-request].
support::Result<ScheduleQuery> query_of_stored(const std::string& text);

}  // namespace schaas::server
