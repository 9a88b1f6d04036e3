// schaasd as a process: its command line, signals, locks, and sudden death.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/service/certificates.h"
#include "tests/service/service_client.h"
#include "tests/support/temporary_directory.h"

namespace schaas {
namespace {

// A running schaasd whose output is read through a pipe. Killed at the end when it still runs.
class Process {
 public:
  explicit Process(std::vector<std::string> arguments, rlim_t address_space = RLIM_INFINITY) {
    arguments.insert(arguments.begin(), SCHAAS_BINARY_DIR "/schaasd");
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      dup2(ends[1], STDERR_FILENO);
      std::vector<char*> argv;
      for (auto& argument : arguments) argv.push_back(argument.data());
      argv.push_back(nullptr);
      const rlimit limit{address_space, address_space};
      setrlimit(RLIMIT_AS, &limit);
      execv(argv[0], argv.data());
      _exit(127);
    }
    close(ends[1]);
    output_ = ends[0];
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (pid_ > 0) kill(pid_, SIGKILL), wait();
    close(output_);
  }

  /// Reads output until `text` has come; false when it ended before.
  bool says(const std::string& text) {
    while (said_.find(text) == std::string::npos) {
      char buffer[512];
      const ssize_t got = read(output_, buffer, sizeof buffer);
      if (got <= 0) return false;
      said_.append(buffer, static_cast<std::size_t>(got));
    }
    return true;
  }
  /// Returns the whole output after the process has ended.
  const std::string& said() {
    says(std::string("\x01never said"));
    return said_;
  }
  void signal(int number) const { kill(pid_, number); }
  /// Returns the exit status, or 128 + the signal that ended the process.
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_ = -1;
  int output_ = -1;
  std::string said_;
};

class DaemonProcess : public testing::Test {
 protected:
  std::vector<std::string> arguments(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"--data-dir", data_});
    return more;
  }
  test_support::TemporaryDirectory directory_;
  std::string data_ = directory_ / "data";
  std::string address_ = "unix:" + data_ + "/schaasd.sock";
};

v1::ScheduleRequest chain() {
  v1::ScheduleRequest request;
  request.mutable_problem()->set_expression("A(i,l) = B(i,j) * C(j,k) * D(k,l)");
  (*request.mutable_problem()->mutable_formats())["B"] = "csr";
  request.set_isa("x86-64-v2");
  request.add_traces("linear");
  return request;
}

int run(const std::vector<std::string>& arguments, std::string& said) {
  Process process(arguments);
  said = process.said();
  return process.wait();
}

TEST_F(DaemonProcess, RefusesAnAddressSpaceInWhichNoThreadStarts) {
  Process process(arguments(), rlim_t{160} << 20);
  EXPECT_EQ(process.said(),
            "schaasd: exhausted [address-space]: the address space is limited to 160 MiB; schaasd needs at "
            "least 256\n  note: raise the limit: ulimit -v, LimitAS=\n");
  EXPECT_EQ(process.wait(), 4);
}

