#include "compiler/toolchain/toolchain.h"
#include "compiler/toolchain/programs.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "compiler/support/instruction_set.h"
#include "compiler/toolchain/child_process.h"
#include "tests/support/temporary_directory.h"

// Compilers as child processes: results, refusals, limits, and the environment that they see. Shell scripts
// stand in for compilers that hang or print what they were given. Errors tell refused code, which is a bug of
// the project, from limits of the machine. After every test the temporary directory must be empty, and no
// descendant of a compiler may outlive its timeout.
namespace schaas::toolchain {
namespace {

namespace fs = std::filesystem;

/// A directory for one test; what a compilation leaves behind would be found in it.
class Toolchains : public ::testing::Test {
 protected:
  void SetUp() override { options_.temporary_directory = directory_.path(); }
  void TearDown() override { EXPECT_TRUE(fs::is_empty(directory_.path())) << "temporary files were left"; }

  test_support::TemporaryDirectory directory_;
  CToolchainOptions options_;
};

TEST_F(Toolchains, CompilesASharedObject) {
  const auto binary = make_c_toolchain(options_)->compile_c("int answer(void) { return 42; }\n", {}, {});
  ASSERT_TRUE(binary.ok()) << support::render(binary.error());
  EXPECT_EQ(
      "\x7f"
      "ELF",
      binary->substr(0, 4));
}

TEST_F(Toolchains, CompilesThroughACacheOfCompilers) {
  options_.compiler = "/usr/lib/ccache/cc";
  if (!fs::exists(options_.compiler)) GTEST_SKIP() << "ccache is not installed";
  const auto binary = make_c_toolchain(options_)->compile_c("int answer(void) { return 42; }\n", {}, {});
  ASSERT_TRUE(binary.ok()) << support::render(binary.error());
}

// Clang refuses flags that only GCC has.
TEST_F(Toolchains, CompilesByClang) {
  options_.compiler = "clang-14";
  if (!find_program(options_.compiler)) GTEST_SKIP() << "clang-14 is not installed";
  const auto binary = make_c_toolchain(options_)->compile_c("int answer(void) { return 42; }\n", {}, {});
  ASSERT_TRUE(binary.ok()) << support::render(binary.error());
}

TEST_F(Toolchains, SameSourceSameBytes) {
  const auto toolchain = make_c_toolchain(options_);
  const auto one = toolchain->compile_c("int answer(void) { return 42; }\n", {}, {});
  const auto two = toolchain->compile_c("int answer(void) { return 42; }\n", {}, {});
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(*one, *two);
}

TEST_F(Toolchains, RefusedCodeIsOurBugAndQuotesTheCompiler) {
  const auto binary =
      make_c_toolchain(options_)->compile_c("int answer(void) { return forty_two; }\n", {}, {});
  ASSERT_FALSE(binary.ok());
  EXPECT_EQ(support::Family::internal, binary.error().family);
  EXPECT_EQ("compiler-failed", binary.error().code);
  EXPECT_NE(std::string::npos, support::render(binary.error()).find("forty_two"));
}

TEST_F(Toolchains, UnknownInstructionSet) {
  const auto binary = make_c_toolchain(options_)->compile_c("", {"x86-64-v5"}, {});
  ASSERT_FALSE(binary.ok());
  EXPECT_EQ(
      "unsupported [isa]: unknown instruction set `x86-64-v5`; did you mean `x86-64-v2`?; known are "
      "x86-64-v2 "
      "x86-64-v3 x86-64-v4 generic " +
          support::native_isa(),
      support::render(binary.error()));
  const auto shell = make_c_toolchain(options_)->compile_c("", {support::native_isa() + " -o /dev/full"}, {});
  ASSERT_FALSE(shell.ok());
  EXPECT_EQ("isa", shell.error().code);
}

TEST_F(Toolchains, RefusesASourceBeyondItsLimit) {
  options_.source_bytes = 100;
  const auto toolchain = make_c_toolchain(options_);
  EXPECT_TRUE(toolchain->compile_c("int a;" + std::string(94, ' '), {}, {}).ok());
  EXPECT_EQ(support::render(toolchain->compile_c("int a;" + std::string(95, ' '), {}, {}).error()),
            "exhausted [source-size]: the source of the kernel has 101 bytes; at most 100 are compiled\n"
            "  note: ask for a schedule with fewer loops side by side, or for `linear`");
}

TEST_F(Toolchains, NoCompiler) {
  options_.compiler = "no-such-compiler";
  const auto toolchain = make_c_toolchain(options_);
  const auto binary = toolchain->compile_c("", {}, {});
  ASSERT_FALSE(binary.ok());
  EXPECT_EQ(
      "unsupported [no-compiler]: no C compiler: `no-such-compiler` is not on PATH; install one, on Debian: "
      "apt install "
      "gcc libc6-dev",
      support::render(binary.error()));
}

TEST_F(Toolchains, AScriptThatMayNotStartTheCompilerIsNoBugOfOurs) {
  const test_support::TemporaryDirectory directory;
  const std::string behind = directory / "behind";  // compilers are kept from it
  std::ofstream(behind) << "#!/bin/sh\n";
  options_.compiler = directory / "cc";
  std::ofstream(options_.compiler) << "#!/bin/sh\nexec " << behind << "\n";
  for (const auto& file : {behind, options_.compiler}) fs::permissions(file, fs::perms::owner_all);
  const auto refused = make_c_toolchain(options_)->compile_c("int x;", {}, {}).error();
  EXPECT_EQ(refused.family, support::Family::exhausted);
  EXPECT_EQ(refused.code, "compiler-start");
  EXPECT_NE(support::render(refused).find(behind), std::string::npos) << support::render(refused);
  EXPECT_NE(support::render(refused).find("--compiler-reads"), std::string::npos);
}

TEST_F(Toolchains, ACompilerThatDoesNotStartIsNoBugOfOurs) {
  const test_support::TemporaryDirectory directory;
  options_.compiler = directory / "cc";
  std::ofstream(options_.compiler) << "#!/nonexistent/interpreter\n";
  fs::permissions(options_.compiler, fs::perms::owner_all);
  options_.readable.push_back(directory.path());
  EXPECT_EQ(support::render(make_c_toolchain(options_)->compile_c("int x;", {}, {}).error()),
            "exhausted [compiler-start]: `" + options_.compiler + "` could not be started");
  EXPECT_EQ(support::render(make_c_toolchain(options_)->check({}).error()),
            "exhausted [compiler-start]: `" + options_.compiler + "` could not be started: `" +
                options_.compiler + " --version` does not answer");
}

TEST_F(Toolchains, TheFolderThatTmpdirWronglyNamesIsNamed) {
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ASSERT_EQ(0, setenv("TMPDIR", "/nonexistent/folder", 1));
  options_.temporary_directory = "";
  EXPECT_EQ(
      support::render(make_c_toolchain(options_)->compile_c("int x;", {}, {}).error()),
      "exhausted [temporary-directory]: no temporary directory can be made in `/nonexistent/folder`: No "
      "such file or directory\n"
      "  note: the environment variable TMPDIR names the folder; without it, it is /tmp");
  ASSERT_EQ(0, before == nullptr ? unsetenv("TMPDIR") : setenv("TMPDIR", kept.c_str(), 1));
}

TEST_F(Toolchains, IdentityTellsTargetsApart) {
  const auto toolchain = make_c_toolchain(options_);
  EXPECT_EQ(toolchain->identity({"x86-64-v3"}), toolchain->identity({"x86-64-v3"}));
  EXPECT_NE(toolchain->identity({"x86-64-v3"}), toolchain->identity({"x86-64-v4"}));
  EXPECT_NE(std::string::npos, toolchain->identity({"x86-64-v3"}).find("-march=x86-64-v3"));
}

TEST_F(Toolchains, CancelledBeforeTheStart) {
  support::Cancellation cancellation;
  cancellation.cancel();
  const auto binary = make_c_toolchain(options_)->compile_c("int x;\n", {}, cancellation);
  ASSERT_FALSE(binary.ok());
  EXPECT_EQ("cancelled", binary.error().code);
}

/// A stand-in for a compiler: a script in the test's directory.
class Script {
 public:
  Script(const fs::path& directory, const std::string& text) : path_(directory.string() + ".sh") {
    std::ofstream(path_) << "#!/bin/sh\n" << text;
    fs::permissions(path_, fs::perms::owner_all);
  }
  ~Script() { fs::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

TEST_F(Toolchains, ACompilerThatDoesNotEndIsKilledWithItsChildren) {
  const fs::path witness = directory_.path().string() + ".alive";
  const Script script(directory_.path(), "(sleep 3; touch " + witness.string() + ") &\nsleep 600\n");
  options_.compiler = script.path();
  options_.timeout_seconds = 1;
  const auto binary = make_c_toolchain(options_)->compile_c("", {}, {});
  ASSERT_FALSE(binary.ok());
  EXPECT_EQ("exhausted [compiler-timeout]: `" + script.path() + "` took more than 1 s",
            support::render(binary.error()));
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  EXPECT_FALSE(fs::exists(witness));
}

TEST_F(Toolchains, CancellationKillsTheCompiler) {
  const Script script(directory_.path(), "sleep 600\n");
  options_.compiler = script.path();
  const auto toolchain = make_c_toolchain(options_);
  const auto start = support::Cancellation::Clock::now();
  support::Cancellation cancellation(start + std::chrono::milliseconds(200));
  const auto binary = toolchain->compile_c("", {}, cancellation);
  ASSERT_FALSE(binary.ok());
  EXPECT_EQ("deadline", binary.error().code);
  EXPECT_LT(support::Cancellation::Clock::now() - start, std::chrono::seconds(8));
}

TEST_F(Toolchains, ACompilerSeesACleanEnvironmentAndNoOpenFiles) {
  const Script script(directory_.path(),
                      "env | sed 's/=.*//' | grep -v '^PWD$\\|^_$\\|^SHLVL$\\|^OLDPWD$' | sort\n"
                      "ls /proc/self/fd | wc -l\ncat\nexit 1\n");
  options_.compiler = script.path();
  ASSERT_EQ(0, setenv("LD_SCHAAS_TEST", "1", 1));
  const auto binary = make_c_toolchain(options_)->compile_c("", {}, {});
  ASSERT_FALSE(binary.ok());
  EXPECT_EQ((std::vector<std::string>{"CCACHE_DISABLE", "HOME", "LC_ALL", "PATH", "TMPDIR",
                                      "4"}),  // 0, 1, 2 and the directory that ls itself reads
            binary.error().notes);
}

TEST(ChildProcess, OutputIsBounded) {
  ChildOptions options;
  options.program = "/bin/sh";
  options.arguments = {"-c", "head -c 1000000 /dev/zero | tr '\\0' x; exit 7"};
  options.environment = {"PATH=/usr/bin:/bin"};
  options.working_directory = "/";
  options.output_bytes = 1000;
  const auto result = run_child(options, {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(std::string(1000, 'x'), result->output);
  EXPECT_EQ(7, result->exit_code);
}

TEST(ChildProcess, LimitsAreSet) {
  ChildOptions options;
  options.program = "/bin/sh";
  options.arguments = {"-c", "ulimit -t; ulimit -v; ulimit -c"};
  options.working_directory = "/";
  options.cpu_seconds = 5;
  options.memory_bytes = std::size_t{1} << 30;
  const auto result = run_child(options, {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ("5\n1048576\n0\n", result->output);
}

TEST(ChildProcess, MissingProgramExitsWith127) {
  ChildOptions options;
  options.program = "/no/such/program";
  options.working_directory = "/";
  const auto result = run_child(options, {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(127, result->exit_code);
}

TEST(CompilerOutput, TellsTheMachinesLimitsFromFaultsOfTheSource) {
  const auto code_of = [](const std::string& output, int exit_code = 1) {
    const auto error = resource_error({exit_code, false, output});
    return error ? error->code : "none";
  };
  EXPECT_EQ(code_of("kernel.c: fatal error: error writing to kernel.s: No space left on device"),
            "disk-full");
  EXPECT_EQ(code_of("ld: final link failed: File too large"), "file-size");
  EXPECT_EQ(code_of("cc1: out of memory allocating 65536 bytes after a total of 1000 bytes"),
            "compiler-memory");
  EXPECT_EQ(code_of("gcc: fatal error: Killed signal terminated program cc1"), "compiler-ended");
  EXPECT_EQ(code_of("collect2: fatal error: ld terminated with signal 15 [Terminated]"), "compiler-ended");
  EXPECT_EQ(code_of("clang: error: unable to execute command: Killed"), "compiler-ended");
  EXPECT_EQ(code_of("collect2: fatal error: ld terminated with signal 11 [Segmentation fault]"), "none");
  EXPECT_EQ(code_of("gcc: internal compiler error: Segmentation fault signal terminated program cc1"),
            "none");
  EXPECT_EQ(code_of("", 128 + SIGKILL), "compiler-ended");
  EXPECT_EQ(code_of("", 128 + SIGTERM), "compiler-ended");
  EXPECT_EQ(code_of("", 128 + SIGSEGV), "none");
  EXPECT_EQ(code_of("kernel.c:3: error: expected `;`"), "none");
}

/// The daemon may read more than its child: a link would bring out the daemon's files, a pipe hold it for
/// ever.
TEST(CompilerOutput, IsReadFromPlainFilesAlone) {
  const test_support::TemporaryDirectory directory;
  const std::string plain = directory / "plain", made = directory / "made";
  std::ofstream(plain) << "bytes";
  EXPECT_EQ(read_made_file(plain), "bytes");
  EXPECT_EQ(read_made_file(made), "");
  fs::create_symlink(plain, made);
  EXPECT_EQ(read_made_file(made), "") << "a link";
  fs::remove(made);
  fs::create_hard_link(plain, made);
  EXPECT_EQ(read_made_file(made), "") << "a second name";
  fs::remove(made);
  ASSERT_EQ(mkfifo(made.c_str(), 0600), 0);
  EXPECT_EQ(read_made_file(made), "") << "a pipe";
}

TEST(CompilerInput, IsWrittenWholeOrRefused) {
  const auto refused = write_source("/dev/full", std::string(1 << 20, ' '));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, "disk-full");
}

}  // namespace
}  // namespace schaas::toolchain
