#pragma once
#include <algorithm>
#include <vector>

#include "proto/kernel_abi.h"

namespace schaas::client {

/// Arrays of the structure that the last run gave a sparse result, by address. A caller that writes into them
/// breaks the promise of rerun_values().
class ResultStructure {
 public:
  void note(const schaas_tensor& result) {
    levels_.assign(result.levels, result.levels + result.order);
    values_ = result.values;
    exists_ = true;
  }
  void reset() { exists_ = false; }
  bool exists() const { return exists_; }
  /// The structure exists, and its arrays are those of `result`: none was taken away or replaced.
  bool is_of(const schaas_tensor& result) const {
    return exists_ && result.values == values_ &&
           std::equal(levels_.begin(), levels_.end(), result.levels, [](const auto& a, const auto& b) {
             return a.pos == b.pos && a.crd == b.crd && a.entries == b.entries;
           });
  }

 private:
  std::vector<schaas_level> levels_;
  const void* values_ = nullptr;
  bool exists_ = false;
};

}  // namespace schaas::client
