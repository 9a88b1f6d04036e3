#include "server/rpc/request_boundary.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <new>
#include <random>
#include <utility>

#include "compiler/support/printable.h"
#include "server/rpc/marshalling.h"
#include "server/rpc/status_code.h"

// The one function through which every call passes. Its order matters: the id comes first, so that every
// outcome can be logged; the request is registered before it is authorised, so that a shutdown sees it;
// quotas are held until the handler has returned, by the object that authorisation gives. Exceptions and
// internal errors end here: the client gets an id, the log the facts. Every call leaves one line and its
// counts.
namespace schaas::server {
namespace {

using support::Cancellation;
using support::Diagnostic;
using support::Result;
using Steady = std::chrono::steady_clock;

// Returns the deadline of a request. Without one gRPC reports the maximum, which no clock can add to.
Steady::time_point deadline_of(const grpc::ServerContext& context, std::chrono::seconds longest) {
  const auto left = context.deadline() - std::chrono::system_clock::now();
  const auto now = Steady::now();
  // gRPC tells deadlines by the system's clock; ours is steady, which no change of time moves.
  return left < longest ? now + std::chrono::duration_cast<Steady::duration>(left) : now + longest;
}

// Serialises the diagnostic for the trailing metadata. Peers refuse metadata above about 8 KiB, so long
// source texts are omitted.
std::string serialised(const Diagnostic& diagnostic) {
  constexpr std::size_t limit = 6 * 1024;
  std::string bytes = to_proto(diagnostic).SerializeAsString();
  if (bytes.size() <= limit) return bytes;
  Diagnostic shorter = diagnostic;
  shorter.source.clear();
  shorter.range.reset();
  shorter.notes.clear();
  shorter.message.resize(std::min<std::size_t>(shorter.message.size(), limit / 2));
  return to_proto(shorter).SerializeAsString();
}

std::string_view metadata_of(const grpc::ServerContext& context, const char* key) {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find(key);
  return found == metadata.end() ? std::string_view()
                                 : std::string_view(found->second.data(), found->second.size());
}

// Accepts ids that can be logged verbatim, without forging a line.
bool is_request_id(std::string_view text) {
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_';
  };
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), allowed);
}

// Returns the name of the token, else gRPC's name of the peer without the port: connections of one host
// share.
std::string client_of(const Principal& principal, const std::string& peer) {
  if (!principal.name.empty()) return principal.name;
  return peer.starts_with("unix:") ? peer : peer.substr(0, peer.rfind(':'));
}

// Returns true for refusals that a retry may overcome.
bool is_for_now(const Diagnostic& error) {
  return error.code == "overloaded" || error.code == "jobs-full" || error.code == "quota-requests" ||
         error.code == "quota-concurrent";
}

}  // namespace

RequestBoundary::RequestBoundary(Log log, Limits limits, std::shared_ptr<AccessControl> access,
                                 std::shared_ptr<Metrics> metrics)
    : log_(std::move(log)),
      limits_(limits),
      access_control_(std::move(access)),
      metrics_(std::move(metrics)),
      active_(limits.write_timeout) {
  char text[16];
  // A random prefix, so that ids of two starts of the server differ.
  std::snprintf(text, sizeof text, "%08x-", static_cast<unsigned>(std::random_device{}()));
  id_prefix_ = text;
}

std::string RequestBoundary::id_of(const grpc::ServerContext& context) {
  const std::string_view id = metadata_of(context, request_id_metadata);
  if (is_request_id(id)) return std::string(id);
  return id_prefix_ + std::to_string(serial_.fetch_add(1));
}

