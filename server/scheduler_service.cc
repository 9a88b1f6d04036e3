#include "server/scheduler_service.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "server/marshalling.h"

namespace schaas::server {
namespace {

using support::Cancellation;
using support::Result;

constexpr std::size_t chunk_bytes = 1 << 20;
constexpr std::size_t key_digits = 12;  // enough to find the problem in a log

// Counts as long as it lives.
class Waiting {
 public:
  explicit Waiting(std::atomic<int>& count) : count_(count) { ++count_; }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() { --count_; }

 private:
  std::atomic<int>& count_;
};

std::string summary_of(const Finished& finished) {
  return fmt::format("hit={} compiled={} failed={} compile_seconds={:.3f}", int{finished.hit},
                     finished.compiled, finished.failed, finished.compile_seconds);
}

Result<void> drop(Stores& stores, const std::string& sha256) {
  SCHAAS_RETURN_IF_ERROR(stores.schedules->drop_kernels_with(sha256));
  return {};
}

// What two requests have in common when they ask the same.
std::string text_of(const Method& method, const google::protobuf::MessageLite& request) {
  std::string out = method.name;
  out += '\n';
  google::protobuf::io::StringOutputStream stream(&out);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);  // maps in order
  request.SerializeToCodedStream(&coded);
  coded.Trim();
  return out;
}

// A message that was serialised before, to be sent again: its fields are passed on without a look into them.
template <class Message>
Message unread(const std::string& bytes) {
  Message out;
  out.GetReflection()->MutableUnknownFields(&out)->ParseFromString(bytes);
  return out;
}

/// Takes down what a Schedule request is told, as long as that can be told again: stored answers only.
class Minutes {
 public:
  void take(const Event& event, const v1::ScheduleEvent& message) {
    if (std::holds_alternative<Finished>(event)) return;  // it has the seconds of this one request
    const auto* frontier = std::get_if<NamedFrontier>(&event);
    const auto* kernel = std::get_if<NamedKernel>(&event);
    if (frontier != nullptr && !frontier->partial) {
      reply_.problem_key = frontier->key;
    } else if (kernel != nullptr && kernel->hit && !kernel->draft) {
      ++reply_.kernels;
    } else {
      worth_keeping_ = false;
      reply_.messages.clear();
    }
    if (worth_keeping_) reply_.messages.push_back(message.SerializeAsString());
  }
  bool worth_keeping(const Finished& finished) const {
    return worth_keeping_ && finished.hit && finished.failed == 0;
  }
  KeptReplies::Reply take_reply() { return std::move(reply_); }

 private:
  bool worth_keeping_ = true;
  KeptReplies::Reply reply_;
};

}  // namespace

SchedulerService::SchedulerService(Scheduling& scheduling, Stores stores, std::function<ServerFacts()> facts,
                                   RequestBoundary& boundary, std::shared_ptr<KeptReplies> replies,
                                   std::shared_ptr<Metrics> metrics)
    : scheduling_(scheduling),
      stores_(std::move(stores)),
      facts_(std::move(facts)),
      boundary_(boundary),
      replies_(std::move(replies)),
      metrics_(std::move(metrics)) {}

grpc::Status SchedulerService::Schedule(grpc::ServerContext* context, const v1::ScheduleRequest* request,
                                        grpc::ServerWriter<v1::ScheduleEvent>* writer) {
  std::atomic<bool> settled{false};  // the client has something to run and lets us finish without it
  const Waiting waiting(waiting_);
  return boundary_.run(
      methods::schedule, *context,
      [&](RequestSummary& summary, Cancellation& cancellation) -> Result<void> {
        const auto stamp = stores_.schedules->changes().now();
        const std::string asked = text_of(methods::schedule, *request);
        if (!request->no_cache()) {
          if (const auto kept = replies_->find(asked))
            return tell_again(*kept, *writer, summary, cancellation);
        }
        Minutes minutes;
        const auto send = [&](const Event& event) {
          if (const auto* frontier = std::get_if<NamedFrontier>(&event))
            summary.key = frontier->key.substr(0, key_digits);
          const v1::ScheduleEvent message = to_proto(event);
          minutes.take(event, message);
          const bool heard = summary.transfer.send(*writer, message);
          if (heard && request->keep_working() && std::holds_alternative<NamedKernel>(event)) settled = true;
          return heard || settled;
        };
        SCHAAS_ASSIGN_OR_RETURN(const Finished finished,
                                scheduling_.schedule(from_proto(*request), send, cancellation));
        summary.detail = summary_of(finished);
        if (!request->no_cache() && minutes.worth_keeping(finished))
          replies_->keep(asked, minutes.take_reply(), stamp);
        return {};
      },
      &settled);
}

