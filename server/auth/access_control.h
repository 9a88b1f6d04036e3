#pragma once
#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "server/auth/tokens.h"

namespace schaas::server {

/// An authenticated client.
struct Principal {
  std::string name;  ///< name of its token; "": no token was required
  Quotas quotas;
  bool may_modify(const std::string& owner) const { return name.empty() || is_admin || owner == name; }
  bool is_admin = false;
};

/// Authenticates clients by their tokens, authorises methods by scope, and enforces quotas. Without a tokens
/// file every client is authorised for everything. Thread-safe.
class AccessControl {
 public:
  using Now = std::function<std::chrono::steady_clock::time_point()>;
  struct Options {
    std::string tokens;  ///< path of the tokens file; "": none
    bool sockets_need_token =
        false;  ///< require a token on Unix sockets, too: users other than the owner may connect
    Now now;
  };
  static Now steady_clock() {
    return [] { return std::chrono::steady_clock::now(); };
  }
  /// Reads the tokens file. Errors: those of read_tokens.
  static support::Result<std::unique_ptr<AccessControl>> open(Options options);

  /// An authorised request; releases its share of the quota when destroyed.
  class AuthorisedRequest {
   public:
    AuthorisedRequest(AccessControl& access, Principal principal)
        : access_control_(&access), principal_(std::move(principal)) {}
    AuthorisedRequest(AuthorisedRequest&& other) noexcept
        : access_control_(std::exchange(other.access_control_, nullptr)),
          principal_(std::move(other.principal_)) {}
    AuthorisedRequest& operator=(AuthorisedRequest&&) = delete;
    ~AuthorisedRequest();
    const Principal& principal() const { return principal_; }

   private:
    AccessControl* access_control_;
    Principal principal_;
  };

  /// Authenticates and authorises a request. `peer` is gRPC's name of the client, `authorization` the
  /// metadata of that key. Errors: unreachable [no-token], [unknown-token] (UNAUTHENTICATED), [scope]
  /// (PERMISSION_DENIED); exhausted [quota-requests], [quota-concurrent] with the time to retry in
  /// `retry_seconds`.
  support::Result<AuthorisedRequest> authorise(const Method& method, std::string_view peer,
                                               std::string_view authorization,
                                               double* retry_seconds = nullptr);

  /// Authorises a request again that runs for long. Errors: those of authorise, without the quotas.
  support::Result<void> authorise_again(const Method& method, std::string_view peer,
                                        std::string_view authorization);

  /// Reads the tokens file again; tokens missing from it become invalid. On an error the old ones stay.
  support::Result<void> reload();

 private:
  struct Usage {
    std::string name;
    std::uint64_t running = 0;
    double allowance = 0;  ///< requests left in the token bucket
    std::chrono::steady_clock::time_point counted;
  };
  explicit AccessControl(Options options) : options_(std::move(options)) {}
  bool is_trusted(std::string_view peer) const;
  support::Result<const Token*> allowed(const Method& method, std::string_view authorization) const;
  const Token* authenticate(std::string_view authorization) const;
  Usage& usage_of(const Token& token);
  support::Result<void> count(const Token& token, double& retry);
  void release(const std::string& name);

  const Options options_;
  std::mutex mutex_;
  std::vector<Token> tokens_;
  std::list<Usage> usage_;  ///< keyed by name: survives a reload
};

}  // namespace schaas::server
