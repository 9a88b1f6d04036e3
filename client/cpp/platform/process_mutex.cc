#include "client/cpp/platform/process_mutex.h"

#include <pthread.h>

// A mutex for libraries whose process may fork at any time. Each process has a mutex of its own: the first
// use after a fork makes one. The parent's is left as it was, as another thread may have held it. A locked
// mutex can be neither unlocked by a child nor destroyed.
namespace schaas::client {
namespace {

std::atomic<std::uint64_t> generation{0};
[[maybe_unused]] const int fork_handler = pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1); });

}  // namespace

std::uint64_t process_generation() { return generation.load(std::memory_order_relaxed); }

// The parent's is left, here and below: a mutex that somebody holds may not be destroyed.
ProcessMutex::~ProcessMutex() {
  const Slot* const last = slot_.load();
  if (last->generation == process_generation()) delete last;
}

// Two threads of the child may come first; the one whose exchange fails uses the other's.
ProcessMutex::Slot& ProcessMutex::own() {
  Slot* known = slot_.load(std::memory_order_acquire);
  if (known->generation == process_generation()) return *known;
  auto made = std::make_unique<Slot>();
  if (slot_.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) return *made.release();
  return *known;
}

}  // namespace schaas::client
