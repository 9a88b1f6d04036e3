#include "server/http/http_server.h"

#include <httplib.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "server/http/http_connection.h"
#include "server/http/listen_address.h"

// HTTP for monitors and browsers of this machine, by cpp-httplib (docs/decisions/0002). Without
// authentication three things protect it. It listens on the loopback interface alone. It answers only when
// the Host is loopback, which defeats DNS rebinding. It reads only, and its pages run no script. Where other
// machines reach it, its caller gives it no routes that show requests. The library
// bounds single reads, so connections are streams of our own with a deadline for each request
// (http_connection.h).
namespace schaas::server {
namespace {

using support::Result;

constexpr std::size_t threads = 4;
constexpr int max_requests = 20;              ///< on one connection
constexpr std::chrono::seconds idle_time{1};  ///< between two of them

/// The library's server over connections that end (http_connection.h). Ranges are ignored: thousands of them
/// in one header would ask for as many copies of the content.
class BoundedServer final : public httplib::Server {
 public:
  /// After stop(): ends the connections, so that nobody waits for a client.
  void end_connections() {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (HttpConnection* connection : connections_) connection->stop_reading();
  }

 private:
  /// Serves the requests of one connection, at most `max_requests`, on a thread of the library.
  bool process_and_close_socket(socket_t socket) override {
    HttpConnection connection(socket);
    if (!enter(connection)) return false;
    bool done = true, closed = false;
    for (int left = max_requests;
         left > 0 && done && !closed && svr_sock_ != INVALID_SOCKET && connection.await_request(idle_time);
         --left) {
      done = process_request(connection, left == 1, closed,
                             [](httplib::Request& request) { request.ranges.clear(); });
    }
    const std::lock_guard lock(mutex_);
    connections_.erase(&connection);
    return done;
  }

  /// Registers a connection, unless the server is ending.
  bool enter(HttpConnection& connection) {
    const std::lock_guard lock(mutex_);
    if (!ending_) connections_.insert(&connection);
    return !ending_;
  }

  std::mutex mutex_;
  std::set<HttpConnection*> connections_;
  bool ending_ = false;
};

bool is_ours(const std::string& host) {
  return host == "localhost" || host == "[::1]" || host == "127.0.0.1";
}

/// Parses an address and refuses one that others reach than may.
Result<ListenAddress> http_address(const std::string& text, HttpReach reach) {
  const auto wrong = [&](const std::string& why, const std::string& note) {
    return support::noting(support::invalid("http", "cannot serve HTTP on `" + text + "`: " + why), note);
  };
  const std::string loopback = "expected 127.0.0.1:PORT, [::1]:PORT or localhost:PORT";
  const auto address = parse_listen_address(text);
  if (!address.ok() || address->is_unix) return wrong("not a host and a port", loopback);
  if (reach == HttpReach::loopback && !is_ours(address->host)) {
    return wrong("it has no authentication and stays on the loopback interface",
                 loopback + "; --http-any serves metrics and health, and no pages, anywhere");
  }
  return *address;
}

// Returns the host of a request without its port.
std::string named_host(const httplib::Request& request) {
  const std::string host = request.get_header_value("Host");
  const auto digits = host.find_last_not_of("0123456789");
  const bool has_port = digits != std::string::npos && host[digits] == ':' && digits + 1 < host.size();
  return has_port ? host.substr(0, digits) : host;
}

/// Sets limits, headers that forbid scripts and frames, and the answers to errors.
void set_up(httplib::Server& server, HttpReach reach, const Log& log) {
  server.new_task_queue = [] { return new httplib::ThreadPool(threads); };
  // Disables SO_REUSEPORT, the library's default: two daemons would share the requests.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.set_keep_alive_max_count(max_requests);
  server.set_keep_alive_timeout(idle_time.count());
  // Requests have no body.
  server.set_payload_max_length(1);
  server.set_default_headers(
      {{"Cache-Control", "no-store"},
       {"X-Content-Type-Options", "nosniff"},
       {"X-Frame-Options", "DENY"},
       {"Referrer-Policy", "no-referrer"},
       {"Content-Security-Policy",
        "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'"}});
  server.set_pre_routing_handler([reach](const httplib::Request& request, httplib::Response& response) {
    using Handled = httplib::Server::HandlerResponse;
    if (reach == HttpReach::anywhere || is_ours(named_host(request))) return Handled::Unhandled;
    response.status = 421;
    response.set_content("use 127.0.0.1 or localhost\n", "text/plain");
    return Handled::Handled;
  });
  server.set_exception_handler(
      [log](const httplib::Request&, httplib::Response& response, std::exception_ptr thrown) {
        try {
          std::rethrow_exception(thrown);
        } catch (const std::exception& error) {
          log->error("internal error in an http request: {}", error.what());
        } catch (...) {
          log->error("internal error in an http request");
        }
        response.status = 500;
        response.set_content("an error inside the server; its log has the facts\n", "text/plain");
      });
  server.set_error_handler([](const httplib::Request&, httplib::Response& response) {
    if (response.body.empty()) response.set_content(std::to_string(response.status) + "\n", "text/plain");
  });
}

}  // namespace

struct HttpServer::State {
  BoundedServer server;
  std::string address;
  std::thread listener;
};

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

HttpServer::~HttpServer() {
  // No new connections first, then the present ones end.
  state_->server.stop();
  state_->server.end_connections();
  if (state_->listener.joinable()) state_->listener.join();
}

const std::string& HttpServer::address() const { return state_->address; }

Result<void> check_http_address(const std::string& address, HttpReach reach) {
  SCHAAS_RETURN_IF_ERROR(http_address(address, reach));
  return {};
}

Result<std::unique_ptr<HttpServer>> HttpServer::open(const std::string& text, std::vector<HttpRoute> routes,
                                                     Log log, HttpReach reach) {
  SCHAAS_ASSIGN_OR_RETURN(ListenAddress address, http_address(text, reach));
  auto state = std::make_unique<State>();
  set_up(state->server, reach, log);
  for (auto& route : routes) {
    state->server.Get(route.pattern, [answer = std::move(route.answer)](const httplib::Request& received,
                                                                        httplib::Response& response) {
      HttpRequest request;
      for (std::size_t m = 1; m < received.matches.size(); ++m)
        request.matches.push_back(received.matches[m]);
      request.parameter = [&received](const std::string& name) { return received.get_param_value(name); };
      const HttpResponse made = answer(request);
      response.status = made.status;
      response.set_content(made.body, made.type);
    });
  }
  // Brackets belong to the text of an address, not to the host.
  const std::string host = address.host == "[::1]" ? "::1" : address.host;
  const int port = address.port == 0 ? state->server.bind_to_any_port(host)
                                     : (state->server.bind_to_port(host, address.port) ? address.port : -1);
  if (port <= 0)
    return support::invalid("http", "cannot serve HTTP on `" + text + "`: the address is in use");
  address.port = port;
  state->address = address.text();
  state->listener = std::thread([&server = state->server] { server.listen_after_bind(); });
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

}  // namespace schaas::server
