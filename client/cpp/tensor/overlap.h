#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "schaas/tensor.h"

namespace schaas::client {

/// Returns the name of an operand that has an array in memory which `result` has, too; null: none has. An
/// operand with exactly the values of a dense result, `updated`, does not count: a kernel reads each of its
/// elements before it writes it. Compares addresses alone.
const std::string* overlapping_operand(const PackedTensor& result,
                                       const std::map<std::string, PackedTensor*>& operands,
                                       const PackedTensor* updated);

/// Copies of levels of operands whose positions or coordinates overlap a result. The structure stays that of
/// the binding, whatever runs write there. Values are not copied.
struct KeptLevels {
  std::map<std::string, PackedTensor*> operands;  ///< all of them
  std::vector<std::unique_ptr<PackedTensor>> own;

  /// Empty: no operand has its levels in memory of `result`. Errors: exhausted [memory]; unsupported
  /// [result-overlap] (such levels lie on a device).
  static support::Result<KeptLevels> of(const std::map<std::string, PackedTensor*>& operands,
                                        const PackedTensor& result);
};

}  // namespace schaas::client