Result<void> SchedulerService::tell_again(const KeptReplies::Reply& kept,
                                          grpc::ServerWriter<v1::ScheduleEvent>& writer,
                                          RequestSummary& summary, Cancellation& cancellation) {
  const auto start = std::chrono::steady_clock::now();
  summary.key = kept.problem_key.substr(0, key_digits);
  const auto send = [&](const v1::ScheduleEvent& message) -> Result<void> {
    if (!summary.transfer.send(writer, message)) cancellation.cancel();
    return cancellation.check("sending");
  };
  for (const auto& message : kept.messages) SCHAAS_RETURN_IF_ERROR(send(unread<v1::ScheduleEvent>(message)));
  Finished finished;
  finished.hit = true;
  finished.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  SCHAAS_RETURN_IF_ERROR(send(to_proto(Event(finished))));
  summary.detail = summary_of(finished) + " kept=1";
  metrics_->add(Metrics::Counter::kept_replies, {{"method", methods::schedule.name}});
  metrics_->add(Metrics::Counter::frontiers, {{"answer", "hit"}});
  if (kept.kernels > 0)
    metrics_->add(Metrics::Counter::kernels, {{"answer", "hit"}}, static_cast<double>(kept.kernels));
  return {};
}

grpc::Status SchedulerService::Lookup(grpc::ServerContext* context, const v1::LookupRequest* request,
                                      v1::Frontier* reply) {
  return boundary_.run(
      methods::lookup, *context, [&](RequestSummary& summary, Cancellation& cancellation) -> Result<void> {
        const auto stamp = stores_.schedules->changes().now();
        const std::string asked = text_of(methods::lookup, *request);
        if (const auto kept = replies_->find(asked)) {
          summary.key = kept->problem_key.substr(0, key_digits);
          summary.detail = "kept=1";
          metrics_->add(Metrics::Counter::kept_replies, {{"method", methods::lookup.name}});
          *reply = unread<v1::Frontier>(kept->messages.front());
          return {};
        }
        SCHAAS_ASSIGN_OR_RETURN(
            const NamedFrontier found,
            scheduling_.lookup(from_proto(request->problem()), from_proto(request->search()), cancellation));
        summary.key = found.key.substr(0, key_digits);
        *reply = to_proto(found);
        replies_->keep(asked, {found.key, {reply->SerializeAsString()}, 0}, stamp);
        return {};
      });
}

grpc::Status SchedulerService::Explain(grpc::ServerContext* context, const v1::ExplainRequest* request,
                                       v1::ExplainReply* reply) {
  return boundary_.run(methods::explain, *context,
                       [&](RequestSummary&, Cancellation& cancellation) -> Result<void> {
                         SCHAAS_ASSIGN_OR_RETURN(const auto explanations,
                                                 scheduling_.explain(from_proto(*request), cancellation));
                         for (const auto& explanation : explanations)
                           *reply->add_explanations() = to_proto(explanation);
                         return {};
                       });
}

grpc::Status SchedulerService::Emit(grpc::ServerContext* context, const v1::EmitRequest* request,
                                    v1::EmitReply* reply) {
  return boundary_.run(
      methods::emit, *context, [&](RequestSummary&, Cancellation& cancellation) -> Result<void> {
        SCHAAS_ASSIGN_OR_RETURN(std::string text, scheduling_.emit(from_proto(*request), cancellation));
        reply->set_text(std::move(text));
        return {};
      });
}

