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
#include <optional>

#include "client/cpp/platform/allocate.h"
#include "client/cpp/platform/block_cache.h"
#include "schaas/host.h"

// Memory of tensors. From 4 MiB on buffers are mapped at multiples of 2 MiB, with huge pages. A gather over a
// large tensor then misses fewer address translations. Smaller ones come from the heap, at multiples of a
// cache line. Freed blocks are kept for a while (block_cache.cc). Mapped blocks grow by moving their pages. A
// guarded buffer ends at a page that nobody may touch, so an access behind its end is caught at once.
// A size is compared with the machine's memory first, as Linux grants more than it has and ends the process
// when the pages are written.
namespace schaas::client {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t mapped_from = 2 * huge_page;  ///< smaller ones come from the heap

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

// Over-mapping by one huge page and trimming gives the alignment.
void* map_aligned(std::size_t length) {
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

bool is_mapped(Block block) { return block.capacity >= mapped_from; }

// Returns a block of at least `bytes`. Mapped pages are zero, memory of the heap may hold anything.
Block fresh_block(std::size_t bytes) {
  // Rounding up and over-mapping cannot overflow below this bound.
  if (bytes > std::numeric_limits<std::size_t>::max() / 4) throw std::bad_alloc();
  // A size that rounds up to the limit at 64 bytes is mapped, so that the capacity alone tells the kind of a
  // block.
  const std::size_t capacity = round_up(bytes, bytes > mapped_from - 64 ? huge_page : 64);
  if (capacity >= mapped_from) return {map_aligned(capacity), capacity};
  void* const data = std::aligned_alloc(64, capacity);
  if (data == nullptr) throw std::bad_alloc();
  return {data, capacity};
}

void release(Block block) {
  if (is_mapped(block)) {
    munmap(block.data, block.capacity);
  } else {
    std::free(block.data);
  }
}

// Lives as long as the process: buffers may be freed while others of its static objects are destroyed.
BlockCache& freed_blocks() {
#ifdef __SANITIZE_ADDRESS__
  constexpr std::size_t share = 0;  // nothing is kept, so that the sanitizer sees uses of freed memory
  static BlockCache* const cache = new BlockCache({share}, release);
#else
  constexpr std::size_t most = std::size_t{512} << 20;
  static BlockCache* const cache =
      new BlockCache({std::min(most, static_cast<std::size_t>(main_memory_bytes()) / 32)}, release);
#endif
  return *cache;
}

}  // namespace

Buffer::Buffer(std::size_t bytes, Contents contents) : bytes_(bytes) {
  if (bytes == 0) return;
  const std::optional<Block> kept = freed_blocks().take(bytes);
  const Block block = kept ? *kept : fresh_block(bytes);
  data_ = block.data;
  capacity_ = block.capacity;
  // Fresh mapped pages are zero already.
  if (contents == Contents::zeros && (kept || !is_mapped(block))) std::memset(data_, 0, bytes);
}

Buffer::~Buffer() {
  if (data_ == nullptr || held_ == Held::borrowed) return;
  if (held_ == Held::guarded) {
    const std::size_t pages = round_up(bytes_, page_bytes());
    // The mapping begins `pages` bytes before the end of the data, and has the guard page behind it.
    munmap(static_cast<char*>(data_) + bytes_ - pages, pages + page_bytes());
  } else {
    freed_blocks().give({data_, capacity_});
  }
}

// Keeps the block unless it is too small, or less than a quarter of it would be used. Small ones are kept
// always.
void Buffer::resize(std::size_t bytes) {
  constexpr std::size_t spare = 4, small = std::size_t{64} << 10;
  if (bytes <= capacity_ && (capacity_ <= small || capacity_ / spare <= bytes)) {
    bytes_ = bytes;
    return;
  }
  const std::size_t kept = std::min(bytes_, bytes);
  const Block before{data_, capacity_};
  const std::optional<Block> recycled = freed_blocks().take(bytes);
  if (recycled || !is_mapped(before) || bytes < mapped_from) {
    const Block block = recycled || bytes == 0 ? recycled.value_or(Block{}) : fresh_block(bytes);
    if (kept > 0) std::memcpy(block.data, data_, kept);
    if (data_ != nullptr) freed_blocks().give(before);
    data_ = block.data;
    capacity_ = block.capacity;
  } else {
    // The kept pages are whole: a huge page stays one when it moves.
    move_pages(fresh_block(bytes), round_up(kept, huge_page));
  }
  bytes_ = bytes;
}

// Moves pages to the new block, over its own; nothing is copied.
void Buffer::move_pages(Block to, std::size_t kept) {
  const std::size_t pages = std::min(kept, std::min(capacity_, to.capacity));
  if (pages > 0 && mremap(data_, pages, pages, MREMAP_MAYMOVE | MREMAP_FIXED, to.data) == MAP_FAILED) {
    release(to);
    throw std::bad_alloc();
  }
  if (capacity_ > pages) munmap(static_cast<char*>(data_) + pages, capacity_ - pages);
  data_ = to.data;
  capacity_ = to.capacity;
}

Buffer Buffer::copy() const {
  Buffer result(bytes_, Contents::any);
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
  // The end of the data is the end of the last page; the begin is wherever that leaves it.
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
  const bool counted = !__builtin_mul_overflow(count, element_bytes, &bytes) && bytes >= 0;
  if (!counted || bytes > main_memory_bytes()) {
    return too_large(what, bytes_text(estimate));
  }
  // Pages come when they are written, so what is not there would be found out by the system's killer.
  const std::int64_t more = bytes - now;
  if (more < worth_asking || more <= free_bytes()) return bytes;
  // Freed blocks are memory that this process could have back.
  freed_blocks().clear();
  if (const std::int64_t free = free_bytes(); more > free) {
    return support::exhausted("memory", what + " needs " + bytes_text(estimate) + ", but only " +
                                            bytes_text(static_cast<double>(free)) + " of memory are free");
  }
  return bytes;
}

}  // namespace

support::Result<Buffer> allocate(std::int64_t count, std::int64_t element_bytes, const std::string& what,
                                 Buffer::Contents contents) {
  SCHAAS_ASSIGN_OR_RETURN(const std::int64_t bytes, affordable(count, element_bytes, 0, what));
  try {
    return Buffer(static_cast<std::size_t>(bytes), contents);
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
