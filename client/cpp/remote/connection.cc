#include "schaas/connection.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>

#include "client/cpp/platform/client_version.h"
#include "client/cpp/remote/connection_state.h"
#include "client/cpp/remote/marshalling.h"
#include "client/cpp/remote/question.h"
#include "client/cpp/remote/received_answer.h"
#include "client/cpp/remote/retry_policy.h"
#include "client/cpp/remote/server_address.h"
#include "client/cpp/remote/server_source.h"
#include "proto/kernel_abi.h"
#include "schaas/host.h"

// The calls of a connection. Opening one checks the address, the credentials, and the server's key before
// anything is asked (calls.cc). A schedule is a stream of events: each is checked against the problem's
// canonical form, which this client derives by itself, before anybody sees it. A stream ends by its last
// event, by the listener, by a limit, or by a stop; what has come until then is an answer. An attempt from
// which something came is made again only when the server is gone.
namespace schaas::client {

namespace {

// Cancels a stream once a time limit has passed and an event has come, even while its reader waits for the
// next one. gRPC's deadline cannot do that: it ends calls that have brought nothing, too.
class Leaver {
 public:
  Leaver(grpc::ClientContext& context, std::chrono::milliseconds time) : context_(context) {
    if (time == std::chrono::milliseconds::max()) return;
    thread_ = std::thread([this, end = std::chrono::steady_clock::now() + time] { watch(end); });
  }
  Leaver(const Leaver&) = delete;
  Leaver& operator=(const Leaver&) = delete;
  ~Leaver() {
    if (!thread_.joinable()) return;
    notify(over_);
    thread_.join();
  }
  void has_something() { notify(something_); }
  bool has_left() {
    const std::lock_guard lock(mutex_);
    return left_;
  }

 private:
  void notify(bool& what) {
    const std::lock_guard lock(mutex_);
    what = true;
    changed_.notify_all();
  }
  void watch(std::chrono::steady_clock::time_point end) {
    std::unique_lock lock(mutex_);
    // Before the limit nothing is to be done; after it the first kernel ends the stream.
    if (changed_.wait_until(lock, end, [this] { return over_; })) return;
    changed_.wait(lock, [this] { return over_ || something_; });
    if (over_) return;
    left_ = true;
    context_.TryCancel();
  }

  grpc::ClientContext& context_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false, something_ = false, left_ = false;
  std::thread thread_;
};

// Returns the summary that the server would have sent at the end.
Done done_so_far(const ScheduleAnswer& answer, std::chrono::steady_clock::time_point start) {
  Done done;
  done.hit = answer.frontier.hit;
  for (const KernelInfo& kernel : answer.kernels) {
    if (kernel.hit || kernel.baseline) continue;
    ++done.compiled;
    done.compile_seconds += kernel.compile_seconds;
    done.hit = false;
  }
  done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  done.failed = static_cast<std::uint32_t>(answer.failures.size());
  return done;
}

void collect(ScheduleAnswer& answer, const ScheduleEvent& event, bool& done) {
  if (const auto* frontier = std::get_if<Frontier>(&event)) answer.frontier = *frontier;
  if (const auto* kernel = std::get_if<KernelInfo>(&event)) add_kernel(answer.kernels, *kernel);
  if (const auto* failure = std::get_if<KernelFailure>(&event)) answer.failures.push_back(*failure);
  if (const auto* last = std::get_if<Done>(&event)) {
    answer.done = *last;
    done = true;
  }
}

}  // namespace

Connection::Connection(std::unique_ptr<State> state) : state_(std::move(state)) {}
Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&&) noexcept = default;
Connection::~Connection() = default;

const std::string& Connection::address() const { return state_->address; }
bool Connection::started_server() const { return state_->started; }

support::Result<Connection> Connection::open(const ConnectOptions& options) {
  return guarded([&]() -> support::Result<Connection> {
    auto state = std::make_unique<State>();
    state->options = options;
    state->address = server_address(options);
    state->is_private = means_private(options);
    SCHAAS_RETURN_IF_ERROR(state->open(options.stop));
    return Connection(std::move(state));
  });
}

