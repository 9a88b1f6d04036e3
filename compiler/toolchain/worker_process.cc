#include "compiler/toolchain/worker_process.h"

#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "compiler/toolchain/child_start.h"

// Questions and answers by lines over one socket, without blocking in either direction. Answers are read
// while a question is being sent, so that two full buffers cannot wait for each other. Time and cancellation
// are checked every 10 milliseconds. A process that fails is not talked to again; its owner starts another.
namespace schaas::toolchain {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t max_line = std::size_t{64} << 10;
constexpr int slice_ms = 10;

/// Returns the processor time that the process has taken; zero when it ended.
std::chrono::nanoseconds processor_time(pid_t pid) {
  clockid_t clock;
  timespec taken{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &taken) != 0) return {};
  return std::chrono::seconds(taken.tv_sec) + std::chrono::nanoseconds(taken.tv_nsec);
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

WorkerProcess::WorkerProcess(std::string program, pid_t pid, int channel)
    : program_(std::move(program)), pid_(pid), channel_(channel) {}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : program_(std::move(other.program_)),
      pid_(std::exchange(other.pid_, -1)),
      channel_(std::exchange(other.channel_, -1)),
      read_(std::move(other.read_)) {}

// The process is killed before its socket closes, so it never sees an end of file that it could act on.
WorkerProcess::~WorkerProcess() {
  if (pid_ > 0) end_child(pid_);
  if (channel_ >= 0) close(channel_);
}

support::Result<WorkerProcess> WorkerProcess::start(const ChildOptions& options) {
  // One socket for both ways: unlike a pipe it can be written to without a signal when nobody reads.
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return refused_by_system("a pair of sockets");
  const auto pid = start_child(options, {ends[1], ends[1], -1});
  close(ends[1]);
  if (!pid.ok()) {
    close(ends[0]);
    return pid.error();
  }
  return WorkerProcess(options.program, *pid, ends[0]);
}

support::Result<std::string> WorkerProcess::ask(const std::string& text, const Patience& patience,
                                                const support::Cancellation& cancellation) {
  const auto deadline = Clock::now() + patience.wall;
  const auto before = processor_time(pid_);
  std::size_t sent = 0;
  for (;;) {
    // A line counts only after the whole question was sent: one before it answers nothing.
    if (const std::size_t end = read_.find('\n'); sent == text.size() && end != std::string::npos) {
      std::string line = read_.substr(0, end);
      read_.erase(0, end + 1);
      return line;
    }
    if (read_.size() > max_line)
      return support::exhausted("worker-garbage", "`" + program_ + "` sent a line without an end");
    SCHAAS_RETURN_IF_ERROR(cancellation.check("a question to another process"));
    if (Clock::now() >= deadline) {
      return support::exhausted("worker-late", "`" + program_ + "` did not answer within " +
                                                   std::to_string(patience.wall.count()) + " ms");
    }
    if (patience.processor && processor_time(pid_) - before >= *patience.processor) {
      return support::exhausted("worker-busy", "`" + program_ + "` computed for more than " +
                                                   std::to_string(patience.processor->count()) + " ms");
    }
    pollfd watched{channel_, static_cast<short>(sent < text.size() ? POLLIN | POLLOUT : POLLIN), 0};
    if (poll(&watched, 1, slice_ms) <= 0) continue;
    if ((watched.revents & POLLOUT) != 0) {
      const ssize_t count =
          send(channel_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && !would_block()) break;
      sent += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
    if ((watched.revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
      char buffer[4096];
      const ssize_t count = recv(channel_, buffer, sizeof buffer, MSG_DONTWAIT);
      if (count == 0 || (count < 0 && !would_block())) break;
      if (count > 0) read_.append(buffer, static_cast<std::size_t>(count));
    }
  }
  // Reached only when the process closed its end or broke the connection.
  const int code = end_child(std::exchange(pid_, -1));
  return support::exhausted("worker-ended", "`" + program_ + "` " +
                                                (code == 127 ? "could not be started" : "ended") +
                                                " (exit code " + std::to_string(code) + ")");
}

}  // namespace schaas::toolchain