TEST(CommandLine, PrintsItsVersionAndItsOptions) {
  std::string said;
  EXPECT_EQ(run({"--version"}, said), 0);
  EXPECT_THAT(said, testing::MatchesRegex("schaasd [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_EQ(run({"--help"}, said), 0);
  for (const std::string option :
       {"--listen", "--data-dir", "--private", "--idle-seconds", "--log-level", "--config"}) {
    EXPECT_THAT(said, testing::HasSubstr(option));
  }
}

TEST(CommandLine, RefusesUnknownOptions) {
  std::string said;
  EXPECT_EQ(run({"--prot", "1"}, said), 2);
  EXPECT_EQ(said,
            "schaasd: invalid [command-line]: The following arguments were not expected: 1 --prot\n"
            "  note: schaasd --help lists the options\n");
  EXPECT_EQ(run({"--data-dir", "/dev/null/x"}, said), 2);
  EXPECT_THAT(said, testing::HasSubstr("cannot create the data directory `/dev/null/x`: Not a directory"));
  EXPECT_EQ(run({"--private", "--listen", "127.0.0.1:0"}, said), 2);
  EXPECT_EQ(said,
            "schaasd: invalid [command-line]: a --private daemon listens on Unix sockets only, not on "
            "`127.0.0.1:0`\n");
}

TEST_F(DaemonProcess, ServesAndStopsOnSigterm) {
  Process process(arguments());
  ASSERT_TRUE(process.says("listening on " + address_ + "\n"));
  EXPECT_TRUE(test::ServiceClient(address_).schedule(chain()).ok());
  process.signal(SIGTERM);
  const std::string sender = std::to_string(::getpid()) + ", user " + std::to_string(::getuid());
  EXPECT_THAT(process.said(), testing::AllOf(testing::HasSubstr("signal 15 of process " + sender),
                                             testing::HasSubstr("stopped")));
  EXPECT_EQ(process.wait(), 0);
}

TEST_F(DaemonProcess, WritesOneSummaryLinePerRequest) {
  Process process(arguments());
  ASSERT_TRUE(process.says("listening on " + address_ + "\n"));
  test::ServiceClient client(address_);
  const auto answer = client.schedule(chain());
  ASSERT_TRUE(answer.ok()) << answer.refusal.text();
  client.download("nonsense");
  process.signal(SIGINT);
  std::istringstream lines(process.said());
  std::vector<std::string> summaries;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" request id=") != std::string::npos) summaries.push_back(line);
  }
  ASSERT_EQ(summaries.size(), 2u);
  EXPECT_THAT(summaries[0], testing::MatchesRegex(".*Z info request id=[0-9a-f]+-0 method=Schedule key=" +
                                                  answer.frontier->key().substr(0, 12) +
                                                  " hit=0 compiled=[0-9]+ failed=0 compile_seconds=[0-9.]+ "
                                                  "seconds=[0-9.]+ outcome=ok"));
  EXPECT_THAT(summaries[1], testing::MatchesRegex(".* method=Download key=- sha256=\\? seconds=[0-9.]+ "
                                                  "outcome=wrong-digest"));
  EXPECT_EQ(process.wait(), 0);
}

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

TEST(ExampleConfiguration, EqualsDefaults) {
  const std::string example = SCHAAS_SOURCE_DIR "/deploy/schaasd.toml";
  std::string without, with;
  EXPECT_EQ(run({"--print-config"}, without), 0);
  EXPECT_EQ(run({"--config", example, "--print-config"}, with), 0);
  EXPECT_EQ(with, without);
  const std::string text = "\n" + contents(example);
  std::istringstream lines(without);
  for (std::string line; std::getline(lines, line);) {
    const std::string option = line.substr(0, line.find('=') + 1);  // "# listen =" has no value by itself
    EXPECT_NE(text.find("\n" + option), std::string::npos) << option << " is not in the example";
  }
  std::string said;
  EXPECT_EQ(run({"--config", example, "--check-config"}, said), 0);
  EXPECT_EQ(said, "the configuration is valid\n");
}

TEST_F(DaemonProcess, LocatesMistakesInItsConfigurationFile) {
  const std::string file = directory_ / "schaasd.toml";
  std::string said;
  write(file, "# all our users\nlisten = [\"unix:/tmp/a\",\n  \"unix:/tmp/b\"]\n  thread = 8\n");
  EXPECT_EQ(run({"--config", file}, said), 2);
  EXPECT_EQ(said,
            "schaasd: invalid [configuration]: unknown option `thread`; did you mean `threads`?\n  --> " +
                file + ":4:3\n  |   thread = 8\n  |   ^~~~~~\n");
  write(file, "threads = 3 # too few\n");
  EXPECT_EQ(run({"--config", file}, said), 2);
  EXPECT_EQ(said, "schaasd: invalid [configuration]: --threads: Value 3 not in range 8 to 4096\n  --> " +
                      file + ":1:1\n  | threads = 3 # too few\n  | ^~~~~~~\n");
  write(file, "log-level = \"inof\"\n");
  EXPECT_EQ(run({"--config", file, "--check-config"}, said), 2);
  EXPECT_EQ(said,
            "schaasd: invalid [log-level]: unknown log level `inof`; expected trace, debug, info, warning, "
            "error or "
            "off; did you mean `info`?\n  --> " +
                file + ":1:1\n  | log-level = \"inof\"\n  | ^~~~~~~~~\n");
  write(file, "threads = 8\n\nthreads = 9\n");
  EXPECT_EQ(run({"--config", file}, said), 2);
  EXPECT_EQ(said, "schaasd: invalid [configuration]: `threads` was given in line 1 already\n  --> " + file +
                      ":3:1\n  | threads = 9\n  | ^~~~~~~\n");
  write(file, "[schaasd]\n");
  EXPECT_EQ(run({"--config", file}, said), 2);
  EXPECT_EQ(
      said,
      "schaasd: invalid [configuration]: sections are not used here; expected `option = value`\n  --> " +
          file + ":1:1\n  | [schaasd]\n  | ^~~~~~~~~\n");
  EXPECT_EQ(run({"--config", directory_ / "none"}, said), 2);
  EXPECT_EQ(said, "schaasd: invalid [configuration]: cannot read the configuration file `" +
                      (directory_ / "none") + "`: No such file or directory\n");
}

