#pragma once
#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "server/tokens.h"

namespace schaas::server {

/// Who asks.
struct Caller {
  std::string name;  ///< of the token; "": nobody was asked for one
  Quotas quotas;
  bool may_touch(const std::string& owner) const { return name.empty() || is_admin || owner == name; }
  bool is_admin = false;
};

/// Lets requests in: who may ask what, and how much. Without a tokens file everybody who reaches an address
/// may do everything. Thread-safe.
class Access {
 public:
  using Now = std::function<std::chrono::steady_clock::time_point()>;
  struct Options {
    std::string tokens;               ///< path of the tokens file; "": none
    bool sockets_need_token = false;  ///< Unix sockets, too: others than their owner may connect
    Now now;
  };
  static Now steady_clock() {
    return [] { return std::chrono::steady_clock::now(); };
  }
  /// Errors: those of read_tokens.
  static support::Result<std::unique_ptr<Access>> open(Options options);

  /// A request as long as it is worked on.
  class Pass {
   public:
    Pass(Access& access, Caller caller) : access_(&access), caller_(std::move(caller)) {}
    Pass(Pass&& other) noexcept
        : access_(std::exchange(other.access_, nullptr)), caller_(std::move(other.caller_)) {}
    Pass& operator=(Pass&&) = delete;
    ~Pass();
    const Caller& caller() const { return caller_; }

   private:
    Access* access_;
    Caller caller_;
  };

  /// `peer` as gRPC names it, `authorization` the metadata of this name. Errors: unreachable [no-token],
  /// [unknown-token] (UNAUTHENTICATED), [scope] (PERMISSION_DENIED); exhausted [quota-requests],
  /// [quota-concurrent], and then `retry_seconds` says when to ask again.
  support::Result<Pass> enter(const Method& method, std::string_view peer, std::string_view authorization,
                              double* retry_seconds = nullptr);

  /// Reads the tokens file again: who is not in it any more is not let in. On an error the old ones stay.
  support::Result<void> reload();

 private:
  struct Usage {
    std::string name;
    std::uint64_t running = 0;
    double allowance = 0;  ///< requests that may come at once
    std::chrono::steady_clock::time_point counted;
  };
  explicit Access(Options options) : options_(std::move(options)) {}
  const Token* holder(std::string_view authorization) const;
  Usage& usage_of(const Token& token);
  support::Result<void> count(const Token& token, double& retry);
  void leave(const std::string& name);

  const Options options_;
  std::mutex mutex_;
  std::vector<Token> tokens_;
  std::list<Usage> usage_;  ///< by name: survives a reload
};

}  // namespace schaas::server
