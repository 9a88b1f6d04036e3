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
#include "server/storage/quarantine.h"
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
  EXPECT_EQ(right.report, "60 runs as expected\n");
  const auto wrong = try_in_a_process("skips");
  EXPECT_EQ(wrong.kind, Kind::wrong);
  EXPECT_THAT(wrong.report, HasSubstr("[kernel-wrong]"));
}

TEST(ProcessTrial, SurvivesCrashes) {
  const auto crash = try_in_a_process("overruns");
  EXPECT_EQ(crash.kind, Kind::wrong);
  EXPECT_THAT(crash.report, StartsWith("ended by signal 11"));
}

TEST(ProcessTrial, GivesNoVerdictAtTheLimitOfProcessorTime) {
  TrialOptions options;
  options.program = SCHAAS_TRIAL;
  options.seconds = 1;
  const auto verdict = make_process_trial(options)(fixture("endless"), fixture_problem, Cancellation());
  ASSERT_FALSE(verdict.ok());
  EXPECT_EQ(support::render(verdict.error()),
            "exhausted [trial-undecided]: the trial of a kernel ended without a verdict: it took 1 s of "
            "processor time\n  note: nothing is known of the kernel; retry later");
}

/// A program in place of schaas-trial that ends as told.
std::string ends_by(const test_support::TemporaryDirectory& directory, const std::string& command) {
  const std::string path = directory / "trial";
  std::ofstream(path) << "#!/bin/sh\n" << command << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

// A service manager that stops the server, the system that runs out of memory, a terminal: not the kernel.
TEST(ProcessTrial, GivesNoVerdictWhenEndedFromOutside) {
  for (const char* command :
       {"kill -TERM $$", "kill -KILL $$", "kill -INT $$", "kill -HUP $$", "exit 5", "exit 9"}) {
    test_support::TemporaryDirectory directory;
    TrialOptions options;
    options.program = ends_by(directory, command);
    const auto verdict = make_process_trial(options)("", "", Cancellation());
    ASSERT_FALSE(verdict.ok()) << command;
    EXPECT_EQ(verdict.error().code, "trial-undecided") << command << support::render(verdict.error());
    EXPECT_EQ(verdict.error().family, support::Family::exhausted);
  }
}

TEST(ProcessTrial, ConvictsForSignalsThatTheKernelRaises) {
  for (const char* command :
       {"kill -SEGV $$", "kill -BUS $$", "kill -FPE $$", "kill -ILL $$", "kill -ABRT $$", "kill -SYS $$"}) {
    test_support::TemporaryDirectory directory;
    TrialOptions options;
    options.program = ends_by(directory, command);
    const auto verdict = make_process_trial(options)("", "", Cancellation());
    ASSERT_TRUE(verdict.ok()) << command << support::render(verdict.error());
    EXPECT_EQ(verdict->kind, Kind::wrong) << command;
  }
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
    return make_validating_provider(std::make_unique<Compiles>(compiled_), trial,
                                    make_file_quarantine(quarantine_), silent_log());
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

TEST_F(ValidatingProvider, TriesAgainAfterQuarantine) {
  EXPECT_FALSE(provider("x86-64-v3", {Kind::wrong, "no\n"})->kernel(query("x86-64-v3"), never_).ok());
  const auto quarantine = make_file_quarantine(quarantine_);
  ASSERT_EQ(quarantine->list().size(), 1u);
  EXPECT_EQ(quarantine->list().front().key, "key");
  EXPECT_EQ(quarantine->list().front().why, "no");
  EXPECT_THAT(quarantine->list().front().since, testing::MatchesRegex("20..-..-..T..:..:..\\....Z"));
  EXPECT_EQ(provider("x86-64-v3", {})->kernel(query("x86-64-v3"), never_).error().code, "kernel-rejected");
  EXPECT_TRUE(quarantine->lift("key"));
  EXPECT_FALSE(quarantine->lift("key"));
  EXPECT_EQ(outcome(provider("x86-64-v3", {})->kernel(query("x86-64-v3"), never_)), "for x86-64-v3");
}

TEST_F(ValidatingProvider, LetsQuarantineExpire) {
  EXPECT_FALSE(provider("x86-64-v3", {Kind::wrong, "no\n"})->kernel(query("x86-64-v3"), never_).ok());
  const auto age = [&](std::chrono::minutes old) {
    std::filesystem::last_write_time(quarantine_ + "/key.txt",
                                     std::filesystem::file_time_type::clock::now() - old);
  };
  age(Quarantine::max_age - std::chrono::minutes(1));
  EXPECT_EQ(provider("x86-64-v3", {})->kernel(query("x86-64-v3"), never_).error().code, "kernel-rejected");
  age(Quarantine::max_age + std::chrono::minutes(1));
  EXPECT_EQ(outcome(provider("x86-64-v3", {})->kernel(query("x86-64-v3"), never_)), "for x86-64-v3");
  EXPECT_TRUE(make_file_quarantine(quarantine_)->list().empty());
}

TEST_F(ValidatingProvider, BoundsQuarantineAndReplacesWhatExpired) {
  const auto quarantine = make_file_quarantine(quarantine_);
  for (std::size_t n = 0; n < Quarantine::max_kernels; ++n)
    EXPECT_TRUE(quarantine->add("k" + std::to_string(n), "binary", "wrong"));
  EXPECT_FALSE(quarantine->add("one more", "binary", "wrong"));
  EXPECT_EQ(quarantine->list().size(), Quarantine::max_kernels);
  std::filesystem::last_write_time(
      quarantine_ + "/k0.txt",
      std::filesystem::file_time_type::clock::now() - Quarantine::max_age - std::chrono::minutes(1));
  EXPECT_TRUE(quarantine->add("new", "binary", "wrong"));
  EXPECT_TRUE(quarantine->reason("new").has_value());
  EXPECT_FALSE(std::filesystem::exists(quarantine_ + "/k0.so"));
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