namespace {

/// Checks what an event says of the problem, and notes in a kernel the key that its signature must hold for.
support::Result<void> bind_to(const support::Result<problem::Canonical>& asked, const Origin& origin,
                              ScheduleEvent& event) {
  auto* const kernel = std::get_if<KernelInfo>(&event);
  const auto* const frontier = std::get_if<Frontier>(&event);
  if (kernel == nullptr && frontier == nullptr) return {};
  if (!asked.ok()) return asked.error();
  if (kernel != nullptr) kernel->problem_key = asked->key;
  return frontier == nullptr ? support::Result<void>() : check_frontier(*frontier, *asked, origin);
}

/// One attempt at an answer.
struct Attempt {
  ScheduleAnswer answer;
  bool began = false, done = false;             ///< something came; the end of it, too
  std::optional<support::Diagnostic> unusable;  ///< why it cannot be read, or is not to the problem
  grpc::Status status;
};

Attempt attempt_schedule(v1::Scheduler::Stub& stub, grpc::ClientContext& context, const Origin& origin,
                         const ScheduleRequest& request,
                         const std::function<bool(const ScheduleEvent&)>& listener) {
  Attempt attempt;
  const auto reader = stub.Schedule(&context, to_proto(request));
  const auto asked = canonical_form(request.problem);  // while the server works
  Leaver leaver(context, request.leave_after);
  for (v1::ScheduleEvent wire; reader->Read(&wire);) {
    attempt.began = true;
    auto event = from_proto(wire);
    const auto bound = event.ok() ? bind_to(asked, origin, *event) : event.error();
    if (!bound.ok()) {
      attempt.unusable = bound.error();
      context.TryCancel();
      break;
    }
    collect(attempt.answer, *event, attempt.done);
    // Only a kernel that the caller can use is something to leave with.
    if (const auto* kernel = std::get_if<KernelInfo>(&*event);
        kernel != nullptr && (!request.is_usable || request.is_usable(attempt.answer.frontier, *kernel)))
      leaver.has_something();
    const bool is_enough = listener && !listener(*event) && !attempt.done;
    // Kept after each kernel, as the program may end before the last event.
    if (request.so_far && wire.has_kernel()) request.so_far(attempt.answer);
    if (is_enough) {
      attempt.answer.left = ScheduleAnswer::Left::listener;
      context.TryCancel();
      break;
    }
  }
  attempt.status = reader->Finish();
  drop_parts(attempt.answer, request.traces);
  // The deadline is as good as the leaver when kernels are there.
  const bool is_over =
      leaver.has_left() ||
      (!attempt.answer.kernels.empty() && attempt.status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED);
  if (!attempt.done && attempt.answer.left == ScheduleAnswer::Left::no && is_over)
    attempt.answer.left = ScheduleAnswer::Left::time;
  return attempt;
}

}  // namespace

support::Result<void> Connection::State::check_abi(const Link& link) const {
  // The client refuses before the search, not after it, when no kernel could run here.
  if (link.abi_version == SCHAAS_KERNEL_ABI_VERSION) return {};
  const bool newer = link.abi_version > SCHAAS_KERNEL_ABI_VERSION;
  auto skew = support::unsupported("server-abi",
                                   "the server at " + address + ", schaas " + link.version +
                                       ", makes kernels of ABI version " + std::to_string(link.abi_version) +
                                       "; this client, schaas " + client_version() + ", runs version " +
                                       std::to_string(SCHAAS_KERNEL_ABI_VERSION));
  if (is_private) {
    return support::noting(std::move(skew),
                           "the private server was started by another version and ends by itself when idle; "
                           "to have a new one now end it: its process is in the file `lock` beside its data");
  }
  return support::noting(std::move(skew), std::string("install the ") + (newer ? "client" : "server") +
                                              " of the other's version");
}

// The shorter of the caller's wait limit and the connection's deadline holds for all attempts together.
class Connection::Scheduling {
 public:
  Scheduling(const State& state, const ScheduleRequest& request,
             const std::function<bool(const ScheduleEvent&)>& listener)
      : state_(state),
        request_(request),
        listener_(listener),
        is_limited_(request.wait_limit < state.options.schedule_limit),
        limit_(is_limited_ ? request.wait_limit : state.options.schedule_limit),
        retry_(std::min(state.options.busy_limit, limit_), state.options.busy, request.stop) {}

