#include "server/rpc/scheduler_service.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "proto/signed_problem.h"
#include "server/rpc/marshalling.h"

// Remote calls about schedules. Each handler unmarshals, calls `Scheduling` and marshals, inside the request
// boundary, which alone deals with authorisation, errors and the log.
// Responses that came from the stores alone are cached as they were sent. The stamp of changes is taken
// before anything is read, so a change in between makes the entry invalid. Cached bytes are sent without
// being parsed: as unknown fields of an empty message they are written out as they are. What depends on this
// very request, the last event with its duration, is made anew.
namespace schaas::server {
namespace {

using support::Cancellation;
using support::Result;

// Size of a chunk of a download (docs/limits.md).
constexpr std::size_t chunk_bytes = 1 << 20;
constexpr std::size_t key_digits = 12;      // enough to find the problem in a log
constexpr std::size_t max_listed = 10'000;  // entries of a page

// Counts a request for as long as it lives.
class InFlight {
 public:
  explicit InFlight(std::atomic<int>& count) : count_(count) { ++count_; }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;
  ~InFlight() { --count_; }

 private:
  std::atomic<int>& count_;
};

std::string summary_of(const Finished& finished) {
  return fmt::format("hit={} compiled={} failed={} compile_seconds={:.3f}", int{finished.hit},
                     finished.compiled, finished.failed, finished.compile_seconds);
}

Result<void> drop(Stores& stores, const std::string& sha256) {
  SCHAAS_RETURN_IF_ERROR(stores.schedules->drop_kernels_with({sha256}));
  return {};
}

// Returns the cache key of a request: method and deterministic bytes.
std::string text_of(const Method& method, const google::protobuf::MessageLite& request) {
  std::string out = method.name;
  out += '\n';
  google::protobuf::io::StringOutputStream stream(&out);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);  // maps are sorted
  request.SerializeToCodedStream(&coded);
  coded.Trim();
  return out;
}

// Wraps a serialised message for sending: its fields pass through unparsed.
template <class Message>
Message unparsed(const std::string& bytes) {
  Message out;
  out.GetReflection()->MutableUnknownFields(&out)->ParseFromString(bytes);
  return out;
}

/// Records the events of a Schedule request while they are cacheable: stored answers only.
class ResponseRecorder {
 public:
  void record(const Event& event, const v1::ScheduleEvent& message) {
    if (std::holds_alternative<Finished>(event)) return;  // carries the duration of this request
    const auto* frontier = std::get_if<answers::Frontier>(&event);
    const auto* kernel = std::get_if<answers::Kernel>(&event);
    if (frontier != nullptr && !frontier->partial) {
      response_.problem_key = frontier->key;
    } else if (kernel != nullptr && kernel->hit && !kernel->baseline) {
      ++response_.kernels;
    } else {
      cacheable_ = false;
      response_.messages.clear();
    }
    if (cacheable_) response_.messages.push_back(message.SerializeAsString());
  }
  bool cacheable(const Finished& finished) const {
    return cacheable_ && finished.hit && finished.failed == 0;
  }
  ResponseCache::Response take_response() { return std::move(response_); }

 private:
  bool cacheable_ = true;
  ResponseCache::Response response_;
};

}  // namespace

SchedulerService::SchedulerService(Scheduling& scheduling, Stores stores, std::function<ServerFacts()> facts,
                                   std::shared_ptr<const KernelSigner> signer, RequestBoundary& boundary,
                                   std::shared_ptr<ResponseCache> response_cache,
                                   std::shared_ptr<Metrics> metrics)
    : scheduling_(scheduling),
      stores_(std::move(stores)),
      facts_(std::move(facts)),
      signer_(std::move(signer)),
      boundary_(boundary),
      response_cache_(std::move(response_cache)),
      metrics_(std::move(metrics)) {}

