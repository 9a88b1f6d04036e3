#include "client/cpp/remote/cached_source.h"

#include <algorithm>
#include <mutex>
#include <optional>

#include "client/cpp/platform/process_mutex.h"
#include "client/cpp/remote/bundle_file.h"
#include "client/cpp/remote/question.h"
#include "client/cpp/remote/received_answer.h"
#include "client/cpp/remote/server_address.h"
#include "client/cpp/remote/server_key.h"
#include "client/cpp/remote/server_source.h"
#include "proto/kernel_abi.h"
#include "schaas/host.h"

// A server behind the client's cache. While the server answers, each answer is kept; once it is gone, kept
// answers and binaries replace it, and it is looked for again every two seconds at most. A kept answer is
// checked as one from the server, and its key must be the server's. Only errors that say that nobody is there
// count as gone: a refusal, or another's server, must not be hidden by old answers.
// Two locks: `connecting_` is held while a server is looked for, which may take seconds; `mutex_` guards the
// members and is never held while the server is asked.
namespace schaas::client {
namespace {

using Clock = std::chrono::steady_clock;
using Listener = std::function<bool(const ScheduleEvent&)>;

/// A server that is gone is looked for again no more often.
constexpr std::chrono::seconds reconnect_interval{2};

/// Returns the parts of a request on which its answer depends. Wait limits and the number of kernels are not
/// among them.
std::string key_of(const ScheduleRequest& asked) {
  // Parts are separated by newlines, so that no two requests have one text.
  std::string text =
      "schaas-answer 3 " + std::to_string(SCHAAS_KERNEL_ABI_VERSION) + "\n" + isa_for(asked.isa) + "\n";
  for (const bool option : {asked.no_stage2, asked.traces_only, asked.gpu, asked.deterministic})
    text += option ? '1' : '0';
  text += "\n" + json_of(asked.problem, asked.search);
  for (const std::string& trace : asked.traces) text += "\n" + trace;
  return support::digest_of(text).sha256;
}

bool same_schedules(const Frontier& a, const Frontier& b) {
  const auto same = [](const auto& x, const auto& y) { return x.id == y.id && x.trace == y.trace; };
  return a.key == b.key &&
         std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(), same) &&
         std::equal(a.gpu.begin(), a.gpu.end(), b.gpu.begin(), b.gpu.end(), same);
}

class CachedSource final : public KernelSource {
 public:
  CachedSource(const ConnectOptions& options, std::string address, std::unique_ptr<ClientCache> cache)
      : options_(options), address_(std::move(address)), cache_(std::move(cache)) {}

  /// The server, looked for when there is none and that is not just done.
  support::Result<std::shared_ptr<ServerSource>> connect(const std::stop_token& stop) {
    if (auto known = connection_or_why_none()) return *std::move(known);
    // Another thread may have connected while this one waited for the lock.
    const std::lock_guard one(connecting_);  // those that need no server do not wait for this one
    if (auto known = connection_or_why_none()) return *std::move(known);
    ConnectOptions options = options_;
    options.stop = stop;
    auto opened = open_server(options);
    if (!opened.ok() && stop.stop_requested()) return opened.error();  // says nothing about the server
    const std::lock_guard lock(mutex_);
    if (!opened.ok()) {
      gone_ = opened.error();
      if (gone_->code != "stopping") looked_ = Clock::now();  // else another one may be there in a moment
      return *gone_;
    }
    connection_ = std::move(opened).value();
    key_ = connection_->public_key();
    started_ = started_ || connection_->started_server();
    gone_.reset();
    return connection_;
  }
  bool knows_something() const { return cache_->knows(address_); }

  const std::string& address() const override { return address_; }
  bool started_server() const override {
    const std::lock_guard lock(mutex_);
    return started_;
  }
  std::string notice() const override {
    const std::lock_guard lock(mutex_);
    if (!gone_) return "";
    return gone_->message + "; kernels that were received earlier run, from " + cache_->directory();
  }

  support::Result<ScheduleAnswer> schedule(const ScheduleRequest& request,
                                           const Listener& listener) override {
    ScheduleRequest asked = request;
    // Answers are kept as they come: a program may end before the last event.
    asked.so_far = [&](const ScheduleAnswer& answer) {
      keep(request, answer);
    };  // for programs that end soon
    auto answer = call<ScheduleAnswer>(
        request.stop, [&](ServerSource& connection) { return connection.schedule(asked, listener); });
    if (answer.ok()) {
      keep(request, *answer);
      return answer;
    }
    if (!is_gone(answer.error()) || request.no_cache) return answer;
    if (auto kept = kept_answer(request)) {
      tell(*kept, listener);
      return *std::move(kept);
    }
    return support::noting(
        answer.error(),
        "kernels for this problem are not among those received earlier either, in " + cache_->directory());
  }

  support::Result<Frontier> lookup(const ProblemText& problem, std::stop_token stop) override {
    auto found =
        call<Frontier>(stop, [&](ServerSource& connection) { return connection.lookup(problem, stop); });
    if (found.ok() || !is_gone(found.error())) return found;
    return support::invalid("not-stored", found.error().message);  // the texts cannot be checked now
  }

  support::Result<std::string> download(const KernelInfo& kernel, std::stop_token stop) override {
    SCHAAS_RETURN_IF_ERROR(verify(kernel));
    if (auto kept = cache_->binary(kernel.digest)) return *std::move(kept);
    auto binary =
        call<std::string>(stop, [&](ServerSource& connection) { return connection.download(kernel, stop); });
    if (binary.ok()) cache_->keep_binary(kernel.digest, *binary);
    return binary;
  }

  support::Result<void> report(const ProblemText& problem,
                               const std::vector<Measurement>& measurements) override {
    return call<void>({}, [&](ServerSource& connection) { return connection.report(problem, measurements); });
  }

