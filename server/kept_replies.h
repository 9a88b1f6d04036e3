#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernels_cache/changes.h"

namespace schaas::server {

/// What was told of stored answers, as it was put on the wire, to be told again: making it anew means to read
/// rows, to apply every trace and to write trees and costs in the user's names, some 2 ms against some 20
/// microseconds. A reply serves requests that are the same byte for byte, for as long as nothing changed of
/// its problem in the stores, at most a minute: then the stores are asked again, which so learn what is in
/// use and notice what somebody did to their files. Who may ask is decided before anybody comes here. Of
/// more than the allowed bytes those told longest ago go; those that are too old go within as long again,
/// also when nobody asks for them any more. What is made anew and is the same stays where it is: to move each
/// in memory every minute leaves holes there. Thread-safe.
class KeptReplies {
 public:
  struct Limits {
    std::uint64_t bytes = std::uint64_t{64} << 20;  ///< of requests and replies; 0: none are kept
    std::chrono::steady_clock::duration age = std::chrono::minutes(1);
  };
  struct Reply {
    std::string problem_key;
    std::vector<std::string> messages;  ///< serialised, in order
    std::uint64_t kernels = 0;          ///< told by it
    bool operator==(const Reply&) const = default;
  };
  using Now = std::function<std::chrono::steady_clock::time_point()>;

  /// `changes` is that of the store which the replies are made from; it outlives this.
  KeptReplies(
      const kernels_cache::Changes& changes, Limits limits,
      Now now = [] { return std::chrono::steady_clock::now(); });

  /// The reply to `request` (method and deterministic bytes); null when none that is still true is kept.
  std::shared_ptr<const Reply> find(const std::string& request);
  /// Keeps it, in place of an older one. `stamp`: Changes::now() before anything was read for it.
  void keep(const std::string& request, Reply reply, kernels_cache::Changes::Stamp stamp);

  struct Statistics {
    std::uint64_t replies = 0, bytes = 0;
  };
  Statistics statistics() const;
  const Limits& limits() const { return limits_; }

 private:
  struct Entry {
    std::string request;
    std::shared_ptr<const Reply> reply;
    kernels_cache::Changes::Stamp stamp = 0;
    std::chrono::steady_clock::time_point made;
    std::uint64_t bytes = 0;
  };
  using Entries = std::list<Entry>;  ///< told most recently first

  bool is_old(const Entry& entry) const { return now_() - entry.made >= limits_.age; }
  void drop(Entries::iterator entry);
  void drop_old();

  const kernels_cache::Changes& changes_;
  const Limits limits_;
  const Now now_;
  mutable std::mutex mutex_;
  Entries entries_;
  std::unordered_map<std::string_view, Entries::iterator> by_request_;
  std::uint64_t bytes_ = 0;
  std::chrono::steady_clock::time_point swept_;  ///< when old ones were last looked for
};

}  // namespace schaas::server