// The check reports what would end a start, in the same words, and creates nothing.
TEST_F(DaemonProcess, ChecksItsConfigurationBeforeTheStart) {
  const test::Certificates certificates("ours");
  const std::string tokens = directory_ / "tokens", wrong = directory_ / "wrong", none = directory_ / "none";
  write(tokens, "me " + std::string(64, '0') + " scopes=read\n");
  write(wrong, "me 0 scopes=read\n");
  for (const auto& file : {tokens, wrong}) chmod(file.c_str(), 0600);
  using Options = std::vector<std::string>;
  const std::string certificate = certificates.authority(), key = certificates.key("ours");
  for (const auto& [options, said] : std::vector<std::pair<Options, std::string>>{
           {{"--listen", "0.0.0.0:0"}, "[insecure-listen]: `0.0.0.0:0` can be reached from other machines"},
           {{"--tokens", none}, "[tokens]: the tokens file `" + none + "` cannot be read"},
           {{"--tokens", wrong}, "[tokens]: the token of `me` must be given by its SHA-256"},
           {{"--tls-cert", none, "--tls-key", key}, "[tls]: the certificate `" + none + "` cannot be read"},
           {{"--tls-cert", certificate}, "[tls]: TLS needs both a certificate (--tls-cert) and its key"},
           {{"--tls-cert", certificate, "--tls-key", key, "--tls-client-ca", tokens},
            "[tls]: the authority of clients `" + tokens + "` is no certificate in PEM"},
           {{"--signing-key", none + "/key"}, "[signing-key]: cannot make the signing key"},
           {{"--signing-key", tokens}, "[signing-key]: `" + tokens + "` is "},
           {{"--log-file", directory_.path()}, "[log-file]: cannot write the log file"},
           {{"--listen", "unix:" + none + "/s"}, "[listen]: cannot listen on `unix:" + none + "/s`"},
           {{"--listen", "unix:" + tokens}, "there is a file of this name that is no socket"},
           {{"--http", "0.0.0.0:0"}, "[http]: cannot serve HTTP on `0.0.0.0:0`"},
           {{"--data-dir", tokens + "/data"}, "[data-directory]: cannot create the data directory"},
           {{"--data-dir", "/proc/data"}, "[data-directory]: `/proc` keeps no files"}}) {
    Options all = options;
    if (options.front() != "--data-dir") all = arguments(options);
    std::string checked, started;
    EXPECT_EQ(run(all, started), 2) << said;
    EXPECT_THAT(started, testing::HasSubstr(said));
    all.push_back("--check-config");
    EXPECT_EQ(run(all, checked), 2) << said;
    EXPECT_THAT(checked, testing::HasSubstr("schaasd: invalid ")) << said;
    EXPECT_THAT(checked, testing::HasSubstr(said));
  }
  EXPECT_NE(access(data_.c_str(), F_OK), 0) << "the check has made the data directory";
  const Options right = arguments({"--listen", "0.0.0.0:0", "--tls-cert", certificate, "--tls-key", key,
                                   "--tls-client-ca", certificate, "--tokens", tokens});
  Options check = right;
  check.push_back("--check-config");
  std::string said;
  EXPECT_EQ(run(check, said), 0);
  EXPECT_EQ(said, "the configuration is valid\n");
  EXPECT_NE(access(data_.c_str(), F_OK), 0) << "the check has made the data directory";
  Process process(right);
  ASSERT_TRUE(process.says("listening on ")) << process.said();
  EXPECT_EQ(run(check, said), 0) << "beside the daemon that runs: " << said;
}