grpc::Status RequestBoundary::run(const Method& method, grpc::ServerContext& context, const Handler& handler,
                                  const std::atomic<bool>* outlives_client) {
  const auto start = Steady::now();
  const std::string id = id_of(context);
  context.AddTrailingMetadata(request_id_metadata, id);
  const Steady::time_point deadline = deadline_of(context, limits_.longest);
  Cancellation cancellation(deadline);
  RequestSummary summary;
  Result<void> outcome;
  {
    const ActiveRequests::Registration registration(
        active_, {&context, &cancellation, outlives_client, &summary.pending_write});
    outcome = guarded(id, [&]() -> Result<void> {
      SCHAAS_ASSIGN_OR_RETURN(
          const auto pass,
          access_control_->authorise(method, context.peer(), metadata_of(context, "authorization"),
                                     &summary.retry_seconds));
      summary.principal = pass.principal();
      summary.requester = {client_of(summary.principal, context.peer()), deadline};
      SCHAAS_ASSIGN_OR_RETURN(const Share share, share_of(summary.requester.client));
      summary.authorise_again = [&] {
        return access_control_->authorise_again(method, context.peer(),
                                                metadata_of(context, "authorization"));
      };
      return handler(summary, cancellation);
    });
  }
  const double seconds = std::chrono::duration<double>(Steady::now() - start).count();
  const std::string& caller = summary.principal.name;
  log_->info("request id={} method={} {}{}{}key={} {}{}seconds={:.6f} outcome={}", id, method.name,
             caller.empty() ? "" : "principal=", caller, caller.empty() ? "" : " ",
             summary.key.empty() ? "-" : summary.key, summary.detail, summary.detail.empty() ? "" : " ",
             seconds, outcome.ok() ? "ok" : outcome.error().code);
  metrics_->observe(Metrics::Times::request, {{"method", method.name}}, seconds);
  metrics_->add(Metrics::Counter::requests,
                {{"method", method.name}, {"outcome", outcome.ok() ? "ok" : outcome.error().code}});
  if (summary.sent_bytes > 0)
    metrics_->add(Metrics::Counter::sent_bytes, {}, static_cast<double>(summary.sent_bytes));
  if (outcome.ok()) return grpc::Status::OK;
  if (is_for_now(outcome.error()))
    context.AddTrailingMetadata(retry_metadata, fmt::format("{:.3f}", summary.retry_seconds));
  context.AddTrailingMetadata(diagnostic_metadata, serialised(outcome.error()));
  // The message of the status is metadata as well, each byte of which may take three.
  constexpr std::size_t status_bytes = 512;
  return {status_code(outcome.error()),
          outcome.error().code + ": " + support::valid_utf8(outcome.error().message.substr(0, status_bytes))};
}

RequestBoundary::Share::~Share() {
  if (boundary_ == nullptr) return;
  const std::lock_guard lock(boundary_->mutex_);
  const auto own = boundary_->running_.find(client_);
  if (--own->second == 0) boundary_->running_.erase(own);
  --boundary_->all_running_;
}

// Leaves threads to other clients.
Result<RequestBoundary::Share> RequestBoundary::share_of(const std::string& client) {
  const std::lock_guard lock(mutex_);
  if (all_running_ >= limits_.calls) {
    return support::noting(
        support::exhausted("overloaded", std::to_string(all_running_) + " requests are running"),
        "retry when one of them has ended");
  }
  const auto own = running_.find(client);
  if (own != running_.end() && own->second >= limits_.calls_per_client) {
    return support::noting(support::exhausted("overloaded", std::to_string(own->second) +
                                                                " requests of this client are running, and "
                                                                "the others are for other clients"),
                           "retry when one of them has ended");
  }
  ++running_[client];
  ++all_running_;
  return Share(*this, client);
}

void RequestBoundary::drain(Steady::duration longest) {
  stopping_ = true;
  active_.wait_until_idle(longest);
  active_.cancel_all();
}

// Runs the work; refuses it while stopping, and hides facts of internal errors.
Result<void> RequestBoundary::guarded(const std::string& id, const std::function<Result<void>()>& work) {
  if (stopping_) return support::unreachable("stopping", "the server is stopping; retry in a moment");
  std::string facts;
  try {
    Result<void> outcome = work();
    // A damaged binary is internal and yet of use to the client, which asks again.
    const bool ours = !outcome.ok() && outcome.error().family == support::Family::internal;
    if (!ours || outcome.error().code == "damaged-binary") return outcome;
    facts = support::render(outcome.error());
  } catch (const std::bad_alloc&) {
    log_->error("request id={} ran out of memory", id);
    return support::noting(
        support::exhausted("out-of-memory", "the server has not enough memory for this request"),
        "bound the search (memory depth, seconds), or retry when less is going on");
  } catch (const std::exception& error) {
    facts = error.what();
  }
  log_->error("internal error in request id={}: {}", id, facts);
  return support::noting(
      support::internal("internal", "an error inside the server, not in your request; its id is " + id),
      "the server's log has the facts under this id");
}

}  // namespace schaas::server
