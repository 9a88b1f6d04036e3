// Requests as they come over the wire, and as jobs store them; the first byte says which.
#include <google/protobuf/stubs/logging.h>

#include "compiler/problem/canonical.h"
#include "server/jobs/stored_request.h"
#include "tests/fuzz/target.h"

namespace schaas::fuzz {
namespace {

void check(const server::ScheduleQuery& query) {
  const auto built = problem::build(query.problem);
  if (!built.ok()) {
    require(!server::to_proto(built.error()).SerializeAsString().empty());
    return;
  }
  const auto text = problem::canonicalize(*built).text;
  require(problem::parse_problem(text).ok());
}

template <class Message>
void unmarshal(std::string_view bytes) {
  Message message;
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) (void)server::from_proto(message);
}

}  // namespace

void one(std::string_view bytes) {
  [[maybe_unused]] static const bool silent = (google::protobuf::SetLogHandler(nullptr), true);
  if (bytes.empty()) return;
  const char which = bytes[0];
  bytes.remove_prefix(1);
  if (which == 'j') {
    const auto stored = server::query_of_stored(std::string(bytes));
    if (stored.ok()) check(*stored);
    return;
  }
  unmarshal<v1::ExplainRequest>(bytes);
  unmarshal<v1::EmitRequest>(bytes);
  unmarshal<v1::ReportRequest>(bytes);
  v1::ScheduleRequest request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  check(server::from_proto(request));
  const auto kept = server::query_of_stored(server::stored_request(request));
  require(kept.ok() && kept->problem.expression == request.problem().expression());
}

}  // namespace schaas::fuzz