TEST_F(DaemonProcess, PrefersTheCommandLineToTheFile) {
  const std::string file = directory_ / "schaasd.toml";
  write(file, "threads = 9\nsearches = 5\n");
  std::string said;
  EXPECT_EQ(run({"--config", file, "--threads", "12", "--print-config"}, said), 0);
  EXPECT_THAT(said, testing::HasSubstr("threads = 12\n"));
  EXPECT_THAT(said, testing::HasSubstr("searches = 5\n"));
}

TEST_F(DaemonProcess, ReloadsItsConfigurationOnSighup) {
  const std::string file = directory_ / "schaasd.toml";
  write(file, "log-level = \"warning\"\nthreads = 8\n");
  Process process(arguments({"--config", file}));
  ASSERT_TRUE(process.says("listening on "));
  write(file, "log-level = \"inof\"\n");
  process.signal(SIGHUP);
  EXPECT_TRUE(process.says("reload failed, options unchanged: invalid [log-level]"));
  write(file, "log-level = \"info\"\nthreads = 9\n");
  process.signal(SIGHUP);
  EXPECT_TRUE(process.says("reload: threads = 9 takes effect at the next start"));
  EXPECT_TRUE(process.says("reloaded"));  // logged at level info
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait(), 0);
}

TEST_F(DaemonProcess, ReloadsItsTokensOnSighup) {
  const std::string file = directory_ / "tokens";
  const auto write_tokens = [&](const std::string& text) {
    std::ofstream(file) << text;
    chmod(file.c_str(), 0600);
  };
  write_tokens("me " + std::string(64, '0') + " scopes=read\n");
  Process process(arguments({"--tokens", file}));
  ASSERT_TRUE(process.says("listening on "));
  write_tokens("me 0 scopes=read\n");
  process.signal(SIGHUP);
  EXPECT_TRUE(
      process.says("reload failed, tokens unchanged: invalid [tokens]: the token of `me` must be given by"));
  write_tokens("");
  process.signal(SIGHUP);
  EXPECT_TRUE(process.says("reloaded"));
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait(), 0);
}

TEST_F(DaemonProcess, PrintsATokenWithItsLine) {
  std::string said;
  EXPECT_EQ(run({"--new-token", "me@here"}, said), 0);
  EXPECT_THAT(said, testing::MatchesRegex(
                        "the token, [^\n]*\nschaas_[0-9a-f]{64}\nthe line [^\n]*\nme@here [0-9a-f]{64} "
                        "scopes=read,schedule,report\n"));
  EXPECT_EQ(run({"--new-token", "a b"}, said), 2);
  EXPECT_THAT(said, testing::HasSubstr("invalid [tokens]: `a b` is no name of a token"));
}

