#include "schaas/session.h"

#include <map>
#include <mutex>
#include <utility>

namespace schaas::client {

struct Session::State {
  explicit State(Connection opened) : connection(std::move(opened)) {}

  Connection connection;
  std::mutex mutex;
  std::map<std::string, Kernel> kernels;  ///< by digest
};

support::Result<Session> Session::open(const ConnectOptions& options) {
  SCHAAS_ASSIGN_OR_RETURN(Connection connection, Connection::open(options));
  return Session(std::move(connection));
}

Session::Session(Connection connection) : state_(std::make_shared<State>(std::move(connection))) {}

Connection& Session::connection() const { return state_->connection; }

support::Result<Kernel> Session::load(const KernelInfo& info) const {
  {
    const std::lock_guard lock(state_->mutex);
    const auto known = state_->kernels.find(info.digest.sha256);
    if (known != state_->kernels.end()) return known->second;
  }
  SCHAAS_ASSIGN_OR_RETURN(const std::string binary, state_->connection.download(info));
  SCHAAS_ASSIGN_OR_RETURN(Kernel kernel, Kernel::load(binary, info.digest));
  const std::lock_guard lock(state_->mutex);
  return state_->kernels.emplace(info.digest.sha256, std::move(kernel)).first->second;
}

support::Result<Execution> Session::prepare(const std::vector<std::string>& names, const KernelInfo& info,
                                            std::vector<PackedTensor*> tensors,
                                            ExecutionOptions options) const {
  SCHAAS_ASSIGN_OR_RETURN(const Kernel kernel, load(info));
  options.names = names;
  return Execution::prepare(kernel, std::move(tensors), options);
}

}  // namespace schaas::client
