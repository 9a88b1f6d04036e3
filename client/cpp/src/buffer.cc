#include "schaas/buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>

#include "allocate.h"

namespace schaas::client {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t mapped_from = 2 * huge_page;  ///< smaller ones come from the heap

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

// Fresh pages are zero; over-mapping by one huge page and trimming gives the alignment.
void* map_aligned(std::size_t bytes) {
  const std::size_t length = round_up(bytes, huge_page);
  void* raw = mmap(nullptr, length + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) throw std::bad_alloc();
  const auto begin = reinterpret_cast<std::uintptr_t>(raw);
  const std::uintptr_t aligned = round_up(begin, huge_page);
  if (aligned > begin) munmap(raw, aligned - begin);
  const std::uintptr_t tail = begin + length + huge_page - (aligned + length);
  if (tail > 0) munmap(reinterpret_cast<void*>(aligned + length), tail);
  madvise(reinterpret_cast<void*>(aligned), length, MADV_HUGEPAGE);
  return reinterpret_cast<void*>(aligned);
}

}  // namespace

Buffer::Buffer(std::size_t bytes) : bytes_(bytes), capacity_(bytes) {
  if (bytes == 0) return;
  if (bytes > std::numeric_limits<std::size_t>::max() / 4) throw std::bad_alloc();
  if (bytes >= mapped_from) {
    data_ = map_aligned(bytes);
    capacity_ = round_up(bytes, huge_page);
    return;
  }
  data_ = std::aligned_alloc(64, round_up(bytes, 64));
  if (data_ == nullptr) throw std::bad_alloc();
  std::memset(data_, 0, bytes);
}

Buffer::~Buffer() {
  if (data_ == nullptr || held_ == Held::borrowed) return;
  if (held_ == Held::guarded) {
    const std::size_t pages = round_up(bytes_, page_bytes());
    munmap(static_cast<char*>(data_) + bytes_ - pages, pages + page_bytes());
  } else if (capacity_ >= mapped_from) {
    munmap(data_, capacity_);
  } else {
    std::free(data_);
  }
}

void Buffer::resize(std::size_t bytes) {
  constexpr std::size_t spare = 4;  // so many times what is held stays reserved
  if (bytes <= capacity_ && (capacity_ < mapped_from || capacity_ / spare <= bytes)) {
    bytes_ = bytes;
    return;
  }
  Buffer other(bytes);
  const std::size_t kept = std::min(bytes_, bytes);
  if (capacity_ >= mapped_from && other.capacity_ >= mapped_from) {
    // Pages change hands; nothing is copied.
    const std::size_t pages = std::min(round_up(kept, huge_page), std::min(capacity_, other.capacity_));
    if (pages > 0) {
      if (mremap(data_, pages, pages, MREMAP_MAYMOVE | MREMAP_FIXED, other.data_) == MAP_FAILED)
        throw std::bad_alloc();
      if (capacity_ > pages) munmap(static_cast<char*>(data_) + pages, capacity_ - pages);
      data_ = nullptr;
    }
  } else if (kept > 0) {
    std::memcpy(other.data_, data_, kept);
  }
  *this = std::move(other);
}

Buffer Buffer::copy() const {
  Buffer result(bytes_);
  if (bytes_ > 0) std::memcpy(result.data_, data_, bytes_);
  return result;
}

Buffer Buffer::guarded() const {
  Buffer result;
  if (bytes_ == 0) return result;
  const std::size_t pages = round_up(bytes_, page_bytes());
  void* raw = mmap(nullptr, pages + page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) throw std::bad_alloc();
  mprotect(static_cast<char*>(raw) + pages, page_bytes(), PROT_NONE);
  result.data_ = static_cast<char*>(raw) + pages - bytes_;
  result.bytes_ = bytes_;
  result.held_ = Held::guarded;
  std::memcpy(result.data_, data_, bytes_);
  return result;
}

Buffer Buffer::borrowed(const void* data, std::size_t bytes) {
  Buffer result;
  result.data_ = const_cast<void*>(data);  // NOLINT: the owner says by type whether it may be written
  result.bytes_ = bytes;
  result.held_ = Held::borrowed;
  return result;
}

std::string bytes_text(double bytes) {
  static constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 6) bytes /= 1024, ++unit;
  char text[64];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
  return text;
}

support::Diagnostic too_large(const std::string& what, const std::string& size) {
  return support::exhausted("memory", what + " needs " + size + ", more than this machine has");
}

namespace {

// Large enough that asking the system costs nothing beside using it.
constexpr std::int64_t worth_asking = std::int64_t{64} << 20;

/// Bytes the system can give without swapping; the largest number when it does not say.
std::int64_t free_bytes() {
  std::ifstream file("/proc/meminfo");
  std::int64_t kibibytes = 0;
  for (std::string word, unit; file >> word >> kibibytes; std::getline(file, unit)) {
    if (word == "MemAvailable:") return kibibytes << 10;
  }
  return std::numeric_limits<std::int64_t>::max();
}

}  // namespace

namespace {

/// Their bytes, when the machine has so many, and so many more than `now` free.
support::Result<std::int64_t> affordable(std::int64_t count, std::int64_t element_bytes, std::int64_t now,
                                         const std::string& what) {
  std::int64_t bytes = 0;
  const double estimate = static_cast<double>(count) * static_cast<double>(element_bytes);
  const std::int64_t physical = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  if (__builtin_mul_overflow(count, element_bytes, &bytes) || bytes < 0 || bytes > physical) {
    return too_large(what, bytes_text(estimate));
  }
  // Pages come when they are written, so what is not there would be found out by the system's killer.
  const std::int64_t more = bytes - now;
  if (const std::int64_t free = more < worth_asking ? more : free_bytes(); more > free) {
    return support::exhausted("memory", what + " needs " + bytes_text(estimate) + ", but only " +
                                            bytes_text(static_cast<double>(free)) + " of memory are free");
  }
  return bytes;
}

}  // namespace

support::Result<Buffer> allocate(std::int64_t count, std::int64_t element_bytes, const std::string& what) {
  SCHAAS_ASSIGN_OR_RETURN(const std::int64_t bytes, affordable(count, element_bytes, 0, what));
  try {
    return Buffer(static_cast<std::size_t>(bytes));
  } catch (const std::bad_alloc&) {
    return too_large(what, bytes_text(static_cast<double>(bytes)));
  }
}

support::Result<void> resize(Buffer& buffer, std::int64_t count, std::int64_t element_bytes,
                             const std::string& what) {
  const auto now = static_cast<std::int64_t>(buffer.bytes());
  SCHAAS_ASSIGN_OR_RETURN(const std::int64_t bytes, affordable(count, element_bytes, now, what));
  try {
    buffer.resize(static_cast<std::size_t>(bytes));
    return {};
  } catch (const std::bad_alloc&) {
    return too_large(what, bytes_text(static_cast<double>(bytes)));
  }
}

}  // namespace schaas::client
