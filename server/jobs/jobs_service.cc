#include "server/jobs/jobs_service.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "server/answers/printable_text.h"
#include "server/jobs/stored_request.h"
#include "server/rpc/marshalling.h"

// Remote calls about jobs, each inside the request boundary. A job is checked whole before it is stored:
// every request in it passes the checks that scheduling makes first. Owners are tokens' names. Watching reads
// the store after changes of the job alone, once for all who watch it (job_feed.h). A watch holds a thread of
// the server, so watchers are bounded by number; it ends with its token.
namespace schaas::server {
namespace {

using kernels_cache::JobRow;
using support::Cancellation;
using support::Result;

constexpr std::size_t jobs_listed = 100, max_jobs_listed = 10'000;
// Changes within this time are told together.
constexpr std::chrono::milliseconds watch_interval{250};
// Between changes a watch looks this often whether client, token and server are still there; no row is read.
constexpr std::chrono::milliseconds presence_interval{250};
// Items of one event, well below the size of messages that clients receive.
constexpr std::size_t max_event_bytes = 256 << 10;
// Delays that a refused client is told to wait.
constexpr double seconds_until_some_are_done = 20, seconds_until_some_leave = 2;

/// Counts a watching client for as long as it lives.
class Watcher {
 public:
  explicit Watcher(std::atomic<int>& count) : count_(count), number_(++count) {}
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  ~Watcher() { --count_; }
  int number() const { return number_; }  ///< from 1

