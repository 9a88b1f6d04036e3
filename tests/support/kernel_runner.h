#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "proto/kernel_abi.h"

namespace schaas::test_support {

/// A compiled shared object, loaded from its bytes through a temporary file and unloaded with the last copy.
/// The file has a name of its own, so that the loader never takes two kernels for one.
class LoadedKernel {
 public:
  /// `symbol`: several kernels may share one object, each under its own symbol.
  static support::Result<LoadedKernel> load(const std::string& bytes,
                                            const std::string& symbol = SCHAAS_KERNEL_SYMBOL);
  /// Another kernel of the same object.
  support::Result<LoadedKernel> sibling(const std::string& symbol) const;

  const schaas_kernel_descriptor& descriptor() const { return *descriptor_; }

 private:
  LoadedKernel() = default;
  std::shared_ptr<void> library_;
  const schaas_kernel_descriptor* descriptor_ = nullptr;
};

/// Splitting of the phases' ranges.
enum class Cuts {
  none,    ///< every phase in one call on one thread
  random,  ///< random pieces, also empty ones; on two threads at once where the phase allows, else in order
           ///< on one
};

/// Gives a result with compressed levels its arrays: the entries of each, in level order.
using Allocate = std::function<void(const std::vector<std::int64_t>& entries)>;

/// Runs all phases in order by the rules of proto/kernel_abi.h: shared arrays zeroed once, one zeroed
/// workspace per thread, both aligned to 64 bytes and with guard bytes behind them; counters scanned and
/// `allocate` called before the first phase that computes after counting. Where phases can store values alone
/// they are run again that way, every other time. Returns what went wrong: a phase's
/// error code, an argument count that does not fit, a write behind an array, a count that is negative; ""
/// when all is well.
std::string run(const schaas_kernel_descriptor& kernel, const std::vector<const schaas_tensor*>& arguments,
                Cuts cuts, std::mt19937_64& random, const Allocate& allocate = {});

}  // namespace schaas::test_support
