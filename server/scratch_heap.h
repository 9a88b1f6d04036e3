#pragma once

namespace schaas::server {

/// While this lives, what the calling thread allocates comes from a heap that searches and compilations have to themselves:
/// they make and free many small pieces, and what is made meanwhile to live on, a kept reply or a page of a database,
/// would stay on one of their pages each. Anything may be freed by anyone. Nothing without jemalloc (the sanitizers'
/// builds and tests).
class ScratchHeap {
 public:
  ScratchHeap();
  ~ScratchHeap();
  ScratchHeap(const ScratchHeap&) = delete;
  ScratchHeap& operator=(const ScratchHeap&) = delete;

 private:
  unsigned before_ = 0;
  bool taken_ = false;
};

}  // namespace schaas::server
