#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/result.h"

/// Machine parameters: throughput of this machine's caches and memory. They are measured once (`schaas
/// calibrate`), stored, and read by every selection.
namespace schaas::client {

class Connection;

/// Costs in *trips*: one is a multiplication and addition of vector code whose row of f64 comes from the
/// second-level cache (docs/cost_model.md, "At real sizes"). The defaults were measured on one server with
/// AVX-512 (docs/performance/model.md).
struct Rates {
  double nanoseconds = 0.067;  ///< one trip
  double in_first = 0.5;       ///< a trip whose row is in the first-level cache
  double beyond_first = 0.5;   ///< for an element that comes from beyond the first-level cache, more
  double beyond_second = 0.9;  ///< from beyond the second, more than that
  double beyond_last = 3.6;    ///< from memory, more than that
  double memory_threads = 1;   ///< memory bandwidth of all threads over that of one
  bool operator==(const Rates&) const = default;
};

/// One measurement: rows of 64 f64, gathered at random from `bytes` of them.
struct RowRate {
  std::string from;  ///< "first-level cache", "second-level cache", "last-level cache", "memory"
  std::int64_t bytes = 0;
  int threads = 1;
  double nanoseconds = 0;  ///< for an element, all threads together
};
/// Returns the machine parameters that explain measured rates: from L1, L2, LLC, and memory by one thread. A
/// fifth rate is that from memory by all threads. A level that measures faster than the one before it counts
/// as equally fast.
Rates rates_of(const std::vector<RowRate>& measured);
struct Calibration {
  Rates rates;
  std::vector<RowRate> measured;
};

/// Runs the kernel of `A(i,k) = B(i,j) * C(j,k)` that `connection`'s server makes, with C in each cache and
/// in memory. It takes some seconds, and twice the last-level cache of memory, 1 GiB at most. The minimum of
/// several runs counts, so other work on the machine disturbs little. `progress` (may be empty) hears the
/// name of each step. Errors: the server's; exhausted [memory].
support::Result<Calibration> calibrate(Connection& connection, int threads,
                                       const std::function<void(const std::string&)>& progress = {});

/// The processor as the system names it, its caches and threads: rates and measured times are of one such
/// host. One line.
std::string host_text();

/// Rates of copies and launches of a GPU, measured on it (`schaas calibrate --device`).
struct GpuRates {
  double bytes_per_second = 0;              ///< from its memory
  double transferred_bytes_per_second = 0;  ///< between host and device
  double transfer_seconds = 0;              ///< latency of a copy between host and device
  double launch_seconds = 0;                ///< from one launch to the next
  bool operator==(const GpuRates&) const = default;
};
/// DIRECTORY/rates_DEVICE, as store_rates. Errors: those of store_rates.
support::Result<void> store_gpu_rates(const std::string& directory, const std::string& device,
                                      const GpuRates& rates);
/// The stored ones of a device with this name on this host; nothing where there are none.
std::optional<GpuRates> stored_gpu_rates(const std::string& directory, const std::string& device);

/// DIRECTORY/rates, written at once or not at all; the directory is made when it is not there. Errors:
/// invalid [file-unwritable], exhausted [disk-full].
support::Result<void> store_rates(const std::string& directory, const Rates& rates);
/// The stored ones; the defaults where there are none, where they are of another host, or are no rates.
Rates stored_rates(const std::string& directory);

}  // namespace schaas::client
