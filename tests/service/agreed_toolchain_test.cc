// Kernels are found under the compiler that made them, also where it is gone.
#include "server/storage/agreed_toolchain.h"

#include <gtest/gtest.h>

#include "kernels_cache/schedule_store_memory.h"

namespace schaas::server {
namespace {

using toolchain::Target;

class OwnToolchain final : public toolchain::Toolchain {
 public:
  OwnToolchain(std::string name, bool works) : name_(std::move(name)), works_(works) {}
  std::string identity(const Target& target) const override { return name_ + " for " + target.isa; }
  support::Result<void> check(const Target&) const override {
    if (works_) return {};
    return support::unsupported("no-compiler", "no compiler");
  }
  support::Result<std::string> compile_c(const std::string&, const Target& target,
                                         const support::Cancellation&) override {
    SCHAAS_RETURN_IF_ERROR(check(target));
    return std::string("binary");
  }

 private:
  const std::string name_;
  const bool works_;
};

TEST(AgreedToolchain, KeepsTheNameOfALostCompiler) {
  const support::Cancellation never;
  const std::shared_ptr<kernels_cache::ScheduleStore> store =
      kernels_cache::make_memory_schedule_store(kernels_cache::system_clock());
  const Target v3{"x86-64-v3"}, cuda{"cuda"}, first_tier{"x86-64-v3", true};
  const auto with = [&](const std::string& name, bool works) {
    return make_agreed_toolchain(std::make_shared<OwnToolchain>(name, works), store, Compilers::each_its_own,
                                 silent_log());
  };
  EXPECT_EQ(with("nothing", false)->identity(v3), "nothing for x86-64-v3");
  EXPECT_FALSE(with("nothing", false)->check(v3).ok());
  const auto old = with("gcc 12", true);
  EXPECT_EQ(old->identity(v3), "gcc 12 for x86-64-v3");
  EXPECT_TRUE(store->toolchains()->empty()) << "nothing was made yet";
  ASSERT_TRUE(old->compile_c("", v3, never).ok());
  const auto lost = with("nothing", false);
  EXPECT_EQ(lost->identity(v3), "gcc 12 for x86-64-v3");
  EXPECT_TRUE(lost->check(v3).ok()) << "stored kernels are served";
  EXPECT_EQ(lost->compile_c("", v3, never).error().code, "no-compiler");
  EXPECT_EQ(lost->identity(cuda), "nothing for cuda") << "none was made";
  EXPECT_EQ(lost->identity(first_tier), "nothing for x86-64-v3");
  const auto next = with("gcc 14", true);
  EXPECT_EQ(next->identity(v3), "gcc 14 for x86-64-v3") << "a compiler that works makes its own kernels";
  ASSERT_TRUE(next->compile_c("", v3, never).ok());
  EXPECT_EQ(with("nothing", false)->identity(v3), "gcc 14 for x86-64-v3");
}

TEST(AgreedToolchain, CompilesWithTheCompilerOfTheFleetAlone) {
  const support::Cancellation never;
  const std::shared_ptr<kernels_cache::ScheduleStore> store =
      kernels_cache::make_memory_schedule_store(kernels_cache::system_clock());
  const Target v3{"x86-64-v3"}, v4{"x86-64-v4"};
  const OwnToolchain gcc12("gcc 12", true), gcc14("gcc 14", true);
  const auto with = [&](const OwnToolchain& own) {
    return make_agreed_toolchain(std::make_shared<OwnToolchain>(own), store, Compilers::the_agreed,
                                 silent_log());
  };
  const auto first = with(gcc12), second = with(gcc14);
  ASSERT_TRUE(first->compile_c("", v3, never).ok());
  EXPECT_EQ(second->identity(v3), "gcc 12 for x86-64-v3") << "heard of while it runs";
  EXPECT_TRUE(second->check(v3).ok()) << "stored kernels are served";
  EXPECT_EQ(second->compile_c("", v3, never).error().code, "other-compiler");
  EXPECT_EQ(check_agreed_toolchain(gcc14, *store).error().code, "other-compiler");
  EXPECT_TRUE(check_agreed_toolchain(gcc12, *store).ok());
  EXPECT_TRUE(check_agreed_toolchain(OwnToolchain("gcc 14", false), *store).ok()) << "it has no compiler";
  EXPECT_TRUE(second->compile_c("", v4, never).ok()) << "nobody made one yet";
  ASSERT_TRUE(adopt_toolchain(gcc14, *store).ok());
  EXPECT_EQ(first->identity(v3), "gcc 14 for x86-64-v3");
  EXPECT_TRUE(second->compile_c("", v3, never).ok());
  EXPECT_EQ(first->compile_c("", v3, never).error().code, "other-compiler");
}

}  // namespace
}  // namespace schaas::server