 private:
  std::atomic<int>& count_;
  const int number_;
};

v1::Job job_to_proto(const JobRow& row) {
  v1::Job out;
  out.set_id(row.id);
  out.set_client(row.client);
  out.set_label(row.label);
  out.set_created(row.created);
  out.set_priority(row.priority);
  out.set_budget_seconds(row.budget_seconds);
  out.set_waiting(row.waiting);
  out.set_running(row.running);
  out.set_done(row.done);
  out.set_failed(row.failed);
  out.set_cancelled(row.cancelled);
  out.set_seconds(row.seconds);
  return out;
}

v1::JobItem job_to_proto(const EndedItem& item) {
  v1::JobItem out;
  out.set_number(item.number);
  out.set_expression(item.expression);
  out.set_state(name(item.state));
  out.set_error(item.error);
  out.set_seconds(item.seconds);
  out.set_ended(item.ended);
  return out;
}

std::string expression_of(const std::string& request) {
  const auto query = query_of_stored(request);
  return query.ok() ? query->problem.expression : "";
}

}  // namespace

JobsService::JobsService(Scheduling& checking, std::shared_ptr<kernels_cache::JobStore> store,
                         JobRunner& runner, RequestBoundary& boundary, Limits limits)
    : checking_(checking),
      store_(std::move(store)),
      runner_(runner),
      boundary_(boundary),
      limits_(limits),
      feed_(store_, expression_of, watch_interval) {}

/// A priority above 0 passes the jobs of others, so it takes the scope `admin`.
Result<void> JobsService::check_priority(const Principal& principal, int priority) {
  if (priority <= 0 || principal.name.empty() || principal.is_admin) return {};
  return support::noting(
      support::unreachable("scope", "a priority of " + std::to_string(priority) +
                                        " passes the jobs of others, which takes the scope `admin`; `" +
                                        principal.name + "` may ask for at most 0"),
      "lower the priority of your other jobs instead");
}

/// A token changes its own jobs; an administrator, and everybody where no tokens are, any.
Result<void> JobsService::check_owner(const Principal& principal, const std::string& id) {
  SCHAAS_ASSIGN_OR_RETURN(const JobRow row, store_->job(id));
  if (principal.may_modify(row.client)) return {};
  return support::noting(support::unreachable("not-yours", "the job " + id + " is of `" + row.client +
                                                               "`, not of `" + principal.name + "`"),
                         "its owner, or a token with the scope `admin`, may do that");
}

/// Checks texts, numbers and then each request; an error names the request.
Result<kernels_cache::NewJob> JobsService::checked(const v1::SubmitJobRequest& request,
                                                   const Cancellation& cancellation) {
  SCHAAS_RETURN_IF_ERROR(
      check_printable(request.idempotency_key(), {"key of a job", "job", 1, max_text_bytes}));
  SCHAAS_RETURN_IF_ERROR(check_printable(request.client(), {"client of a job", "job", 0, max_text_bytes}));
  SCHAAS_RETURN_IF_ERROR(check_printable(request.label(), {"label of a job", "job", 0, max_text_bytes}));
  if (request.priority() < -max_priority || request.priority() > max_priority) {
    return support::invalid("job", "a priority of " + std::to_string(request.priority()) + "; expected -" +
                                       std::to_string(max_priority) + " to " + std::to_string(max_priority));
  }
  if (!std::isfinite(request.budget_seconds()) || request.budget_seconds() < 0)
    return support::invalid("job", "the budget of a job must be a number of seconds, 0 for none");
  // The number is checked before any request is parsed.
  const auto requests = static_cast<std::size_t>(request.requests_size());
  if (requests == 0 || requests > limits_.requests) {
    return support::invalid("job", "a job of " + std::to_string(requests) + " requests; expected 1 to " +
                                       std::to_string(limits_.requests));
  }
  kernels_cache::NewJob job{request.idempotency_key(), request.client(),         request.label(),
                            request.priority(),        request.budget_seconds(), {}};
  for (const v1::ScheduleRequest& one : request.requests()) {
    SCHAAS_RETURN_IF_ERROR(cancellation.check("checking a job"));
    const ScheduleQuery query = from_proto(one);
    if (const auto fine = checking_.check(query, cancellation); !fine.ok())
      return support::noting(fine.error(),
                             "in request " + std::to_string(job.requests.size() + 1) + " of the job");
    job.requests.push_back(stored_request(one));
    job.isas.push_back(query.search_only ? "" : query.isa);
  }
  return job;
}

Result<void> JobsService::answer(const std::string& id, v1::Job& reply) {
  SCHAAS_ASSIGN_OR_RETURN(const JobRow row, store_->job(id));
  reply = job_to_proto(row);
  return {};
}

grpc::Status JobsService::Submit(grpc::ServerContext* context, const v1::SubmitJobRequest* request,
                                 v1::Job* reply) {
  return boundary_.run(methods::submit_job, *context,
                       [&](RequestSummary& summary, Cancellation& cancellation) -> Result<void> {
                         SCHAAS_RETURN_IF_ERROR(check_priority(summary.principal, request->priority()));
                         SCHAAS_ASSIGN_OR_RETURN(auto job, checked(*request, cancellation));
                         // The name of the token takes precedence: no client can pose as another.
                         if (!summary.principal.name.empty()) job.client = summary.principal.name;
                         job.queued = summary.principal.quotas.queued;
                         summary.retry_seconds = seconds_until_some_are_done;
                         SCHAAS_ASSIGN_OR_RETURN(const std::string id, store_->submit(job));
                         summary.detail = "job=" + id + " requests=" + std::to_string(job.requests.size());
                         return answer(id, *reply);
                       });
}

grpc::Status JobsService::List(grpc::ServerContext* context, const v1::ListJobsRequest* request,
                               v1::ListJobsReply* reply) {
  return boundary_.run(methods::list_jobs, *context, [&](RequestSummary&, Cancellation&) -> Result<void> {
    const std::size_t limit =
        request->limit() == 0 ? jobs_listed : std::min<std::size_t>(request->limit(), max_jobs_listed);
    SCHAAS_ASSIGN_OR_RETURN(const auto rows, store_->jobs(limit));
    for (const JobRow& row : rows) *reply->add_jobs() = job_to_proto(row);
    return {};
  });
}

/// Watch of one job, with what was told so far.
class JobsService::WatchedJob {
 public:
  WatchedJob(JobsService& service, const v1::WatchJobRequest& request,
             grpc::ServerWriter<v1::JobEvent>& writer, RequestSummary& summary, Cancellation& cancellation)
      : service_(service),
        id_(request.id()),
        feed_(service.feed_.watch(id_)),
        after_(request.after()),
        together_(request.together()),
        writer_(writer),
        summary_(summary),
        cancellation_(cancellation) {}

  /// Streams items in the order in which they ended, and the job whenever it changed, until it has ended.
  Result<void> run() {
    for (;;) {
      SCHAAS_RETURN_IF_ERROR(present());
      SCHAAS_ASSIGN_OR_RETURN(const bool finished, tell());
      if (finished) return {};
      // All who watch go on at the same moment: the first of them reads for the others.
      feed_.wait_for_next_interval();
      while (!service_.store_->changes().wait(id_, seen_, presence_interval))
        SCHAAS_RETURN_IF_ERROR(present());
    }
  }