  /// Asks a server, again while it is busy.
  support::Result<ScheduleAnswer> ask(const Link& link) {
    if (!request_.search_only) SCHAAS_RETURN_IF_ERROR(state_.check_abi(link));
    for (;;) {
      grpc::ClientContext context;
      // Each attempt gets what is left of the limit.
      State::begin(link, context,
                   limit_ - std::chrono::duration_cast<std::chrono::milliseconds>(
                                std::chrono::steady_clock::now() - start_));
      const std::stop_callback cancel(request_.stop, [&] { context.TryCancel(); });
      Attempt attempt = attempt_schedule(*link.stub, context, server_at(state_.address), request_, listener_);
      if (attempt.unusable) return *attempt.unusable;
      if (attempt.answer.left != ScheduleAnswer::Left::no) {
        attempt.answer.done = done_so_far(attempt.answer, start_);
        return attempt.answer;
      }
      if (attempt.status.ok() && attempt.done) return attempt.answer;
      if (attempt.status.ok()) return support::internal("server-internal", "the server's answer ended early");
      if (request_.stop.stop_requested()) return cancelled();
      if (is_limited_ && attempt.status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED)
        return wait_limit_over(request_.problem.expression, limit_);
      if (attempt.began || !retry_.wait_after(attempt.status, context))
        return request_.stop.stop_requested() ? cancelled() : state_.failure(attempt.status, context);
    }
  }

 private:
  const State& state_;
  const ScheduleRequest& request_;
  const std::function<bool(const ScheduleEvent&)>& listener_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const bool is_limited_;
  const std::chrono::milliseconds limit_;
  RetryPolicy retry_;
};

support::Result<ScheduleAnswer> Connection::schedule(
    const ScheduleRequest& request, const std::function<bool(const ScheduleEvent&)>& listener) {
  return guarded([&]() -> support::Result<ScheduleAnswer> {
    Scheduling scheduling(*state_, request, listener);
    const auto link = state_->link();
    auto answer = scheduling.ask(*link);
    if (answer.ok() || !is_gone(answer.error())) return answer;
    // The listener hears the answer of the next server from its beginning.
    const auto another = state_->replace(link, request.stop);
    if (!another.ok()) return another.error();
    return scheduling.ask(**another);
  });
}

support::Result<Frontier> Connection::lookup(const ProblemText& problem, std::stop_token stop) {
  return guarded([&]() -> support::Result<Frontier> {
    v1::LookupRequest request;
    *request.mutable_problem() = to_proto(problem);
    v1::Frontier reply;
    SCHAAS_RETURN_IF_ERROR(state_->call(
        state_->options.call_limit,
        [&](const Link& to, auto& context) { return to.stub->Lookup(&context, request, &reply); }, stop));
    SCHAAS_ASSIGN_OR_RETURN(Frontier frontier, from_proto(reply));
    SCHAAS_ASSIGN_OR_RETURN(const auto asked, canonical_form(problem));
    SCHAAS_RETURN_IF_ERROR(check_frontier(frontier, asked, server_at(state_->address)));
    return frontier;
  });
}

support::Result<void> Connection::report(const ProblemText& problem,
                                         const std::vector<Measurement>& measurements) {
  return guarded([&]() -> support::Result<void> {
    v1::ReportReply reply;
    SCHAAS_RETURN_IF_ERROR(state_->call(state_->options.call_limit, [&](const Link& to, auto& context) {
      return to.stub->Report(&context, to_proto(problem, measurements), &reply);
    }));
    return {};
  });
}

support::Result<std::vector<Explanation>> Connection::explain(const ScheduleRequest& asked,
                                                              const std::string& schedule) {
  return guarded([&]() -> support::Result<std::vector<Explanation>> {
    v1::ExplainRequest request;
    *request.mutable_problem() = to_proto(asked.problem);
    *request.mutable_search() = to_proto(asked.search);
    request.set_no_stage2(asked.no_stage2);
    request.set_schedule(schedule);
    v1::ExplainReply reply;
    SCHAAS_RETURN_IF_ERROR(state_->call(state_->options.schedule_limit, [&](const Link& to, auto& context) {
      return to.stub->Explain(&context, request, &reply);
    }));  // it may have to search
    std::vector<Explanation> explanations;
    for (const auto& one : reply.explanations()) explanations.push_back(from_proto(one));
    return explanations;
  });
}

support::Result<EmitAnswer> Connection::emit(const EmitRequest& asked) {
  return guarded([&]() -> support::Result<EmitAnswer> {
    v1::EmitRequest request;
    *request.mutable_problem() = to_proto(asked.problem);
    request.set_schedule(asked.schedule);
    request.set_language(asked.language);
    request.set_isa(asked.isa);
    *request.mutable_search() = to_proto(asked.search);
    request.set_passes(asked.passes);
    request.set_last_pass(asked.last_pass);
    v1::EmitReply reply;
    SCHAAS_RETURN_IF_ERROR(state_->call(state_->options.schedule_limit, [&](const Link& to, auto& context) {
      return to.stub->Emit(&context, request, &reply);
    }));  // "auto" may have to search
    EmitAnswer answer{std::move(*reply.mutable_text()), {}};
    for (const auto& one : reply.remarks()) {
      answer.remarks.push_back(
          {one.pass(), one.applied(), one.reason(), std::chrono::nanoseconds(one.nanoseconds())});
    }
    return answer;
  });
}

