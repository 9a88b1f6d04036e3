// A kernel that disagrees with the oracle is never served.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "compiler/pipeline/pipeline.h"
#include "server/providers/validating_provider.h"
#include "tests/support/temporary_directory.h"

namespace schaas::server {
namespace {

using support::Cancellation;
using support::Result;
using testing::HasSubstr;
using testing::StartsWith;
using Kind = TrialVerdict::Kind;

constexpr const char* fixture_problem =
    "schaas-problem 1\nA(i,j) = B(i,k) * C(k,j)\nformat A dense,dense:0,1\nformat B "
    "dense,compressed:0,1\nformat C dense,dense:0,1\nvalues f64\npositions 32\nprofile default\n";

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}
std::string fixture(const std::string& variant) {
  return read(std::string(SCHAAS_FIXTURE_DIR) + "/libclient_kernel_" + variant + ".so");
}

TrialVerdict try_in_a_process(const std::string& variant, const std::string& problem = fixture_problem) {
  TrialOptions options;
  options.program = SCHAAS_TRIAL;
  options.seconds = variant == "endless" ? 1 : 20;
  const auto verdict = make_process_trial(options)(fixture(variant), problem, Cancellation());
  EXPECT_TRUE(verdict.ok()) << support::render(verdict.error());
  return verdict.ok() ? *verdict : TrialVerdict{};
}

// A limit of file sizes stands in for the full disk: a right kernel must not be called wrong.
TEST(ProcessTrial, GivesNoVerdictOnAKernelItCannotWrite) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 1000;
  const std::string kernel = fixture("good");
  TrialOptions options;
  options.program = SCHAAS_TRIAL;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto verdict = make_process_trial(options)(kernel, fixture_problem, Cancellation());
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(verdict.ok());
  EXPECT_EQ(verdict.error().code, "disk-full");
  EXPECT_EQ(verdict.error().family, support::Family::exhausted);
}

TEST(ProcessTrial, DistinguishesRightFromWrong) {
  const auto right = try_in_a_process("good");
  EXPECT_EQ(right.kind, Kind::passed);
  EXPECT_EQ(right.report, "44 runs as expected\n");
  const auto wrong = try_in_a_process("skips");
  EXPECT_EQ(wrong.kind, Kind::wrong);
  EXPECT_THAT(wrong.report, HasSubstr("[kernel-wrong]"));
}

TEST(ProcessTrial, SurvivesCrashesAndEndlessLoops) {
  const auto crash = try_in_a_process("overruns");
  EXPECT_EQ(crash.kind, Kind::wrong);
  EXPECT_THAT(crash.report, StartsWith("ended by signal 11"));
  const auto endless = try_in_a_process("endless");
  EXPECT_EQ(endless.kind, Kind::wrong);
  EXPECT_THAT(endless.report, StartsWith("no end after 1 s of processor time\n"));
}

// A kernel that runs for long stands in for one that gets no processor.
TEST(ProcessTrial, ReportsOverloadWhenATrialGetsNoProcessor) {
  TrialOptions options;
  options.program = SCHAAS_TRIAL;
  options.wall_time = std::chrono::seconds(1);
  const auto verdict = make_process_trial(options)(fixture("endless"), fixture_problem, Cancellation());
  ASSERT_FALSE(verdict.ok());
  EXPECT_EQ(support::render(verdict.error()),
            "exhausted [trial-timeout]: the trial of a kernel did not end within 1 s\n"
            "  note: the machine is overloaded; retry later");
}

TEST(ProcessTrial, DetectsOtherProcessorsAndOtherProblems) {
  EXPECT_EQ(try_in_a_process("isa").kind, Kind::other_processor);
  const auto other = try_in_a_process("good", "schaas-problem 1\n");
  EXPECT_EQ(other.kind, Kind::wrong);
  EXPECT_THAT(other.report, StartsWith("the kernel is for another problem"));
}

TEST(ProcessTrial, ReportsAMissingProgram) {
  TrialOptions options;
  options.program = "/nowhere/schaas-trial";
  const auto verdict = make_process_trial(options)("", "", Cancellation());
  ASSERT_FALSE(verdict.ok());
  EXPECT_EQ(verdict.error().code, "no-process");
}

