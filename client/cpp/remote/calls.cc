#include <random>
#include <thread>

#include "client/cpp/remote/channel.h"
#include "client/cpp/remote/connection_state.h"
#include "client/cpp/remote/marshalling.h"
#include "client/cpp/remote/private_server.h"
#include "client/cpp/remote/retry_policy.h"
#include "client/cpp/remote/server_address.h"
#include "client/cpp/remote/server_key.h"
#include "client/cpp/remote/server_source.h"
#include "schaas/host.h"

// The attempts of a call. Each has an id for the server's log, a deadline of its own, and the token; a busy
// server is asked again as the retry policy says. A stop from another thread cancels the attempt under way.
// A server that dies while it is asked costs no call: it is asked once more. Before that the private server
// is started again, or another is looked for at the address, and the key is checked again. All calls may be
// repeated: answers are stored by their question, and jobs have a key.
namespace schaas::client {
namespace {

// Makes the id of this request in the server's log.
std::string request_id() {
  static constexpr char digits[] = "0123456789abcdef";
  thread_local std::mt19937_64 random{std::random_device{}()};
  std::string id;
  for (std::uint64_t bits = random(); id.size() < 16; bits >>= 4) id += digits[bits & 15];
  return id;
}

}  // namespace

void Connection::State::begin(const Link& link, grpc::ClientContext& context,
                              std::chrono::milliseconds time) {
  context.AddMetadata("schaas-request-id", request_id());
  // A time that the clock cannot count to means no deadline; what is left of one is one, too.
  constexpr std::chrono::milliseconds endless = std::chrono::hours(24 * 365 * 100);
  if (time < endless) context.set_deadline(std::chrono::system_clock::now() + time);
  if (!link.authorization.empty()) context.AddMetadata("authorization", link.authorization);
}

support::Result<void> Connection::State::call(std::chrono::milliseconds time, const Call& once,
                                              const std::stop_token& stop) {
  const auto asked = link();
  auto done = call_once(*asked, time, once, stop);
  if (done.ok() || !is_gone(done.error())) return done;
  const auto another = replace(asked, stop);
  if (!another.ok()) return another.error();
  return call_once(**another, time, once, stop);
}

support::Result<void> Connection::State::call_once(const Link& link, std::chrono::milliseconds time,
                                                   const Call& once, const std::stop_token& stop) const {
  RetryPolicy retry(options.busy_limit, options.busy, stop);
  for (;;) {
    grpc::ClientContext context;
    begin(link, context, time);
    const std::stop_callback cancel(stop, [&] { context.TryCancel(); });
    const grpc::Status status = once(link, context);
    if (status.ok()) return {};
    if (stop.stop_requested()) return cancelled();
    if (!retry.wait_after(status, context))
      return stop.stop_requested() ? cancelled() : diagnostic_of(status, context, link.address);
  }
}

std::shared_ptr<const Connection::Link> Connection::State::link() const {
  const std::lock_guard lock(mutex_);
  return link_;
}

support::Result<void> Connection::State::open(const std::stop_token& stop) {
  SCHAAS_ASSIGN_OR_RETURN(auto opened, new_link(stop));
  const std::lock_guard lock(mutex_);
  link_ = std::move(opened);
  return {};
}

// A supervisor needs a moment to start a server again.
support::Result<std::shared_ptr<const Connection::Link>> Connection::State::replace(
    const std::shared_ptr<const Link>& gone, const std::stop_token& stop) {
  const std::lock_guard one(replacing_);
  if (auto known = link(); known != gone) return known;
  const auto end = std::chrono::steady_clock::now() + return_limit;
  for (std::chrono::milliseconds pause{50};; pause *= 2) {
    auto opened = new_link(stop);
    if (opened.ok()) {
      const std::lock_guard lock(mutex_);
      return link_ = *std::move(opened);
    }
    if (stop.stop_requested()) return cancelled();
    if (!is_gone(opened.error()) || std::chrono::steady_clock::now() + pause > end) return opened.error();
    std::this_thread::sleep_for(pause);
  }
}

// The first call shows that somebody answers, and brings the key.
support::Result<std::shared_ptr<const Connection::Link>> Connection::State::new_link(
    const std::stop_token& stop) {
  if (is_private) {
    const std::string data =
        options.data_directory.empty() ? default_data_directory() : options.data_directory;
    SCHAAS_ASSIGN_OR_RETURN(const bool is_new, ensure_private_server(data, options.start_limit, stop));
    started = started || is_new;
  }
  const std::vector<std::string> addresses =
      is_private ? std::vector<std::string>{address} : addresses_in(address);
  for (const auto& one : addresses) SCHAAS_RETURN_IF_ERROR(check_address(one));
  for (std::size_t tried = 1;; ++tried) {
    // Connections begin anywhere in the list, so that servers have equal shares of them.
    auto opened = link_to(addresses[next_++ % addresses.size()], stop);
    if (opened.ok() || tried == addresses.size() || stop.stop_requested() || !is_gone(opened.error()))
      return opened;
  }
}

support::Result<std::shared_ptr<const Connection::Link>> Connection::State::link_to(
    const std::string& one, const std::stop_token& stop) {
  SCHAAS_ASSIGN_OR_RETURN(const Proof proof, proof_for(one, options, is_private));
  SCHAAS_ASSIGN_OR_RETURN(const auto channel, open_channel(one, proof));
  auto link = std::make_shared<Link>();
  link->address = one;
  link->authorization = proof.authorization;
  link->stub = v1::Scheduler::NewStub(channel);
  link->jobs = v1::Jobs::NewStub(channel);
  link->admin = v1::Admin::NewStub(channel);
  v1::ServerInfo info;
  SCHAAS_RETURN_IF_ERROR(call_once(
      *link, options.call_limit,
      [&](const Link& to, auto& context) { return to.stub->Info(&context, v1::InfoRequest(), &info); },
      stop));
  link->version = info.version();
  link->abi_version = info.abi_version();
  // A server without a key signs nothing: its kernels could not be checked.
  if (info.public_key().empty())
    return support::unsupported("server-key-unknown",
                                "the server at " + one + " has no key: it is older than this client");
  SCHAAS_ASSIGN_OR_RETURN(link->key, support::PublicKey::parse(info.public_key()));
  SCHAAS_RETURN_IF_ERROR(check_server_key(
      *link->key, {one, configured(options.server_key, "SCHAAS_SERVER_KEY"), proof.tls(), is_private}));
  return std::shared_ptr<const Link>(std::move(link));
}

}  // namespace schaas::client
