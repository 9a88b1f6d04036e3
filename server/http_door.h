#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "server/log.h"

namespace schaas::server {

struct HttpAsked {
  std::vector<std::string> matches;  ///< what the groups of the route's pattern matched
  /// The value of `name` in the query, decoded; "" when it is not there.
  std::function<std::string(const std::string& name)> parameter;
};
struct HttpReply {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};
/// Answers GET (and HEAD) of the paths its regular expression matches whole.
struct HttpRoute {
  std::string pattern;
  std::function<HttpReply(const HttpAsked& asked)>
      answer;  ///< called by several threads; what it throws is a 500
};

/// Reading by HTTP, for monitors and browsers on this machine. There is no authentication, so it listens on
/// the loopback interface alone and answers only requests that name it as their host: a web page elsewhere
/// that makes its own name mean this machine gets nothing. Slow and greedy clients are cut off: 5 s for a
/// request, no body, four at once.
class HttpDoor {
 public:
  /// `address` is host:port, port 0 takes a free one. Errors: invalid [http] (not an address of the loopback
  /// interface, cannot be bound).
  static support::Result<std::unique_ptr<HttpDoor>> open(const std::string& address,
                                                         std::vector<HttpRoute> routes, Log log);
  /// Waits for the requests that are being answered.
  ~HttpDoor();
  HttpDoor(const HttpDoor&) = delete;
  HttpDoor& operator=(const HttpDoor&) = delete;

  /// With the real port.
  const std::string& address() const;

 private:
  struct State;
  explicit HttpDoor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The same check as `open` makes. Errors: invalid [http].
support::Result<void> check_http_address(const std::string& address);

}  // namespace schaas::server
