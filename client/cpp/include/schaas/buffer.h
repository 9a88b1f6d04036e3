#pragma once
#include <cstddef>
#include <utility>

namespace schaas::client {

struct Block;

/// Owned memory for tensor arrays, scratch and results: 64-byte aligned, backed by huge pages when large
/// (they are worth 1.1-1.7x under gathered operands). Memory of freed buffers is kept for later ones of about
/// the same size, within bounds (block_cache.h). Move-only. The size is in bytes.
class Buffer {
 public:
  enum class Contents { zeros, any };
  Buffer() = default;
  /// `any`: for memory that is written before it is read; nothing is cleared. Throws std::bad_alloc when
  /// there is no memory. Zero bytes give a null pointer.
  explicit Buffer(std::size_t bytes, Contents contents = Contents::zeros);
  /// The same bytes, not aligned, before a page that nobody may touch: who reads or writes beyond the end is
  /// ended by the system. For trials of kernels (trial.h).
  Buffer guarded() const;
  /// Memory of somebody else, who keeps it for as long as the buffer is used. Not aligned, never freed here.
  static Buffer borrowed(const void* data, std::size_t bytes);
  /// As many bytes; the first of them stay what they are, the others may be anything. What it shrinks by is
  /// kept for growing again unless it is most of it. Throws std::bad_alloc, and is then as it was. Not of
  /// borrowed or guarded memory.
  void resize(std::size_t bytes);
  bool is_own() const { return held_ == Held::allocated; }  ///< neither borrowed nor guarded
  /// Returns the size to which it may grow without an allocation, in bytes.
  std::size_t capacity() const { return is_own() ? capacity_ : bytes_; }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        capacity_(std::exchange(other.capacity_, 0)),
        held_(std::exchange(other.held_, Held::allocated)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(capacity_, other.capacity_);
    std::swap(held_, other.held_);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  std::size_t bytes() const { return bytes_; }
  void* data() { return data_; }
  const void* data() const { return data_; }
  template <class T>
  T* as() {
    return static_cast<T*>(data_);
  }
  template <class T>
  const T* as() const {
    return static_cast<const T*>(data_);
  }
  Buffer copy() const;

 private:
  void move_pages(Block to, std::size_t kept);

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t capacity_ = 0;  ///< bytes allocated; memory above a threshold is mapped
  enum class Held { allocated, guarded, borrowed } held_ = Held::allocated;
};

}  // namespace schaas::client
