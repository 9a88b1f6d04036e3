#include "server/storage/agreed_toolchain.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "compiler/pipeline/pipeline.h"

// Kernel keys name the compiler that made the kernel. Under the name of its own compiler a server finds
// nothing after it lost that compiler, nor another processor's native kernels. So the compiler of a target is
// noted with the first kernel that it makes. Servers of one database must find each other's kernels. The
// compiler that was noted first is that of all, until an operator chooses another. A new version of the code
// generator begins anew.
namespace schaas::server {
namespace {

using kernels_cache::ScheduleStore;
using support::Cancellation;
using support::Result;
using toolchain::Target;
using toolchain::Toolchain;

/// Returns the name of a target's agreement: a later version of the code generator may have other flags.
std::string agreement(const Target& target) {
  return toolchain::print(target) + ", code " + std::to_string(pipeline::code_version);
}

/// Returns the targets that `own` has a compiler for.
std::vector<Target> targets_of(const Toolchain& own) {
  std::vector<std::string> isas = {support::native_isa()};
  for (const auto& one : support::instruction_sets()) isas.push_back(one.name);
  std::vector<Target> targets;
  for (const auto& isa : isas) {
    for (const bool baseline : {false, true}) {
      if (const Target target{isa, baseline}; own.check(target).ok()) targets.push_back(target);
    }
  }
  return targets;
}

support::Diagnostic other_compiler(const Target& target, const std::string& agreed, const std::string& own) {
  return support::noting(
      support::unsupported("other-compiler", "kernels for " + target.isa + " are compiled with `" + agreed +
                                                 "` at all servers of the database; this one has `" + own +
                                                 "` and serves stored kernels alone"),
      "install that compiler, take no items (--items 0), or start a server with --adopt-toolchain: its "
      "compilers become those of all");
}

class AgreedToolchain final : public Toolchain {
 public:
  AgreedToolchain(std::shared_ptr<Toolchain> own, std::shared_ptr<ScheduleStore> schedules,
                  Compilers compilers, Log log)
      : own_(std::move(own)),
        schedules_(std::move(schedules)),
        is_agreed_(compilers == Compilers::the_agreed),
        log_(std::move(log)) {
    const std::lock_guard lock(mutex_);
    read_stored();
  }

  std::string identity(const Target& target) const override {
    if (!is_agreed_ && own_->check(target).ok()) return own_->identity(target);
    const auto found = stored(target);
    return found.empty() ? own_->identity(target) : found;
  }

  Result<void> check(const Target& target) const override {
    auto checked = own_->check(target);
    return checked.ok() || !stored(target).empty() ? Result<void>() : checked;
  }

  Result<std::string> compile_c(const std::string& source, const Target& target,
                                const Cancellation& cancellation) override {
    if (is_agreed_) SCHAAS_RETURN_IF_ERROR(agree(target));
    auto compiled = own_->compile_c(source, target, cancellation);
    if (compiled.ok() && !is_agreed_) note(target);
    return compiled;
  }

 private:
  std::string name_of(const Target& target) const {
    return is_agreed_ ? agreement(target) : toolchain::print(target);
  }

  // Returns the stored identity of a target; "" where there is none.
  std::string stored(const Target& target) const {
    const std::lock_guard lock(mutex_);
    // Another server may have stored one.
    if (is_agreed_ && schedules_->changes().since(read_at_, "")) read_stored();
    const auto found = stored_.find(name_of(target));
    return found == stored_.end() ? "" : found->second;
  }

  // Reads the stored identities; the caller holds the mutex.
  void read_stored() const {
    const auto now = schedules_->changes().now();
    auto found = schedules_->toolchains();
    if (!found.ok())
      return log_->warn("cannot read the toolchains of kernels: {}", support::render(found.error()));
    stored_ = std::move(*found);
    read_at_ = now;
  }

  // Makes the own compiler that of the target where there is none; returns an error where there is another.
  Result<void> agree(const Target& target) {
    SCHAAS_RETURN_IF_ERROR(own_->check(target));
    const std::string own = own_->identity(target);
    std::string agreed = stored(target);
    if (agreed.empty()) {
      SCHAAS_ASSIGN_OR_RETURN(agreed, schedules_->agree_on_toolchain(agreement(target), own));
    }
    if (agreed != own) return other_compiler(target, agreed, own);
    return {};
  }

  // Stores the identity when it is another one than before.
  void note(const Target& target) {
    const std::string identity = own_->identity(target), name = name_of(target);
    const std::lock_guard lock(mutex_);
    std::string& known = stored_[name];
    if (known == identity) return;
    known = identity;
    if (const auto put = schedules_->put_toolchain(name, identity); !put.ok())
      log_->warn("cannot store the toolchain of {}: {}", name, support::render(put.error()));
  }

  const std::shared_ptr<Toolchain> own_;
  const std::shared_ptr<ScheduleStore> schedules_;
  const bool is_agreed_;
  const Log log_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::string> stored_;  ///< identities by name_of()
  mutable kernels_cache::Changes::Stamp read_at_ = 0;
};

}  // namespace

std::shared_ptr<Toolchain> make_agreed_toolchain(std::shared_ptr<Toolchain> own,
                                                 std::shared_ptr<ScheduleStore> schedules,
                                                 Compilers compilers, Log log) {
  return std::make_shared<AgreedToolchain>(std::move(own), std::move(schedules), compilers, std::move(log));
}

Result<void> check_agreed_toolchain(const Toolchain& own, ScheduleStore& schedules) {
  SCHAAS_ASSIGN_OR_RETURN(const auto stored, schedules.toolchains());
  for (const Target& target : targets_of(own)) {
    const auto agreed = stored.find(agreement(target));
    if (agreed != stored.end() && agreed->second != own.identity(target))
      return other_compiler(target, agreed->second, own.identity(target));
  }
  return {};
}

Result<void> adopt_toolchain(const Toolchain& own, ScheduleStore& schedules) {
  for (const Target& target : targets_of(own))
    SCHAAS_RETURN_IF_ERROR(schedules.put_toolchain(agreement(target), own.identity(target)));
  return {};
}

}  // namespace schaas::server
