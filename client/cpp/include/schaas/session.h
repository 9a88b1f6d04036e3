#pragma once
#include <memory>
#include <vector>

#include "schaas/choose.h"
#include "schaas/connection.h"
#include "schaas/kernel.h"

namespace schaas::client {

/// A connection and the kernels that came over it: what a program keeps for as long as it computes.
/// Thread-safe. Copies share it.
class Session {
 public:
  /// Errors: those of Connection::open.
  static support::Result<Session> open(const ConnectOptions& options = {});
  explicit Session(Connection connection);

  Connection& connection() const;
  /// Downloads a kernel and loads it, once per session. Errors: those of Connection::download and
  /// Kernel::load.
  support::Result<Kernel> load(const KernelInfo& info) const;
  /// `load`, bound to tensors in the order of `names` (Frontier::arguments), which go into messages. Errors:
  /// those of load and Execution::prepare.
  support::Result<Execution> prepare(const std::vector<std::string>& names, const KernelInfo& info,
                                     std::vector<PackedTensor*> tensors, ExecutionOptions options = {}) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace schaas::client