grpc::Status SchedulerService::Download(grpc::ServerContext* context, const v1::DownloadRequest* request,
                                        grpc::ServerWriter<v1::DownloadChunk>* writer) {
  return boundary_.run(
      methods::download, *context, [&](RequestSummary& summary, Cancellation& cancellation) -> Result<void> {
        summary.detail =
            "sha256=" + (support::is_sha256_hex(request->sha256()) ? request->sha256() : std::string("?"));
        const auto bytes = stores_.binaries->get(request->sha256());
        if (!bytes.ok()) {
          // No row may go on naming it: the client asks again, and is told of what can be had.
          if (bytes.error().code == "damaged-binary" || bytes.error().code == "unknown-binary")
            SCHAAS_RETURN_IF_ERROR(drop(stores_, request->sha256()));
          return bytes.error();
        }
        for (std::size_t begin = 0; begin == 0 || begin < bytes->size(); begin += chunk_bytes) {
          SCHAAS_RETURN_IF_ERROR(cancellation.check("download"));
          v1::DownloadChunk chunk;
          chunk.set_data(bytes->substr(begin, chunk_bytes));
          if (!summary.transfer.send(*writer, chunk)) cancellation.cancel();
          summary.sent_bytes += chunk.data().size();
        }
        return {};
      });
}

grpc::Status SchedulerService::Report(grpc::ServerContext* context, const v1::ReportRequest* request,
                                      v1::ReportReply*) {
  return boundary_.run(methods::report, *context,
                       [&](RequestSummary& summary, Cancellation& cancellation) -> Result<void> {
                         summary.detail = "measurements=" + std::to_string(request->measurements_size());
                         return scheduling_.report(from_proto(*request), cancellation);
                       });
}

grpc::Status SchedulerService::Info(grpc::ServerContext* context, const v1::InfoRequest*,
                                    v1::ServerInfo* reply) {
  return boundary_.run(methods::info, *context, [&](RequestSummary&, Cancellation&) -> Result<void> {
    ServerFacts facts = facts_();
    SCHAAS_ASSIGN_OR_RETURN(const auto rows, stores_.schedules->statistics());
    SCHAAS_ASSIGN_OR_RETURN(facts.binary_bytes, stored_bytes(*stores_.binaries));
    facts.frontiers = rows.frontiers;
    facts.kernels = rows.kernels;
    *reply = to_proto(facts);
    return {};
  });
}

grpc::Status SchedulerService::ListCache(grpc::ServerContext* context, const v1::ListCacheRequest* request,
                                         v1::ListCacheReply* reply) {
  return boundary_.run(
      methods::list_cache, *context, [&](RequestSummary& summary, Cancellation&) -> Result<void> {
        const std::string& key = request->key();
        if (!key.empty() && !support::is_sha256_hex(key)) {
          return support::invalid("wrong-key",
                                  "`" + key.substr(0, 80) +
                                      "` is not a problem's key; expected 64 lower-case hexadecimal digits");
        }
        summary.key = key.substr(0, key_digits);
        SCHAAS_ASSIGN_OR_RETURN(const auto problems, stores_.schedules->list());
        for (const auto& problem : problems) {
          if (key.empty() || problem.problem_key == key) *reply->add_entries() = to_proto(problem);
        }
        if (key.empty()) return {};
        if (reply->entries().empty()) {
          return support::invalid("not-stored", "nothing is stored under the key " + key);
        }
        SCHAAS_ASSIGN_OR_RETURN(const auto kernels, stores_.schedules->kernels_of(key));
        for (const auto& kernel : kernels) *reply->mutable_entries(0)->add_kernel() = to_proto(kernel);
        return {};
      });
}

grpc::Status SchedulerService::VerifyCache(grpc::ServerContext* context, const v1::VerifyCacheRequest*,
                                           v1::VerifyCacheReply* reply) {
  return boundary_.run(methods::verify_cache, *context, [&](RequestSummary&, Cancellation&) -> Result<void> {
    SCHAAS_ASSIGN_OR_RETURN(const auto report, stores_.binaries->verify());
    reply->set_checked(report.checked);
    for (const auto& sha256 : report.damaged) {
      reply->add_damaged(sha256);
      SCHAAS_RETURN_IF_ERROR(drop(stores_, sha256));
    }
    SCHAAS_ASSIGN_OR_RETURN(const std::uint64_t missing, drop_rows_without_binary(stores_));
    reply->set_missing(missing);
    return {};
  });
}

}  // namespace schaas::server
