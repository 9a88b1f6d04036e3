#pragma once
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "compiler/toolchain/toolchain.h"

namespace schaas::test_support {

/// Compiles each source once for each target, since a test may run one kernel at many extents. Any thread may
/// call it; calls wait for each other.
class RememberingToolchain : public toolchain::Toolchain {
 public:
  /// `compiler` outlives this.
  explicit RememberingToolchain(toolchain::Toolchain& compiler) : compiler_(compiler) {}

  std::string identity(const toolchain::Target& target) const override { return compiler_.identity(target); }
  support::Result<void> check(const toolchain::Target& target) const override {
    return compiler_.check(target);
  }
  support::Result<std::string> compile_c(const std::string& source, const toolchain::Target& target,
                                         const support::Cancellation& cancellation) override;

 private:
  toolchain::Toolchain& compiler_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::string> known_;  ///< binaries by target and source
};

/// The C toolchain that users get, one for the program.
toolchain::Toolchain& remembering_toolchain();

}  // namespace schaas::test_support
