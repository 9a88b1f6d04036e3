#include "schaas/jobs.h"

#include <pwd.h>
#include <unistd.h>

#include <array>

#include "connection_state.h"
#include "marshalling.h"

namespace schaas::client {
namespace {

Job from_proto(const v1::Job& from) {
  Job job{from.id(), from.client(), from.label(), from.created(), from.priority(), from.budget_seconds()};
  job.waiting = from.waiting();
  job.running = from.running();
  job.done = from.done();
  job.failed = from.failed();
  job.cancelled = from.cancelled();
  job.seconds = from.seconds();
  return job;
}

JobItem from_proto(const v1::JobItem& from) {
  return {from.number(), from.expression(), from.state(), from.error(), from.seconds(), from.ended()};
}

/// False: the listener has heard enough.
bool tell(const v1::JobEvent& event, const JobListener& listener) {
  if (event.has_item()) return !listener.item || listener.item(from_proto(event.item()));
  if (event.has_job()) return !listener.job || listener.job(from_proto(event.job()));
  return true;
}

}  // namespace

std::string user_text() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const passwd* user = getpwuid(getuid());
  return std::string(user == nullptr ? std::to_string(getuid()) : user->pw_name) + "@" + host.data();
}

support::Result<Job> Connection::submit(const NewJob& job) {
  return guarded([&]() -> support::Result<Job> {
    v1::SubmitJobRequest request;
    request.set_idempotency_key(job.idempotency_key);
    request.set_client(job.client);
    request.set_label(job.label);
    request.set_priority(job.priority);
    request.set_budget_seconds(job.budget_seconds);
    for (const ScheduleRequest& one : job.requests) *request.add_requests() = to_proto(one);
    v1::Job reply;
    SCHAAS_RETURN_IF_ERROR(state_->call(state_->options.schedule_limit, [&](auto& context) {
      return state_->jobs->Submit(&context, request, &reply);
    }));  // thousands of requests are checked
    return from_proto(reply);
  });
}

support::Result<std::vector<Job>> Connection::jobs(std::uint32_t most) {
  return guarded([&]() -> support::Result<std::vector<Job>> {
    v1::ListJobsRequest request;
    request.set_limit(most);
    v1::ListJobsReply reply;
    SCHAAS_RETURN_IF_ERROR(state_->call(state_->options.call_limit, [&](auto& context) {
      return state_->jobs->List(&context, request, &reply);
    }));
    std::vector<Job> jobs;
    for (const auto& one : reply.jobs()) jobs.push_back(from_proto(one));
    return jobs;
  });
}

support::Result<Job> Connection::watch(const std::string& id, std::uint64_t after,
                                       const JobListener& listener) {
  return guarded([&]() -> support::Result<Job> {
    grpc::ClientContext context;
    state_->begin(context, std::chrono::milliseconds::max());  // as long as the job takes
    v1::WatchJobRequest request;
    request.set_id(id);
    request.set_after(after);
    const auto reader = state_->jobs->Watch(&context, request);
    Job last;
    for (v1::JobEvent event; reader->Read(&event);) {
      if (event.has_job()) last = from_proto(event.job());
      if (tell(event, listener)) continue;
      context.TryCancel();
      reader->Finish();
      return last;
    }
    const grpc::Status status = reader->Finish();
    if (!status.ok()) return state_->failure(status, context);
    return last;
  });
}

namespace {

v1::JobRequest request_of(const std::string& id) {
  v1::JobRequest request;
  request.set_id(id);
  return request;
}

}  // namespace

support::Result<Job> Connection::cancel(const std::string& id) {
  return guarded([&]() -> support::Result<Job> {
    v1::Job reply;
    SCHAAS_RETURN_IF_ERROR(state_->call(state_->options.call_limit, [&](auto& context) {
      return state_->jobs->Cancel(&context, request_of(id), &reply);
    }));
    return from_proto(reply);
  });
}

support::Result<Job> Connection::retry(const std::string& id) {
  return guarded([&]() -> support::Result<Job> {
    v1::Job reply;
    SCHAAS_RETURN_IF_ERROR(state_->call(state_->options.call_limit, [&](auto& context) {
      return state_->jobs->Retry(&context, request_of(id), &reply);
    }));
    return from_proto(reply);
  });
}

}  // namespace schaas::client
