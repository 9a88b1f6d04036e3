#include "server/kept_replies.h"

#include <utility>

namespace schaas::server {
namespace {

/// What lists, tables and strings take for one entry, and for one message, beside the bytes in them.
constexpr std::uint64_t entry_bytes = 512, message_bytes = 64;

std::uint64_t size_of(const std::string& request, const KeptReplies::Reply& reply) {
  std::uint64_t bytes = entry_bytes + request.size() + reply.problem_key.size();
  for (const auto& message : reply.messages) bytes += message_bytes + message.size();
  return bytes;
}

}  // namespace

KeptReplies::KeptReplies(const kernels_cache::Changes& changes, Limits limits, Now now)
    : changes_(changes), limits_(limits), now_(std::move(now)), swept_(now_()) {}

std::shared_ptr<const KeptReplies::Reply> KeptReplies::find(const std::string& request) {
  const std::lock_guard lock(mutex_);
  const auto found = by_request_.find(request);
  if (found == by_request_.end()) return nullptr;
  const auto entry = found->second;
  if (changes_.since(entry->stamp, entry->reply->problem_key)) {
    drop(entry);
    return nullptr;
  }
  if (is_old(*entry)) return nullptr;  // it stays: made anew it may be the same
  entries_.splice(entries_.begin(), entries_, entry);
  return entry->reply;
}

void KeptReplies::keep(const std::string& request, Reply reply, kernels_cache::Changes::Stamp stamp) {
  const std::uint64_t bytes = size_of(request, reply);
  if (bytes > limits_.bytes / 8) return;  // one of them is not worth all others
  const std::lock_guard lock(mutex_);
  if (const auto found = by_request_.find(request); found != by_request_.end()) {
    const auto old = found->second;
    if (*old->reply == reply) {
      old->stamp = stamp;
      old->made = now_();
      entries_.splice(entries_.begin(), entries_, old);
      return drop_old();
    }
    drop(old);
  }
  drop_old();
  entries_.push_front({request, std::make_shared<const Reply>(std::move(reply)), stamp, now_(), bytes});
  by_request_.emplace(entries_.front().request, entries_.begin());
  bytes_ += bytes;
  while (bytes_ > limits_.bytes) drop(std::prev(entries_.end()));
}

KeptReplies::Statistics KeptReplies::statistics() const {
  const std::lock_guard lock(mutex_);
  return {entries_.size(), bytes_};
}

// All are looked at, so only as often as they can have grown old.
void KeptReplies::drop_old() {
  if (now_() - swept_ < limits_.age) return;
  swept_ = now_();
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (is_old(*entry)) drop(entry);
    entry = next;
  }
}

void KeptReplies::drop(Entries::iterator entry) {
  bytes_ -= entry->bytes;
  by_request_.erase(entry->request);
  entries_.erase(entry);
}

}  // namespace schaas::server
