#include "server/storage/agreed_toolchain.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>

// Kernel keys name the compiler that made the kernel. Under the name of its own compiler a server finds
// nothing after it lost that compiler, nor another processor's native kernels. So the compiler of a target is
// noted with the first kernel that it makes.
namespace schaas::server {
namespace {

using support::Cancellation;
using support::Result;
using toolchain::Target;

class AgreedToolchain final : public toolchain::Toolchain {
 public:
  AgreedToolchain(std::shared_ptr<Toolchain> own, std::shared_ptr<kernels_cache::ScheduleStore> schedules,
                  Log log)
      : own_(std::move(own)), schedules_(std::move(schedules)), log_(std::move(log)) {
    auto stored = schedules_->toolchains();
    if (stored.ok()) {
      stored_ = std::move(*stored);
    } else {
      log_->warn("cannot read the toolchains of kernels: {}", support::render(stored.error()));
    }
  }

  std::string identity(const Target& target) const override {
    if (own_->check(target).ok()) return own_->identity(target);
    const std::lock_guard lock(mutex_);
    const auto found = stored_.find(toolchain::print(target));
    return found == stored_.end() ? own_->identity(target) : found->second;
  }

  Result<void> check(const Target& target) const override {
    auto checked = own_->check(target);
    const std::lock_guard lock(mutex_);
    return checked.ok() || stored_.count(toolchain::print(target)) != 0 ? Result<void>() : checked;
  }

  Result<std::string> compile_c(const std::string& source, const Target& target,
                                const Cancellation& cancellation) override {
    auto compiled = own_->compile_c(source, target, cancellation);
    if (compiled.ok()) note(toolchain::print(target), own_->identity(target));
    return compiled;
  }

 private:
  // Stores the identity when it is another one than before.
  void note(const std::string& target, const std::string& identity) {
    const std::lock_guard lock(mutex_);
    std::string& known = stored_[target];
    if (known == identity) return;
    known = identity;
    if (const auto put = schedules_->put_toolchain(target, identity); !put.ok())
      log_->warn("cannot store the toolchain of {}: {}", target, support::render(put.error()));
  }

  const std::shared_ptr<Toolchain> own_;
  const std::shared_ptr<kernels_cache::ScheduleStore> schedules_;
  const Log log_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> stored_;  ///< identities by target
};

}  // namespace

std::shared_ptr<toolchain::Toolchain> make_agreed_toolchain(
    std::shared_ptr<toolchain::Toolchain> own, std::shared_ptr<kernels_cache::ScheduleStore> schedules,
    Log log) {
  return std::make_shared<AgreedToolchain>(std::move(own), std::move(schedules), std::move(log));
}

}  // namespace schaas::server
