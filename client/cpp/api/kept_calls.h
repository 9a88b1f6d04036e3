#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/cpp/platform/process_mutex.h"
#include "schaas/schaas.h"

namespace schaas::client {

/// Computations of plain calls, kept for calls with operands that differ in their arrays alone: nothing is
/// chosen, bound or cut anew. Thread-safe: one that is taken belongs to the caller.
class KeptCalls {
 public:
  KeptCalls();
  ~KeptCalls();
  KeptCalls(const KeptCalls&) = delete;
  KeptCalls& operator=(const KeptCalls&) = delete;

  /// Null: none is kept under this key.
  std::unique_ptr<schaas_computation> take(const std::string& key);
  /// Keeps a computation, unless it holds much memory; evicts the least recently used.
  void give(const std::string& key, std::unique_ptr<schaas_computation> computation);

 private:
  struct Kept;
  ProcessMutex mutex_;
  std::vector<Kept> kept_;  ///< the one used last is the last
};

/// Returns the properties of a call without its arrays: names, extents, formats, numbers of entries, types,
/// threads. "": the call is not kept. Such calls name schedules, extents or a wait limit, ask for a
/// deterministic result, or have some tensors on a device and others not.
std::string key_of_call(const schaas_operand* operands, std::int32_t count, const schaas_options* options);

}  // namespace schaas::client
