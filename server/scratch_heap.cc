#include "server/scratch_heap.h"

#include <cstddef>

extern "C" int mallctl(const char* name, void* old, std::size_t* old_size, void* value, std::size_t size)
    __attribute__((weak));

namespace schaas::server {
namespace {

/// 0: there is none; the heap with that number is everybody's.
unsigned number_of_scratch_heap() {
  static const unsigned number = [] {
    unsigned made = 0;
    std::size_t size = sizeof made;
    const bool is_made = mallctl != nullptr && mallctl("arenas.create", &made, &size, nullptr, 0) == 0;
    return is_made ? made : 0;
  }();
  return number;
}

}  // namespace

ScratchHeap::ScratchHeap() {
  unsigned number = number_of_scratch_heap();
  std::size_t size = sizeof before_;
  taken_ = number != 0 && mallctl("thread.arena", &before_, &size, &number, sizeof number) == 0;
}

ScratchHeap::~ScratchHeap() {
  if (taken_) mallctl("thread.arena", nullptr, nullptr, &before_, sizeof before_);
}

}  // namespace schaas::server