grpc::Status SchedulerService::Schedule(grpc::ServerContext* context, const v1::ScheduleRequest* request,
                                        grpc::ServerWriter<v1::ScheduleEvent>* writer) {
  std::atomic<bool> detached{false};  // the client has a kernel and lets the request finish without it
  const InFlight in_flight(in_flight_);
  return boundary_.run(
      methods::schedule, *context,
      [&](RequestSummary& summary, Cancellation& cancellation) -> Result<void> {
        const auto stamp = stores_.schedules->changes().now();
        const std::string request_key = text_of(methods::schedule, *request);
        if (!request->no_cache()) {
          if (const auto cached = response_cache_->find(request_key))
            return replay(*cached, *writer, summary, cancellation);
        }
        ResponseRecorder recorder;
        ScheduleQuery query = from_proto(*request);
        query.requester = summary.requester;
        const auto send = [&](const Event& event) {
          v1::ScheduleEvent message = to_proto(event);
          if (const auto* frontier = std::get_if<answers::Frontier>(&event)) {
            // The signature binds the problem as it was asked to its key, for answers that are kept in files.
            summary.key = frontier->key.substr(0, key_digits);
            message.mutable_frontier()->set_signature(
                signer_->sign_text(signed_problem_text(query.problem, frontier->key)));
          }
          recorder.record(event, message);
          const bool delivered = summary.pending_write.send(*writer, message);
          // From its first kernel on such a client may leave: the rest is made and stored without it.
          if (delivered && request->keep_working() && std::holds_alternative<answers::Kernel>(event))
            detached = true;
          return delivered || detached;
        };
        SCHAAS_ASSIGN_OR_RETURN(const Finished finished, scheduling_.schedule(query, send, cancellation));
        summary.detail = summary_of(finished);
        if (!request->no_cache() && recorder.cacheable(finished))
          response_cache_->put(request_key, recorder.take_response(), stamp);
        return {};
      },
      &detached);
}

/// Sends a cached response and counts it like one that was made from the stores.
Result<void> SchedulerService::replay(const ResponseCache::Response& cached,
                                      grpc::ServerWriter<v1::ScheduleEvent>& writer, RequestSummary& summary,
                                      Cancellation& cancellation) {
  const auto start = std::chrono::steady_clock::now();
  summary.key = cached.problem_key.substr(0, key_digits);
  const auto send = [&](const v1::ScheduleEvent& message) -> Result<void> {
    if (!summary.pending_write.send(writer, message)) cancellation.cancel();
    return cancellation.check("sending");
  };
  for (const auto& message : cached.messages)
    SCHAAS_RETURN_IF_ERROR(send(unparsed<v1::ScheduleEvent>(message)));
  Finished finished;
  finished.hit = true;
  finished.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  SCHAAS_RETURN_IF_ERROR(send(to_proto(Event(finished))));
  summary.detail = summary_of(finished) + " cached=1";
  metrics_->add(Metrics::Counter::response_cache_hits, {{"method", methods::schedule.name}});
  metrics_->add(Metrics::Counter::frontiers, {{"answer", "hit"}});
  if (cached.kernels > 0)
    metrics_->add(Metrics::Counter::kernels, {{"answer", "hit"}}, static_cast<double>(cached.kernels));
  return {};
}

grpc::Status SchedulerService::Lookup(grpc::ServerContext* context, const v1::LookupRequest* request,
                                      v1::Frontier* reply) {
  return boundary_.run(
      methods::lookup, *context, [&](RequestSummary& summary, Cancellation& cancellation) -> Result<void> {
        const auto stamp = stores_.schedules->changes().now();
        const std::string request_key = text_of(methods::lookup, *request);
        if (const auto cached = response_cache_->find(request_key)) {
          summary.key = cached->problem_key.substr(0, key_digits);
          summary.detail = "cached=1";
          metrics_->add(Metrics::Counter::response_cache_hits, {{"method", methods::lookup.name}});
          *reply = unparsed<v1::Frontier>(cached->messages.front());
          return {};
        }
        SCHAAS_ASSIGN_OR_RETURN(
            const answers::Frontier found,
            scheduling_.lookup(from_proto(request->problem()), from_proto(request->search()), cancellation));
        summary.key = found.key.substr(0, key_digits);
        *reply = to_proto(found);
        response_cache_->put(request_key, {found.key, {reply->SerializeAsString()}, 0}, stamp);
        return {};
      });
}