 private:
  /// Nothing: the server is to be looked for.
  std::optional<support::Result<std::shared_ptr<ServerSource>>> connection_or_why_none() const {
    const std::lock_guard lock(mutex_);
    if (connection_) return connection_;
    if (gone_ && Clock::now() - looked_ < reconnect_interval) return *gone_;
    return std::nullopt;
  }
  std::shared_ptr<ServerSource> connected() const {
    const std::lock_guard lock(mutex_);
    return connection_;
  }
  // Drops a connection that failed, unless another thread has replaced it.
  void lose(const std::shared_ptr<ServerSource>& connection, const support::Diagnostic& why) {
    const std::lock_guard lock(mutex_);
    if (connection_ != connection) return;  // another thread has a new one
    connection_.reset();
    gone_ = why;
    looked_ = {};  // the next call sees at once whether there is another one
  }

  /// Asks the server, which the connection looks for again when it is gone.
  template <class Value, class Ask>
  support::Result<Value> call(const std::stop_token& stop, const Ask& ask) {
    const auto connection = connect(stop);
    if (!connection.ok()) return connection.error();
    auto answer = ask(**connection);
    if (!answer.ok() && is_gone(answer.error())) lose(*connection, answer.error());
    return answer;
  }

  void keep(const ScheduleRequest& request, const ScheduleAnswer& answer) {
    const auto connection = connected();
    // A part of a frontier is not an answer, and is searched again.
    if (!connection || answer.frontier.partial || answer.frontier.key.empty()) return;
    BundledAnswer kept{request.problem, request.isa, answer.frontier, {}, connection->public_key()};
    // The list of removed classes is long, and runs do not need it.
    kept.frontier.removals.clear();
    keep_with(key_of(request), std::move(kept), answer.kernels);
    if (!request.traces_only) return;
    // A schedule that was asked for by name is a choice of the whole answer, too.
    ScheduleRequest whole = request;
    whole.traces.clear();
    whole.traces_only = false;
    const std::string key = key_of(whole);
    if (auto known = cache_->answer(address_, key);
        known && known->frontier.key == answer.frontier.key && known->public_key == connection->public_key())
      keep_with(key, *std::move(known), answer.kernels);
  }

  /// Kernels of earlier answers stay while the frontier is the same.
  void keep_with(const std::string& key, BundledAnswer answer, const std::vector<KernelInfo>& more) {
    if (const auto known = cache_->answer(address_, key); known && answer.kernels.empty() &&
                                                          known->public_key == answer.public_key &&
                                                          same_schedules(known->frontier, answer.frontier))
      answer.kernels = known->kernels;
    for (const KernelInfo& kernel : more) {
      std::erase_if(answer.kernels, [&](const KernelInfo& old) {
        return old.id == kernel.id && old.baseline == kernel.baseline;
      });
      answer.kernels.push_back(kernel);  // a baseline kernel stays: its binary may have come
    }
    cache_->keep_answer(address_, key, answer);
  }

  /// With the kernels whose binaries are there.
  std::optional<ScheduleAnswer> kept_answer(const ScheduleRequest& request) {
    auto read = cache_->answer(address_, key_of(request));
    if (!read) return std::nullopt;
    // The file's name says which request it answers; its content says which problem. The problem asked goes
    // first.
    read->problem = request.problem;  // a file under the name of another one is to another problem
    if (!check_answer(*read, cache_->directory()).ok() || !trusts(read->public_key)) return std::nullopt;
    ScheduleAnswer answer;
    answer.frontier = std::move(read->frontier);
    for (KernelInfo& kernel : read->kernels) {
      // A kernel without its binary cannot run without the server.
      if (cache_->has_binary(kernel.digest)) add_kernel(answer.kernels, kernel);
    }
    if (answer.kernels.empty() && !request.search_only) return std::nullopt;
    answer.done.hit = true;
    answer.kept = true;
    return answer;
  }

  /// Returns whether kept answers of this key may be used. The first one decides where the server was never
  /// connected to.
  bool trusts(const std::string& key) {
    const auto wanted = wanted_key(options_.server_key);
    if (!wanted.ok() || (*wanted && (*wanted)->text() != key)) return false;
    const std::lock_guard lock(mutex_);
    if (key_.empty()) key_ = key;
    return key_ == key;
  }
  /// Checks a kernel before its binary is taken from the cache, also when the server is gone.
  support::Result<void> verify(const KernelInfo& kernel) const {
    const std::lock_guard lock(mutex_);
    SCHAAS_ASSIGN_OR_RETURN(const auto key, support::PublicKey::parse(key_));
    return check_signature(kernel, key, server_at(address_));
  }

  const ConnectOptions options_;
  const std::string address_;
  const std::unique_ptr<ClientCache> cache_;
  ProcessMutex connecting_{
      ProcessMutex::Held::at_length};  ///< held while the server is looked for; taken before mutex_
  mutable ProcessMutex mutex_;         ///< guards all members below; never held while the server is asked
  std::shared_ptr<ServerSource> connection_;
  std::string key_;                          ///< the one that kernels must be signed by; "": none is known
  std::optional<support::Diagnostic> gone_;  ///< why there is none
  Clock::time_point looked_{};
  bool started_ = false;
};

}  // namespace

support::Result<std::shared_ptr<KernelSource>> open_cached(const ConnectOptions& options,
                                                           std::unique_ptr<ClientCache> cache) {
  auto source = std::make_shared<CachedSource>(options, server_address(options), std::move(cache));
  const auto connection = source->connect(options.stop);
  if (!connection.ok() && !(is_gone(connection.error()) && source->knows_something()))
    return connection.error();
  return std::shared_ptr<KernelSource>(std::move(source));
}

}  // namespace schaas::client
