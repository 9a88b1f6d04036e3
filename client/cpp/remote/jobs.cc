#include "schaas/jobs.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "client/cpp/remote/connection_state.h"
#include "client/cpp/remote/marshalling.h"
#include "client/cpp/remote/retry_policy.h"
#include "client/cpp/remote/server_source.h"

// Jobs of the server. Watching one may take days: the server may restart, connections break, and calls have
// limits meanwhile. The watch goes on from the last item that it heard, whose number the server gives.
// Waiting begins anew whenever something is heard, so the limit is that of one absence.
namespace schaas::client {
namespace {

Job job_from_proto(const v1::Job& from) {
  Job job{from.id(), from.client(), from.label(), from.created(), from.priority(), from.budget_seconds()};
  job.waiting = from.waiting();
  job.running = from.running();
  job.done = from.done();
  job.failed = from.failed();
  job.cancelled = from.cancelled();
  job.seconds = from.seconds();
  return job;
}

JobItem job_from_proto(const v1::JobItem& from) {
  return {from.number(), from.expression(), from.state(), from.error(), from.seconds(), from.ended()};
}

/// False: the listener has heard enough.
bool tell_job_event(const v1::JobEvent& event, const JobListener& listener) {
  if (event.has_item()) return !listener.item || listener.item(job_from_proto(event.item()));
  for (const auto& item : event.items().items())
    if (listener.item && !listener.item(job_from_proto(item))) return false;
  if (event.has_job()) return !listener.job || listener.job(job_from_proto(event.job()));
  return true;
}

constexpr double first_pause = 0.5;

// The job goes on, or will: the server stops, has gone, or lets no call take longer. A failed handshake is
// not an absence.
bool is_cut_off(const grpc::Status& status, const support::Diagnostic& why) {
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
      return why.code != "tls-failed";
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::CANCELLED:
      return true;
    default:
      return false;
  }
}

support::Diagnostic given_up(const support::Diagnostic& why, const std::string& job,
                             std::chrono::milliseconds limit) {
  return support::noting(why, "after " + std::to_string(limit.count() / 1000) +
                                  " s this was given up; the server keeps the job " + job +
                                  ": it can be watched again");
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
    SCHAAS_RETURN_IF_ERROR(state_->call(state_->options.schedule_limit, [&](const Link& to, auto& context) {
      return to.jobs->Submit(&context, request, &reply);
    }));  // thousands of requests are checked
    return job_from_proto(reply);
  });
}

support::Result<std::vector<Job>> Connection::jobs(std::uint32_t most) {
  return guarded([&]() -> support::Result<std::vector<Job>> {
    v1::ListJobsRequest request;
    request.set_limit(most);
    v1::ListJobsReply reply;
    SCHAAS_RETURN_IF_ERROR(state_->call(state_->options.call_limit, [&](const Link& to, auto& context) {
      return to.jobs->List(&context, request, &reply);
    }));
    std::vector<Job> jobs;
    for (const auto& one : reply.jobs()) jobs.push_back(job_from_proto(one));
    return jobs;
  });
}

// Returns the job as it was last heard of, when it ends or the listener has heard enough.
support::Result<Job> Connection::watch(const std::string& id, std::uint64_t after,
                                       const JobListener& listener) {
  return guarded([&]() -> support::Result<Job> {
    support::Diagnostic why;
    const auto told = [&](double seconds) {
      if (listener.away) listener.away(why, seconds);
    };
    std::optional<RetryPolicy> retry;  // anew with everything that is heard
    for (Job last;;) {
      const auto link = state_->link();
      grpc::ClientContext context;
      State::begin(*link, context, std::chrono::milliseconds::max());  // as long as the job takes
      v1::WatchJobRequest request;
      request.set_id(id);
      request.set_after(after);
      request.set_together(true);
      const auto reader = link->jobs->Watch(&context, request);
      for (v1::JobEvent event; reader->Read(&event);) {
        retry.reset();
        if (event.has_job()) last = job_from_proto(event.job());
        // The server numbers the ends of items: a new watch goes on behind the last one heard.
        if (event.has_item()) after = event.item().ended();
        if (!event.items().items().empty()) after = event.items().items().rbegin()->ended();
        if (tell_job_event(event, listener)) continue;
        context.TryCancel();
        reader->Finish();
        return last;
      }
      const grpc::Status status = reader->Finish();
      if (status.ok()) return last;
      why = state_->failure(status, context);
      if (!retry) retry.emplace(state_->options.away_limit, told);
      // A busy server says when to come back; one that is gone says nothing, and the pauses grow.
      if (retry->wait_after(status, context)) continue;
      if (!is_cut_off(status, why)) return why;
      if (!retry->wait(first_pause)) return given_up(why, id, state_->options.away_limit);
      if (!is_gone(why)) continue;
      // Another one may be there by now, or may have to be started; else the pauses go on.
      const auto another = state_->replace(link, {});
      if (!another.ok() && !is_gone(another.error())) return another.error();
    }
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
    SCHAAS_RETURN_IF_ERROR(state_->call(state_->options.call_limit, [&](const Link& to, auto& context) {
      return to.jobs->Cancel(&context, request_of(id), &reply);
    }));
    return job_from_proto(reply);
  });
}

support::Result<Job> Connection::retry(const std::string& id) {
  return guarded([&]() -> support::Result<Job> {
    v1::Job reply;
    SCHAAS_RETURN_IF_ERROR(state_->call(state_->options.call_limit, [&](const Link& to, auto& context) {
      return to.jobs->Retry(&context, request_of(id), &reply);
    }));
    return job_from_proto(reply);
  });
}

}  // namespace schaas::client
