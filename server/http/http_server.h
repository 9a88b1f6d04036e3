#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "server/telemetry/log.h"

namespace schaas::server {

struct HttpRequest {
  std::vector<std::string> matches;  ///< capture groups of the route's pattern
  /// Returns the decoded value of `name` in the query; "" when absent.
  std::function<std::string(const std::string& name)> parameter;
};
struct HttpResponse {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};
/// Handler of GET and HEAD for paths that its regular expression matches whole.
struct HttpRoute {
  std::string pattern;
  std::function<HttpResponse(const HttpRequest& request)>
      answer;  ///< called by several threads; an exception becomes a 500
};

/// Machines that reach an HTTP server.
enum class HttpReach { loopback, anywhere };

/// HTTP server for monitors and browsers, read-only. It has no authentication. With `loopback` it listens on
/// the loopback interface alone and answers only requests whose Host is loopback, which defeats DNS
/// rebinding. Limits: 5 s and 64 KiB per request with its answer, no body, no ranges, four concurrent
/// requests.
class HttpServer {
 public:
  /// Listens on `address`, host:port; port 0 takes a free one. Errors: invalid [http] (not where
  /// `reach` allows, cannot be bound).
  static support::Result<std::unique_ptr<HttpServer>> open(const std::string& address,
                                                           std::vector<HttpRoute> routes, Log log,
                                                           HttpReach reach = HttpReach::loopback);
  /// Waits for running requests, and for no client.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Returns the address with the real port.
  const std::string& address() const;

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Checks an address as `open` does. Errors: invalid [http].
support::Result<void> check_http_address(const std::string& address, HttpReach reach = HttpReach::loopback);

}  // namespace schaas::server
