#include "client/cpp/runtime/streaming.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "schaas/buffer.h"
#include "schaas/host.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

// Streaming (non-temporal) stores avoid the read for ownership of a line that is overwritten, but evict it
// from the caches. They pay for results that no cache keeps until they are read. The threshold differs
// between processors by more than their cache sizes explain, so writing and reading back is measured once in
// both ways.
//
// Invariants: a streaming store writes whole cache lines alone. Results below 16 MiB are never streamed, so
// small programs do not measure.
namespace schaas::client {
namespace {

constexpr std::size_t stored_line_bytes = 64;

#if defined(__SSE2__)
// Writes and reads a buffer, as a result is written and read once. Two sums keep the additions' latency from
// hiding the difference.
double seconds_to_write_and_read(Buffer& buffer, bool streaming) {
  auto* values = buffer.as<double>();
  const std::size_t count = buffer.bytes() / sizeof(double);
  const __m128d value = _mm_set1_pd(1.0);
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t n = 0; n < count; n += 2) {
    if (streaming)
      _mm_stream_pd(values + n, value);
    else
      _mm_store_pd(values + n, value);
  }
  // Streaming stores are ordered by the fence alone; the time includes it.
  _mm_sfence();
  __m128d sum = _mm_setzero_pd(), other = sum;
  for (std::size_t n = 0; n < count; n += 4) {
    sum = _mm_add_pd(sum, _mm_load_pd(values + n));
    other = _mm_add_pd(other, _mm_load_pd(values + n + 2));
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  // A volatile copy keeps the compiler from dropping the loop.
  volatile const double used = _mm_cvtsd_f64(_mm_add_pd(sum, other));
  (void)used;
  return took.count();
}

// Measures the threshold: the least size when streaming stores are faster there, else the size of the LLC.
std::int64_t measured_threshold() {
  Buffer buffer(static_cast<std::size_t>(min_streamed_bytes));
  double plain = std::numeric_limits<double>::max(), streaming = plain;
  // The best of four: pages are faulted in by the first.
  for (int run = 0; run < 4; ++run) {
    plain = std::min(plain, seconds_to_write_and_read(buffer, false));
    streaming = std::min(streaming, seconds_to_write_and_read(buffer, true));
  }
  // A gain below 5 % may be noise.
  return streaming < 0.95 * plain ? min_streamed_bytes
                                  : std::max(min_streamed_bytes, last_level_cache_bytes());
}
#else
std::int64_t measured_threshold() { return std::numeric_limits<std::int64_t>::max(); }
#endif

}  // namespace

bool streams(const PackedTensor& result) {
  const auto bytes = result.stored() * static_cast<std::int64_t>(bytes_of(result.value_type()));
  if (bytes < min_streamed_bytes) return false;
  const int row = result.format().mode_order.empty() ? 0 : result.format().mode_order.back();
  // Rows of whole lines at an aligned address: no line is shared by two rows, or threads.
  const auto row_bytes = static_cast<std::size_t>(result.extents()[static_cast<std::size_t>(row)]) *
                         static_cast<std::size_t>(bytes_of(result.value_type()));
  const auto at = reinterpret_cast<std::uintptr_t>(result.values().data());
  if (row_bytes % stored_line_bytes != 0 || at % stored_line_bytes != 0) return false;
  static const std::int64_t least = measured_threshold();
  return bytes >= least;
}

}  // namespace schaas::client