std::string Connection::public_key() const { return state_->link()->key->text(); }

support::Result<std::string> Connection::download(const KernelInfo& kernel, std::stop_token stop) {
  return guarded([&]() -> support::Result<std::string> {
    SCHAAS_RETURN_IF_ERROR(check_signature(kernel, *state_->link()->key, server_at(state_->address)));
    const support::Digest& digest = kernel.digest;
    v1::DownloadRequest request;
    request.set_sha256(digest.sha256);
    std::string bytes;
    SCHAAS_RETURN_IF_ERROR(state_->call(
        state_->options.call_limit,
        [&](const Link& to, grpc::ClientContext& context) {
          // An attempt after a refused one begins anew.
          bytes.clear();
          const auto reader = to.stub->Download(&context, request);
          // A server that sends more than it promised is stopped.
          for (v1::DownloadChunk chunk; reader->Read(&chunk) && bytes.size() <= digest.bytes;)
            bytes += chunk.data();
          if (bytes.size() <= digest.bytes) return reader->Finish();
          context.TryCancel();  // more than was promised: told below
          reader->Finish();
          return grpc::Status();
        },
        stop));
    if (support::digest_of(bytes) != digest) {
      return support::invalid("kernel-digest", "the server at " + state_->address + " sent " +
                                                   std::to_string(bytes.size()) +
                                                   " bytes that are not the binary " + digest.sha256 + " (" +
                                                   std::to_string(digest.bytes) + " bytes)");
    }
    return bytes;
  });
}

support::Result<ServerInfo> Connection::info(std::stop_token stop) {
  return guarded([&]() -> support::Result<ServerInfo> {
    v1::ServerInfo reply;
    SCHAAS_RETURN_IF_ERROR(state_->call(
        state_->options.call_limit,
        [&](const Link& to, auto& context) { return to.stub->Info(&context, v1::InfoRequest(), &reply); },
        stop));
    return from_proto(reply);
  });
}

namespace {

constexpr std::uint32_t page_entries = 500;

}  // namespace

support::Result<std::vector<CacheEntry>> Connection::list_cache(const CacheRange& range) {
  return guarded([&]() -> support::Result<std::vector<CacheEntry>> {
    const std::uint64_t limit = range.limit == 0 ? std::numeric_limits<std::uint64_t>::max() : range.limit;
    v1::ListCacheRequest request;
    request.set_prefix(range.prefix);
    request.set_after(range.after);
    std::vector<CacheEntry> entries;
    for (;;) {
      request.set_limit(
          static_cast<std::uint32_t>(std::min<std::uint64_t>(page_entries, limit - entries.size())));
      v1::ListCacheReply reply;
      SCHAAS_RETURN_IF_ERROR(state_->call(state_->options.call_limit, [&](const Link& to, auto& context) {
        return to.stub->ListCache(&context, request, &reply);
      }));
      for (const auto& wire : reply.entries()) {
        SCHAAS_ASSIGN_OR_RETURN(CacheEntry entry, from_proto(wire));
        // A server of an earlier version lists everything at once.
        if (entry.key.starts_with(range.prefix) && entries.size() < limit)
          entries.push_back(std::move(entry));
      }
      if (reply.next() <= request.after() || entries.size() >= limit) return entries;
      request.set_after(reply.next());
    }
  });
}

support::Result<CacheEntry> Connection::cached_problem(const std::string& key) {
  return guarded([&]() -> support::Result<CacheEntry> {
    v1::ListCacheRequest request;
    request.set_key(key);
    v1::ListCacheReply reply;
    SCHAAS_RETURN_IF_ERROR(state_->call(state_->options.call_limit, [&](const Link& to, auto& context) {
      return to.stub->ListCache(&context, request, &reply);
    }));
    if (reply.entries().empty())
      return support::invalid("not-stored", "nothing is stored under the key " + key);
    return from_proto(reply.entries(0));
  });
}

support::Result<CacheVerification> Connection::verify_cache() {
  return guarded([&]() -> support::Result<CacheVerification> {
    v1::VerifyCacheReply reply;
    SCHAAS_RETURN_IF_ERROR(state_->call(state_->options.schedule_limit, [&](const Link& to, auto& context) {
      return to.stub->VerifyCache(&context, v1::VerifyCacheRequest(), &reply);
    }));  // reads every binary
    return from_proto(reply);
  });
}

}  // namespace schaas::client