TEST_F(DaemonProcess, NotifiesItsServiceManager) {
  const std::string path = directory_ / "notify";
  const int manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(manager, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const auto heard = [&] {
    char text[64];
    const ssize_t got = recv(manager, text, sizeof text, 0);
    return std::string(text, got > 0 ? static_cast<std::size_t>(got) : 0);
  };
  setenv("NOTIFY_SOCKET", path.c_str(), 1);
  Process process(arguments());
  unsetenv("NOTIFY_SOCKET");
  EXPECT_EQ(heard(), "READY=1");
  process.signal(SIGHUP);
  EXPECT_EQ(heard(), "RELOADING=1");
  EXPECT_EQ(heard(), "READY=1");
  process.signal(SIGTERM);
  EXPECT_EQ(heard(), "STOPPING=1");
  EXPECT_EQ(process.wait(), 0);
  close(manager);
}

TEST_F(DaemonProcess, RefusesALockedDataDirectory) {
  Process first(arguments());
  ASSERT_TRUE(first.says("listening on "));
  std::string said;
  EXPECT_EQ(run(arguments({"--log-level", "off"}), said), 5);
  EXPECT_THAT(said,
              testing::MatchesRegex("schaasd: unreachable \\[data-directory-in-use\\]: the data directory `" +
                                    data_ + "` is in use by another schaasd \\(process [0-9]+\\)\n.*"));
}

// A damaged cache is recreated; damaged jobs are refused.
TEST_F(DaemonProcess, RecreatesADamagedCacheAndRefusesDamagedJobs) {
  const auto stop = [](Process& process) {
    process.signal(SIGTERM);
    process.said();
    EXPECT_EQ(process.wait(), 0);
  };
  {
    Process process(arguments());
    ASSERT_TRUE(process.says("listening on "));
    EXPECT_TRUE(test::ServiceClient(address_).schedule(chain()).ok());
    stop(process);
  }
  const std::string schedules = data_ + "/schedules.db", jobs = data_ + "/jobs.db";
  const std::string garbage(8192, 'x');
  write(schedules, garbage);
  {
    Process process(arguments());
    ASSERT_TRUE(process.says("recreating the schedule database, the damaged one is kept as " + schedules +
                             ".damaged: invalid [damaged-database]"));
    ASSERT_TRUE(process.says("listening on "));
    EXPECT_EQ(contents(schedules + ".damaged"), garbage);
    const auto answer = test::ServiceClient(address_).schedule(chain());
    EXPECT_TRUE(answer.ok()) << answer.refusal.text();
    EXPECT_FALSE(answer.done->hit());
    stop(process);
  }
  write(jobs, garbage);
  std::string said;
  EXPECT_EQ(run(arguments({"--log-level", "off"}), said), 2);
  EXPECT_THAT(said,
              testing::HasSubstr("invalid [damaged-database]: `" + jobs + "` is not a sound job database"));
  EXPECT_EQ(contents(jobs), garbage) << "it was touched";
}

TEST_F(DaemonProcess, RecoversFromSuddenDeathWhileCompiling) {
  {
    Process victim(arguments());
    ASSERT_TRUE(victim.says("listening on "));
    test::ServiceClient client(address_);
    grpc::ClientContext context;
    const auto reader = client.stub().Schedule(&context, chain());
    v1::ScheduleEvent event;
    while (reader->Read(&event) && !event.has_frontier()) {
    }
    ASSERT_TRUE(event.has_frontier());
    victim.signal(SIGKILL);
    EXPECT_EQ(victim.wait(), 128 + SIGKILL);
    while (reader->Read(&event)) {
    }
    EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  }
  Process again(arguments());
  ASSERT_TRUE(again.says("listening on "));
  test::ServiceClient client(address_);
  const auto answer = client.schedule(chain());
  ASSERT_TRUE(answer.ok()) << answer.refusal.text();
  for (const auto& kernel : answer.kernels) {
    EXPECT_EQ(client.download(kernel.digest().sha256()).first.size(), kernel.digest().bytes());
  }
  v1::VerifyCacheReply report;
  EXPECT_EQ(client.call(&v1::Scheduler::Stub::VerifyCache, v1::VerifyCacheRequest(), report).status,
            grpc::StatusCode::OK);
  EXPECT_EQ(report.damaged_size(), 0);
  EXPECT_EQ(report.missing(), 0u);
  EXPECT_TRUE(client.schedule(chain()).done->hit());
}

TEST_F(DaemonProcess, DetachesLogsAndExitsWhenIdleIfPrivate) {
  Process process(arguments({"--private", "--idle-seconds", "1"}));
  EXPECT_EQ(process.said(), "listening on " + address_ + "\n");  // its output is closed though it runs on
  EXPECT_TRUE(test::ServiceClient(address_).schedule(chain()).ok());
  EXPECT_EQ(process.wait(), 0);
  std::ifstream log(data_ + "/schaasd.log");
  const std::string text((std::istreambuf_iterator<char>(log)), std::istreambuf_iterator<char>());
  EXPECT_THAT(text,
              testing::AllOf(testing::HasSubstr("method=Schedule"), testing::HasSubstr("idle for 1 s")));
}

}  // namespace
}  // namespace schaas
