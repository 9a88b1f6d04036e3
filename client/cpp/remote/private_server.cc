#include "client/cpp/remote/private_server.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include "client/cpp/platform/cancelled.h"
#include "client/cpp/remote/server_address.h"
#include "compiler/support/digest.h"
#include "schaas/connection.h"

// Finds the user's own server or starts it. Clients that start one at the same time agree by an flock on a
// file in the data directory; whoever gets it looks again before it starts one. The operating system says who
// listens on a socket: a listener of another user is an error, not a server. The folder of the socket must be
// the user's alone, else another user could put a socket there first.
namespace schaas::client {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_program(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

support::Diagnostic bad_directory(const std::string& path, const std::string& why) {
  return support::invalid("data-directory", "the data directory " + path + " cannot be used: " + why);
}

support::Result<void> make_directory(const std::string& path) {
  if (path.empty()) return bad_directory("(unset)", "neither XDG_DATA_HOME nor HOME is set");
  std::error_code error;
  const bool is_new = fs::create_directories(path, error);
  if (error) return bad_directory(path, error.message());
  if (is_new) fs::permissions(path, fs::perms::owner_all, error);
  return {};
}

/// Checks that nobody else can put a socket of theirs in place of the server's. Errors: invalid
/// [socket-folder].
support::Result<void> check_socket_folder(const std::string& socket) {
  const std::string folder = fs::path(socket).parent_path().string();
  struct stat status {};
  const char* why = nullptr;
  if (stat(folder.c_str(), &status) != 0) {
    why = "it cannot be looked at";
  } else if (status.st_uid != geteuid()) {
    why = "it belongs to another user";
  } else if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    why = "others than its owner may write to it";
  }
  if (why == nullptr) return {};
  return support::noting(
      support::invalid("socket-folder", "the private server's socket cannot be in " + folder + ": " + why),
      "`chmod go-w " + folder + "`, or set XDG_RUNTIME_DIR to a folder of your own");
}

/// Returns whether the user's own server listens. Errors: unreachable [foreign-server].
support::Result<bool> own_server_answers(const std::string& socket) {
  const auto listener = listener_of(socket);
  if (!listener || *listener == geteuid()) return listener.has_value();
  return support::noting(
      support::unreachable("foreign-server", "the user " + std::to_string(*listener) + " listens on " +
                                                 socket + ", where the private server of user " +
                                                 std::to_string(geteuid()) +
                                                 " belongs; nothing was sent to it"),
      "name a server of others with SCHAAS_SERVER or --server");
}

/// An flock that ends with the value.
class StartLock {
 public:
  static support::Result<StartLock> take(const std::string& directory, Clock::time_point deadline,
                                         const std::stop_token& stop) {
    const std::string path = directory + "/start.lock";
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return bad_directory(directory, std::string("start.lock: ") + std::strerror(errno));
    StartLock lock(file);
    // flock has no time limit; trying again every 20 ms lets a stop or the deadline end the wait.
    while (flock(file, LOCK_EX | LOCK_NB) != 0) {
      if (stop.stop_requested()) return cancelled();
      if (Clock::now() > deadline) {
        return support::exhausted(
            "deadline",
            "another client has been starting the private server for too long; its lock is " + path);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return lock;
  }
  StartLock(StartLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  StartLock& operator=(StartLock&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~StartLock() {
    if (file_ >= 0) close(file_);
  }

 private:
  explicit StartLock(int file) : file_(file) {}
  int file_;
};

// The end of a file, without its last newlines.
std::string last_lines(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  file.seekg(0, std::ios::end);
  const std::streamoff size = file.tellg();
  file.seekg(std::max<std::streamoff>(0, size - 2000));
  std::stringstream text;
  text << file.rdbuf();
  std::string tail = text.str();
  while (!tail.empty() && tail.back() == '\n') tail.pop_back();
  return tail;
}

support::Diagnostic did_not_start(const std::string& program, const std::string& directory,
                                  const std::string& why) {
  support::Diagnostic d =
      support::unreachable("server-start", "the private server " + program + " did not start: " + why);
  std::string tail = last_lines(directory + "/schaasd.out");
  if (tail.empty()) tail = last_lines(directory + "/schaasd.log");
  if (!tail.empty()) d = support::noting(std::move(d), "it said: " + tail);
  return support::noting(std::move(d), "its files are in " + directory);
}

// Starts the server in a session of its own, so that it outlives this process and the terminal's signals do
// not reach it. posix_spawn is safe in programs with threads, where fork is not.
std::optional<pid_t> spawn(const std::string& program, const std::string& directory,
                           const std::string& socket) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  const std::string output = directory + "/schaasd.out";
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawn_file_actions_addclosefrom_np(&files, 3);  // open files of the program are not the server's
  sigset_t no_signal;  // this process may block some; the server must get them all
  sigemptyset(&no_signal);
  posix_spawnattr_setsigmask(&attributes, &no_signal);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  const std::string listen = "unix:" + socket;
  std::array<const char*, 7> arguments = {program.c_str(), "--private",    "--data-dir", directory.c_str(),
                                          "--listen",      listen.c_str(), nullptr};
  pid_t pid = 0;
  const int error = posix_spawn(&pid, program.c_str(), &files, &attributes,
                                const_cast<char**>(arguments.data()), environ);  // NOLINT: POSIX takes char**
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) return std::nullopt;
  return pid;
}

std::string ending_text(int status) {
  if (WIFSIGNALED(status)) return "it was ended by signal " + std::to_string(WTERMSIG(status));
  return "it exited with status " + std::to_string(WEXITSTATUS(status));
}

constexpr int exit_unreachable =
    5;  // the daemon's exit status while a stopping server still holds the directory

// Starts the program until one listens. A server that is just stopping holds the directory for a moment: try
// again.
support::Result<bool> start(const std::string& program, const std::string& directory,
                            const std::string& socket, Clock::time_point deadline,
                            const std::stop_token& stop) {
  while (true) {
    const std::optional<pid_t> pid = spawn(program, directory, socket);
    if (!pid) return did_not_start(program, directory, std::strerror(errno));
    int status = 0;
    // The server is ready when somebody of this user accepts connections.
    while (waitpid(*pid, &status, WNOHANG) == 0) {
      SCHAAS_ASSIGN_OR_RETURN(const bool answers, own_server_answers(socket));
      if (answers) return true;
      if (stop.stop_requested()) return cancelled();
      if (Clock::now() > deadline) {
        kill(*pid, SIGTERM);
        return did_not_start(program, directory, "it did not listen in time");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    // The server may have ended because another one was faster.
    SCHAAS_ASSIGN_OR_RETURN(const bool answers, own_server_answers(socket));
    if (answers) return false;  // another server listens there
    const bool may_retry = WIFEXITED(status) && WEXITSTATUS(status) == exit_unreachable;
    if (!may_retry || Clock::now() > deadline) return did_not_start(program, directory, ending_text(status));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

// A copy of the library in memory has no file: the loading side says which one it was made from.
std::string& noted_file() {
  static std::string path;
  return path;
}

/// The file that this code was loaded from; "" when nobody can say.
std::string library_file() {
  if (!noted_file().empty()) return noted_file();
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&library_file), &info) == 0 || info.dli_fname == nullptr)
    return "";
  return info.dli_fname;
}

}  // namespace

void note_library_file(const std::string& path) { noted_file() = path; }

support::Result<std::string> server_program() {
  if (const std::string named = environment("SCHAAS_SERVER_BINARY"); !named.empty()) {
    if (is_program(named)) return named;
    return support::unreachable("server-program",
                                "SCHAAS_SERVER_BINARY is " + named + ", which is no program");
  }
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (!error && is_program((self.parent_path() / "schaasd").string()))
    return (self.parent_path() / "schaasd").string();
  // A program that has loaded the library: beside it, or where an installation has its programs.
  if (const std::string file = library_file(); !file.empty()) {
    const fs::path library = fs::weakly_canonical(file, error);
    for (const char* folder : {"", "../bin", "../../bin"}) {
      const fs::path program = (library.parent_path() / folder / "schaasd").lexically_normal();
      if (!error && is_program(program.string())) return program.string();
    }
  }
  std::istringstream folders(environment("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.empty() && is_program(folder + "/schaasd")) return folder + "/schaasd";
  }
  return support::noting(
      support::unreachable("server-program", "there is no program `schaasd` beside this one or on PATH"),
      "set SCHAAS_SERVER_BINARY to it, or SCHAAS_SERVER to a running server");
}

std::string private_socket_path(const std::string& data_directory) {
  std::error_code error;
  const std::string directory = fs::absolute(data_directory, error).lexically_normal().string();
  const std::string runtime = environment("XDG_RUNTIME_DIR");
  if (!runtime.empty() && fs::is_directory(runtime, error)) {
    // The digest keeps servers of several data directories apart, within the length that a socket's path may
    // have.
    return runtime + "/schaas-" + support::digest_of(directory).sha256.substr(0, 16) + ".sock";
  }
  return directory + "/schaasd.sock";
}

support::Result<bool> ensure_private_server(const std::string& data_directory,
                                            std::chrono::milliseconds limit, const std::stop_token& stop) {
  const auto deadline = Clock::now() + limit;
  SCHAAS_RETURN_IF_ERROR(make_directory(data_directory));
  const std::string socket = private_socket_path(data_directory);
  SCHAAS_RETURN_IF_ERROR(check_socket_path(socket));
  SCHAAS_RETURN_IF_ERROR(check_socket_folder(socket));
  SCHAAS_ASSIGN_OR_RETURN(const bool answers, own_server_answers(socket));
  if (answers) return false;
  SCHAAS_ASSIGN_OR_RETURN(const std::string program, server_program());
  SCHAAS_ASSIGN_OR_RETURN(const StartLock lock, StartLock::take(data_directory, deadline, stop));
  SCHAAS_ASSIGN_OR_RETURN(const bool answers_now, own_server_answers(socket));
  if (answers_now) return false;
  return start(program, data_directory, socket, deadline, stop);
}

}  // namespace schaas::client
