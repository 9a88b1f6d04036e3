#include "compiler/toolchain/child_user.h"

#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "compiler/toolchain/child_start.h"

// The numbers are used in turn, so that children side by side seldom share one. Those that do are kept apart
// by Landlock alone. Some superusers cannot change users: they lack capabilities, as in some containers, or
// their user namespace lacks the numbers. Their children keep the user.
namespace schaas::toolchain {
namespace {

namespace fs = std::filesystem;

bool has_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
  if (syscall(SYS_capget, &header, data) != 0) return false;
  // The last two: to end the child, and to read what it made.
  constexpr std::uint32_t needed =
      1U << CAP_SETUID | 1U << CAP_SETGID | 1U << CAP_CHOWN | 1U << CAP_KILL | 1U << CAP_DAC_OVERRIDE;
  return (data[0].effective & needed) == needed;
}

// Reads a map of a user namespace: lines of first number, number outside, count.
bool has_numbers(const char* map) {
  std::ifstream file(map);
  std::uint64_t first = 0, outside = 0, count = 0;
  while (file >> first >> outside >> count) {
    if (first <= first_child_user && last_child_user < first + count) return true;
  }
  return false;
}

bool may_set_groups() {
  std::string word;
  std::ifstream("/proc/self/setgroups") >> word;
  return word != "deny";
}

bool may_change_users() {
  static const bool may = geteuid() == 0 && has_capabilities() && may_set_groups() &&
                          has_numbers("/proc/self/uid_map") && has_numbers("/proc/self/gid_map");
  return may;
}

bool has_modes(const fs::path& path, mode_t modes) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && (status.st_mode & modes) == modes;
}

// Tells whether everybody can reach the path.
bool is_reachable(const fs::path& path) {
  for (fs::path folder = path.parent_path(); folder != folder.parent_path(); folder = folder.parent_path()) {
    if (!has_modes(folder, S_IXOTH)) return false;
  }
  return true;
}

bool is_open_to_all(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return true;  // nobody reads what is not there
  return is_reachable(real) && has_modes(real, fs::is_directory(real, error) ? S_IROTH | S_IXOTH : S_IROTH);
}

}  // namespace

std::optional<uid_t> next_child_user(const ChildOptions& options) {
  static std::atomic<unsigned> next{0};
  if (!may_change_users() || !is_open_to_all(options.program)) return std::nullopt;
  for (const auto& path : options.readable) {
    if (!is_open_to_all(path)) return std::nullopt;
  }
  if (!is_reachable(fs::absolute(options.working_directory))) return std::nullopt;
  return first_child_user + next++ % (last_child_user - first_child_user + 1);
}

support::Result<void> give_directory(const std::string& path, uid_t user) {
  std::error_code error;
  if (lchown(path.c_str(), user, user) != 0) return refused_by_system("a directory of another user");
  for (const auto& entry : fs::recursive_directory_iterator(path, error)) {
    // A file with a second name may belong elsewhere.
    if (entry.is_regular_file(error) && entry.hard_link_count(error) != 1) continue;
    if (lchown(entry.path().c_str(), user, user) != 0) return refused_by_system("a file of another user");
  }
  return {};
}

// The C library's functions would change the user of all threads of the daemon, whose memory the new process
// still shares.
bool become_user(uid_t user) {
  return syscall(SYS_setgroups, 0, nullptr) == 0 && syscall(SYS_setresgid, user, user, user) == 0 &&
         syscall(SYS_setresuid, user, user, user) == 0;
}

std::size_t max_child_processes() { return 256 + std::size_t{4} * std::thread::hardware_concurrency(); }

}  // namespace schaas::toolchain
