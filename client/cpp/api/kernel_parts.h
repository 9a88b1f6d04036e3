#pragma once
#include <map>
#include <string>

#include "schaas/kernel_set.h"

namespace schaas::client {

/// Other kernel sets that do the work of one, whose program they compute in parts or in another form. The
/// functions are those of KernelSet. Thread-safe.
class KernelParts {
 public:
  using Operands = std::map<std::string, PackedTensor*>;

  virtual ~KernelParts() = default;
  virtual support::Result<Computation> bind(const Operands& operands, const BindOptions& options) const = 0;
  virtual support::Result<Tuning> tune(const Operands& operands, const BindOptions& options) const = 0;
  virtual support::Result<Frontier> frontier(const std::stop_token& stop) const = 0;
  virtual support::Result<FrontierHere> frontier_at(const Operands& operands,
                                                    const BindOptions& options) const = 0;
  virtual void begin(const BindOptions& options) const = 0;
};

}  // namespace schaas::client
