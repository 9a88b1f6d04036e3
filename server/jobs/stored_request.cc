#include "server/jobs/stored_request.h"

#include <google/protobuf/util/json_util.h>

namespace schaas::server {

using support::Result;

std::string stored_request(const v1::ScheduleRequest& request) {
  std::string text;
  const auto written = google::protobuf::util::MessageToJsonString(request, &text);
  SCHAAS_CHECK(written.ok(), "a request that cannot be written as JSON");
  return text;
}

Result<ScheduleQuery> query_of_stored(const std::string& text) {
  v1::ScheduleRequest request;
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;  // fields of later versions
  if (!google::protobuf::util::JsonStringToMessage(text, &request, options).ok())
    return support::internal("stored-request", "the stored request of a job cannot be read");
  return from_proto(request);
}

}  // namespace schaas::server
