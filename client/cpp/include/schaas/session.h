#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "schaas/choose.h"
#include "schaas/connection.h"
#include "schaas/gpu.h"
#include "schaas/kernel.h"

namespace schaas::client {

/// A source of answers and the kernels loaded from it, kept for as long as a program computes. Thread-safe.
/// Copies share it.
class Session {
 public:
  /// Opens a session with a server, behind the client's cache (docs/client.md, "The cache"). When the server
  /// is gone, cached answers are used, and source().notice() says so. Errors: those of Connection::open.
  static support::Result<Session> open(const ConnectOptions& options = {});
  explicit Session(std::shared_ptr<KernelSource> source);
  explicit Session(Connection connection) : Session(std::make_shared<Connection>(std::move(connection))) {}

  KernelSource& source() const;
  /// Downloads a kernel and loads it, once per session. Errors: those of KernelSource::download
  /// and Kernel::load. `stop` ends the download.
  support::Result<Kernel> load(const KernelInfo& info, const std::stop_token& stop = {}) const;
  /// The same of a kernel for GPUs. Errors: those of KernelSource::download and GpuKernel::load.
  support::Result<GpuKernel> load_for_gpu(const KernelInfo& info, const std::stop_token& stop = {}) const;
  /// A device, opened once per session. Errors: those of Gpu::open.
  support::Result<Gpu> gpu(int device) const;
  /// `load`, bound to tensors in the order of `names` (Frontier::arguments), which go into messages. Errors:
  /// those of load and Execution::prepare.
  support::Result<Execution> prepare(const std::vector<std::string>& names, const KernelInfo& info,
                                     std::vector<PackedTensor*> tensors, ExecutionOptions options = {}) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace schaas::client