grpc::Status SchedulerService::Explain(grpc::ServerContext* context, const v1::ExplainRequest* request,
                                       v1::ExplainReply* reply) {
  return boundary_.run(
      methods::explain, *context, [&](RequestSummary& summary, Cancellation& cancellation) -> Result<void> {
        ExplainQuery query = from_proto(*request);
        query.requester = summary.requester;
        SCHAAS_ASSIGN_OR_RETURN(const auto explanations, scheduling_.explain(query, cancellation));
        for (const auto& explanation : explanations) *reply->add_explanations() = to_proto(explanation);
        return {};
      });
}

grpc::Status SchedulerService::Emit(grpc::ServerContext* context, const v1::EmitRequest* request,
                                    v1::EmitReply* reply) {
  return boundary_.run(methods::emit, *context,
                       [&](RequestSummary& summary, Cancellation& cancellation) -> Result<void> {
                         EmitQuery query = from_proto(*request);
                         query.requester = summary.requester;
                         SCHAAS_ASSIGN_OR_RETURN(const auto answer, scheduling_.emit(query, cancellation));
                         *reply = to_proto(answer);
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
          // Rows must not name the binary any more: the client's next request gets a new one.
          if (bytes.error().code == "damaged-binary" || bytes.error().code == "unknown-binary")
            SCHAAS_RETURN_IF_ERROR(drop(stores_, request->sha256()));
          return bytes.error();
        }
        // One chunk at least, also of an empty binary.
        for (std::size_t begin = 0; begin == 0 || begin < bytes->size(); begin += chunk_bytes) {
          SCHAAS_RETURN_IF_ERROR(cancellation.check("download"));
          v1::DownloadChunk chunk;
          chunk.set_data(bytes->substr(begin, chunk_bytes));
          if (!summary.pending_write.send(*writer, chunk)) cancellation.cancel();
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
    SCHAAS_ASSIGN_OR_RETURN(facts.binary_bytes, stores_.binaries->bytes());
    facts.frontiers = rows.frontiers;
    facts.kernels = rows.kernels;
    *reply = to_proto(facts);
    return {};
  });
}

/// Lists a page of stored problems, or one with its kernels when a key is given.
grpc::Status SchedulerService::ListCache(grpc::ServerContext* context, const v1::ListCacheRequest* request,
                                         v1::ListCacheReply* reply) {
  return boundary_.run(
      methods::list_cache, *context, [&](RequestSummary& summary, Cancellation&) -> Result<void> {
        if (request->key().empty()) return list_problems(*request, *reply);
        const std::string& key = request->key();
        if (!support::is_sha256_hex(key)) {
          return support::invalid("wrong-key",
                                  "`" + key.substr(0, 80) +
                                      "` is not a problem's key; expected 64 lower-case hexadecimal digits");
        }
        summary.key = key.substr(0, key_digits);
        SCHAAS_ASSIGN_OR_RETURN(const auto problems, stores_.schedules->list({.prefix = key, .limit = 1}));
        if (problems.empty()) return support::invalid("not-stored", "nothing is stored under the key " + key);
        v1::CacheEntry& entry = *reply->add_entries() = to_proto(problems.front());
        SCHAAS_ASSIGN_OR_RETURN(const auto kernels, stores_.schedules->kernels_of(key));
        for (const auto& kernel : kernels) *entry.add_kernel() = to_proto(kernel);
        return {};
      });
}

/// Lists a page of stored problems.
Result<void> SchedulerService::list_problems(const v1::ListCacheRequest& request, v1::ListCacheReply& reply) {
  const std::size_t limit =
      request.limit() == 0 ? max_listed : std::min<std::size_t>(request.limit(), max_listed);
  // One more than the page has tells whether there are more.
  SCHAAS_ASSIGN_OR_RETURN(
      const auto problems,
      stores_.schedules->list({.prefix = request.prefix(), .after = request.after(), .limit = limit + 1}));
  const std::size_t count = std::min(limit, problems.size());
  for (std::size_t n = 0; n < count; ++n) *reply.add_entries() = to_proto(problems[n]);
  if (problems.size() > limit) reply.set_next(problems[limit - 1].number);
  return {};
}

/// Reads every binary, and drops rows of those that are damaged or missing.
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