 private:
  // A watch may last for hours, in which its token may be withdrawn.
  Result<void> present() {
    if (service_.runner_.stopping())
      return support::unreachable("stopping",
                                  "the server is stopping; the job goes on when it is started again");
    SCHAAS_RETURN_IF_ERROR(summary_.authorise_again());
    return cancellation_.check("watching a job");
  }

  // Sends what is new; returns true when the job has ended.
  Result<bool> tell() {
    for (;;) {
      SCHAAS_ASSIGN_OR_RETURN(const JobFeed::News news, feed_.news(after_));
      summary_.detail = "job=" + news.job.id;
      seen_ = news.seen;
      SCHAAS_RETURN_IF_ERROR(send_items(news.items));
      // More ends may be stored already: they are sent before the state of the job.
      if (news.more) continue;
      v1::JobEvent event;
      *event.mutable_job() = job_to_proto(news.job);
      if (const std::string text = event.job().SerializeAsString(); text != last_sent_) {
        last_sent_ = text;
        SCHAAS_RETURN_IF_ERROR(send(event));
      }
      return news.job.finished();
    }
  }

  // A message costs more than an item in it, so a client that can read several gets them in one.
  Result<void> send_items(const std::vector<std::shared_ptr<const EndedItem>>& items) {
    v1::JobEvent event;
    std::size_t bytes = 0;
    for (const auto& item : items) {
      v1::JobItem one = job_to_proto(*item);
      bytes += one.ByteSizeLong();
      if (together_) {
        *event.mutable_items()->add_items() = std::move(one);
      } else {
        *event.mutable_item() = std::move(one);
      }
      if (together_ && item != items.back() && bytes < max_event_bytes) continue;
      SCHAAS_RETURN_IF_ERROR(send(event));
      after_ = item->ended;
      event.Clear();
      bytes = 0;
    }
    return {};
  }

  Result<void> send(const v1::JobEvent& event) {
    if (!summary_.pending_write.send(writer_, event)) cancellation_.cancel();
    return cancellation_.check("watching a job");
  }

  JobsService& service_;
  const std::string id_;
  JobFeed::Watch feed_;
  std::uint64_t after_;
  const bool together_;
  grpc::ServerWriter<v1::JobEvent>& writer_;
  RequestSummary& summary_;
  Cancellation& cancellation_;
  kernels_cache::JobChanges::Number seen_ = 0;  ///< changes of the job that were told
  std::string last_sent_;                       ///< the job
};

grpc::Status JobsService::Watch(grpc::ServerContext* context, const v1::WatchJobRequest* request,
                                grpc::ServerWriter<v1::JobEvent>* writer) {
  return boundary_.run(
      methods::watch_job, *context, [&](RequestSummary& summary, Cancellation& cancellation) -> Result<void> {
        const Watcher watcher(watchers_);
        if (watcher.number() > limits_.watchers) {
          summary.retry_seconds = seconds_until_some_leave;
          return support::exhausted(
              "overloaded", std::to_string(limits_.watchers) + " jobs are being watched, which is the limit");
        }
        return WatchedJob(*this, *request, *writer, summary, cancellation).run();
      });
}

grpc::Status JobsService::Cancel(grpc::ServerContext* context, const v1::JobRequest* request,
                                 v1::Job* reply) {
  return boundary_.run(methods::cancel_job, *context,
                       [&](RequestSummary& summary, Cancellation&) -> Result<void> {
                         SCHAAS_RETURN_IF_ERROR(check_owner(summary.principal, request->id()));
                         SCHAAS_RETURN_IF_ERROR(store_->cancel(request->id()));
                         return answer(request->id(), *reply);
                       });
}

grpc::Status JobsService::Retry(grpc::ServerContext* context, const v1::JobRequest* request, v1::Job* reply) {
  return boundary_.run(
      methods::retry_job, *context, [&](RequestSummary& summary, Cancellation&) -> Result<void> {
        SCHAAS_RETURN_IF_ERROR(check_owner(summary.principal, request->id()));
        summary.retry_seconds = seconds_until_some_are_done;
        SCHAAS_RETURN_IF_ERROR(store_->retry(request->id(), summary.principal.quotas.queued));
        return answer(request->id(), *reply);
      });
}

}  // namespace schaas::server
