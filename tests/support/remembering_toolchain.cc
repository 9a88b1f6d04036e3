#include "tests/support/remembering_toolchain.h"

namespace schaas::test_support {

support::Result<std::string> RememberingToolchain::compile_c(const std::string& source,
                                                             const toolchain::Target& target,
                                                             const support::Cancellation& cancellation) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto key = std::make_pair(toolchain::print(target), source);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  SCHAAS_ASSIGN_OR_RETURN(auto binary, compiler_.compile_c(source, target, cancellation));
  return known_.emplace(key, std::move(binary)).first->second;
}

toolchain::Toolchain& remembering_toolchain() {
  static const auto compiler = toolchain::make_c_toolchain({});
  static RememberingToolchain remembering(*compiler);
  return remembering;
}

}  // namespace schaas::test_support