/// Compiles to the name of the instruction set.
class Compiles final : public KernelProvider {
 public:
  explicit Compiles(std::vector<std::string>& compiled) : compiled_(compiled) {}
  Result<FrontierAnswer> frontier(const FrontierQuery&, const frontier::Progress&,
                                  const Cancellation&) override {
    return support::unsupported("no", "no search here");
  }
  Result<KernelAnswer> kernel(const KernelQuery& query, const Cancellation&) override {
    compiled_.push_back(query.target.isa);
    KernelAnswer answer;
    answer.bytes = std::make_shared<const std::string>("for " + query.target.isa);
    return answer;
  }

 private:
  std::vector<std::string>& compiled_;
};

class ValidatingProvider : public testing::Test {
 protected:
  /// `runs`: the one instruction set that this machine can run, and the verdict of its kernels.
  std::unique_ptr<KernelProvider> provider(const std::string& runs, TrialVerdict verdict) {
    const auto trial = [this, runs, verdict](const std::string& binary, const std::string& problem,
                                             const Cancellation&) -> Result<TrialVerdict> {
      tried_.push_back(binary + " of " + problem);
      if (binary != "for " + runs) return TrialVerdict{Kind::other_processor, "cannot\n"};
      return verdict;
    };
    return make_validating_provider(std::make_unique<Compiles>(compiled_), trial, quarantine_, silent_log());
  }
  static KernelQuery query(const std::string& isa, Source source = Source::stored_or_made) {
    KernelQuery out;
    out.canonical.text = "text";
    out.target.isa = isa;
    out.kernel_key = "key";
    out.source = source;
    return out;
  }
  static std::string outcome(const Result<KernelAnswer>& answer) {
    return answer.ok() ? *answer->bytes : support::render(answer.error());
  }

  test_support::TemporaryDirectory directory_;
  const std::string quarantine_ = directory_ / "quarantine";
  std::vector<std::string> compiled_, tried_;
  Cancellation never_;
};

TEST_F(ValidatingProvider, ServesValidKernels) {
  EXPECT_EQ(outcome(provider("x86-64-v3", {})->kernel(query("x86-64-v3"), never_)), "for x86-64-v3");
  EXPECT_THAT(tried_, testing::ElementsAre("for x86-64-v3 of text"));
  EXPECT_FALSE(std::filesystem::exists(quarantine_));
}

TEST_F(ValidatingProvider, QuarantinesWrongKernelsWithTheirReproducer) {
  const auto trying = provider("x86-64-v3", {Kind::wrong, "element 3 is 5\nmore\n"});
  const std::string complaint =
      "internal [kernel-rejected]: the kernel of schedule `linear` failed its trial and is not served: "
      "element 3 is 5\n"
      "  note: the server keeps it in quarantine as key";
  EXPECT_EQ(outcome(trying->kernel(query("x86-64-v3"), never_)), complaint);
  EXPECT_EQ(read(quarantine_ + "/key.so"), "for x86-64-v3");
  EXPECT_EQ(read(quarantine_ + "/key.txt"), "element 3 is 5\nmore\n\nschedule linear\nisa x86-64-v3\ncode " +
                                                std::to_string(pipeline::code_version) + "\ntext");
  // Refused from quarantine from then on; recompiled only on demand.
  EXPECT_EQ(outcome(trying->kernel(query("x86-64-v3"), never_)), complaint);
  EXPECT_EQ(compiled_.size(), 1u);
  EXPECT_EQ(outcome(trying->kernel(query("x86-64-v3", Source::made), never_)), complaint);
  EXPECT_EQ(compiled_.size(), 2u);
}

TEST_F(ValidatingProvider, ValidatesATwinForAnotherProcessor) {
  EXPECT_EQ(outcome(provider("x86-64-v2", {})->kernel(query("x86-64-v4"), never_)), "for x86-64-v4");
  EXPECT_THAT(compiled_, testing::ElementsAre("x86-64-v4", "x86-64-v3", "x86-64-v2"));
  const auto wrong = provider("x86-64-v2", {Kind::wrong, "no\n"})->kernel(query("x86-64-v4"), never_);
  EXPECT_EQ(wrong.error().code, "kernel-rejected");
  EXPECT_EQ(read(quarantine_ + "/key.so"), "for x86-64-v4");
}

TEST_F(ValidatingProvider, FallsBackToLesserInstructionSets) {
  EXPECT_EQ(outcome(provider("generic", {})->kernel(query("x86-64-v3"), never_)), "for x86-64-v3");
  EXPECT_THAT(compiled_, testing::ElementsAre("x86-64-v3", "x86-64-v2", "generic"));
}

}  // namespace
}  // namespace schaas::server
