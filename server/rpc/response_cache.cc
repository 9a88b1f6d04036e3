#include "server/rpc/response_cache.h"

#include <utility>

// LRU cache: a list in order of use, and an index into it. Keys of the index are views of the requests in the
// list's nodes, so each request is stored once. Nodes of a list do not move, and an entry leaves the index
// before its node is freed. An entry is invalid as soon as its problem changed, and of no use after the
// maximum age. An expired one is kept a while: its memory is used again when the recomputed response is
// equal.
namespace schaas::server {
namespace {

/// Estimated overhead of one entry and of one message beside their bytes.
constexpr std::uint64_t entry_bytes = 512, message_bytes = 64;

std::uint64_t size_of(const std::string& request, const ResponseCache::Response& response) {
  std::uint64_t bytes = entry_bytes + request.size() + response.problem_key.size();
  for (const auto& message : response.messages) bytes += message_bytes + message.size();
  return bytes;
}

}  // namespace

ResponseCache::ResponseCache(const kernels_cache::Changes& changes, Limits limits, Now now)
    : changes_(changes), limits_(limits), now_(std::move(now)), last_sweep_(now_()) {}

std::shared_ptr<const ResponseCache::Response> ResponseCache::find(const std::string& request) {
  const std::lock_guard lock(mutex_);
  const auto found = by_request_.find(request);
  if (found == by_request_.end()) return nullptr;
  const auto entry = found->second;
  // Compared before the age: a changed problem makes the bytes wrong, not only old.
  if (changes_.since(entry->stamp, entry->response->problem_key)) {
    drop(entry);
    return nullptr;
  }
  if (has_expired(*entry)) return nullptr;  // kept: the recomputed response may be equal
  entries_.splice(entries_.begin(), entries_, entry);
  return entry->response;
}

void ResponseCache::put(const std::string& request, Response response, kernels_cache::Changes::Stamp stamp) {
  const std::uint64_t bytes = size_of(request, response);
  if (bytes > limits_.bytes / 8) return;  // one response must not displace all others
  const std::lock_guard lock(mutex_);
  if (const auto found = by_request_.find(request); found != by_request_.end()) {
    const auto old = found->second;
    if (*old->response == response) {
      old->stamp = stamp;
      old->created = now_();
      entries_.splice(entries_.begin(), entries_, old);
      return drop_expired();
    }
    drop(old);
  }
  drop_expired();
  entries_.push_front({request, std::make_shared<const Response>(std::move(response)), stamp, now_(), bytes});
  // The view is of the stored text, not of the argument.
  by_request_.emplace(entries_.front().request, entries_.begin());
  bytes_ += bytes;
  while (bytes_ > limits_.bytes) drop(std::prev(entries_.end()));
}

ResponseCache::Statistics ResponseCache::statistics() const {
  const std::lock_guard lock(mutex_);
  return {entries_.size(), bytes_};
}

// Drops expired entries. Visits all of them, so at most once per maximum age.
void ResponseCache::drop_expired() {
  if (now_() - last_sweep_ < limits_.max_age) return;
  last_sweep_ = now_();
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (has_expired(*entry)) drop(entry);
    entry = next;
  }
}

void ResponseCache::drop(Entries::iterator entry) {
  bytes_ -= entry->bytes;
  by_request_.erase(entry->request);
  entries_.erase(entry);
}

}  // namespace schaas::server
