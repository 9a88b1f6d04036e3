#include "tests/service/service_client.h"

#include <grpc/grpc.h>

// A client over the generated stubs alone, without the retries, caches and checks of the client library.
// Tests see statuses, diagnostics and streamed events as they cross the wire. Events of one reply are sorted
// by kind, baseline kernels apart from full ones. Each client has a connection of its own, so one made after
// a restart reaches the new server.
namespace schaas::test {
namespace {

// Held to the end of the process: the last release would wait up to 10 s for gRPC's own write poller.
[[maybe_unused]] const bool held = (grpc_init(), true);

std::string status_name(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::OK:
      return "OK";
    case grpc::StatusCode::CANCELLED:
      return "CANCELLED";
    case grpc::StatusCode::INVALID_ARGUMENT:
      return "INVALID_ARGUMENT";
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return "DEADLINE_EXCEEDED";
    case grpc::StatusCode::NOT_FOUND:
      return "NOT_FOUND";
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return "RESOURCE_EXHAUSTED";
    case grpc::StatusCode::UNIMPLEMENTED:
      return "UNIMPLEMENTED";
    case grpc::StatusCode::INTERNAL:
      return "INTERNAL";
    case grpc::StatusCode::UNAVAILABLE:
      return "UNAVAILABLE";
    case grpc::StatusCode::DATA_LOSS:
      return "DATA_LOSS";
    default:
      return std::to_string(code);
  }
}

}  // namespace

v1::ScheduleRequest request_for(const std::string& expression) {
  v1::ScheduleRequest request;
  request.mutable_problem()->set_expression(expression);
  (*request.mutable_problem()->mutable_formats())["B"] = "csr";
  request.set_isa("x86-64-v2");
  request.set_kernels(1);
  return request;
}

std::string Refusal::text() const {
  return status_name(status) + " " + diagnostic.family() + " [" + diagnostic.code() +
         "]: " + diagnostic.message();
}

ServiceClient::ServiceClient(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a restarted server gets a new connection
  arguments.SetMaxReceiveMessageSize(64 << 20);
  channel_ = grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  stub_ = v1::Scheduler::NewStub(channel_);
}

Refusal ServiceClient::refusal_of(const grpc::Status& status, const grpc::ClientContext& context) {
  Refusal refusal;
  refusal.status = status.error_code();
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto found = trailers.find("schaas-diagnostic-bin");
  if (found != trailers.end()) {
    refusal.diagnostic.ParseFromString(std::string(found->second.data(), found->second.size()));
  } else if (!status.ok()) {
    refusal.diagnostic.set_message(status.error_message());
  }
  return refusal;
}

Scheduled ServiceClient::schedule(const v1::ScheduleRequest& request, std::chrono::milliseconds deadline) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + deadline);
  const auto reader = stub_->Schedule(&context, request);
  Scheduled out;
  v1::ScheduleEvent event;
  while (reader->Read(&event)) {
    switch (event.event_case()) {
      case v1::ScheduleEvent::kProgress:
        ++out.progress;
        break;
      case v1::ScheduleEvent::kFrontier:
        out.frontier = event.frontier();
        break;
      case v1::ScheduleEvent::kKernel:
        (event.kernel().draft() ? out.baselines : out.kernels).push_back(event.kernel());
        break;
      case v1::ScheduleEvent::kFailure:
        out.failures.push_back(event.failure());
        break;
      case v1::ScheduleEvent::kDone:
        out.done = event.done();
        break;
      case v1::ScheduleEvent::EVENT_NOT_SET:
        break;
    }
  }
  out.refusal = refusal_of(reader->Finish(), context);
  return out;
}

std::pair<std::string, Refusal> ServiceClient::download(const std::string& sha256) {
  grpc::ClientContext context;
  v1::DownloadRequest request;
  request.set_sha256(sha256);
  const auto reader = stub_->Download(&context, request);
  std::string bytes;
  v1::DownloadChunk chunk;
  while (reader->Read(&chunk)) bytes += chunk.data();
  return {bytes, refusal_of(reader->Finish(), context)};
}

}  // namespace schaas::test
