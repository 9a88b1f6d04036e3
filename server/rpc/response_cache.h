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

/// Serialised responses made from stored answers, by request bytes. Recomputing one reads rows, applies every
/// trace and renders trees and costs in the user's names. An entry is valid while no row of its problem
/// changed, for at most a minute. Then the stores are read again, which records the use and detects damaged
/// files. Requests are authorised before they reach the cache. Over the byte limit the least recently used
/// entries are evicted. Expired ones are dropped within twice the maximum age, also without requests. A
/// recomputed response equal to the cached one keeps its memory: replacing each every minute would fragment
/// the heap. Thread-safe.
class ResponseCache {
 public:
  struct Limits {
    std::uint64_t bytes = std::uint64_t{64} << 20;  ///< limit on requests and responses; 0: caching is off
    std::chrono::steady_clock::duration max_age = std::chrono::minutes(1);
  };
  struct Response {
    std::string problem_key;
    std::vector<std::string> messages;  ///< serialised, in order
    std::uint64_t kernels = 0;          ///< number of kernels in it
    bool operator==(const Response&) const = default;
  };
  using Now = std::function<std::chrono::steady_clock::time_point()>;

  /// `changes` belongs to the store the responses are made from; it outlives the cache.
  ResponseCache(
      const kernels_cache::Changes& changes, Limits limits,
      Now now = [] { return std::chrono::steady_clock::now(); });

  /// Returns the valid response to `request` (method and deterministic bytes); null when there is none.
  std::shared_ptr<const Response> find(const std::string& request);
  /// Inserts or replaces a response. `stamp` is Changes::now() from before its rows were read.
  void put(const std::string& request, Response response, kernels_cache::Changes::Stamp stamp);

  struct Statistics {
    std::uint64_t responses = 0, bytes = 0;
  };
  Statistics statistics() const;
  const Limits& limits() const { return limits_; }

 private:
  struct Entry {
    std::string request;
    std::shared_ptr<const Response> response;
    kernels_cache::Changes::Stamp stamp = 0;
    std::chrono::steady_clock::time_point created;
    std::uint64_t bytes = 0;
  };
  using Entries = std::list<Entry>;  ///< most recently used first

  bool has_expired(const Entry& entry) const { return now_() - entry.created >= limits_.max_age; }
  void drop(Entries::iterator entry);
  void drop_expired();

  const kernels_cache::Changes& changes_;
  const Limits limits_;
  const Now now_;
  mutable std::mutex mutex_;
  Entries entries_;
  std::unordered_map<std::string_view, Entries::iterator> by_request_;
  std::uint64_t bytes_ = 0;
  std::chrono::steady_clock::time_point last_sweep_;  ///< last sweep for expired entries
};

}  // namespace schaas::server
