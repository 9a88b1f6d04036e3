#include "compiler/toolchain/isolation.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

// Four steps, each of which leaves less. no_new_privs comes first: Landlock and seccomp demand it of a
// process without privileges. Landlock then closes files, seccomp system calls; capabilities are dropped
// between the two, since a superuser's child would keep them. A mechanism that the kernel lacks is left out;
// one that it offers and refuses ends the child.
// All of this runs between vfork and exec: no allocation, no locks. Numbers and structs of Landlock are the
// kernel's own (include/uapi/linux/landlock.h), as system headers are often older.
namespace schaas::toolchain {
namespace {

// ---- Landlock, in the kernel's own terms: the system's header may be older than its kernel ----

constexpr long create_ruleset = 444, add_rule = 445, restrict_self = 446;
constexpr unsigned ask_version = 1, path_beneath = 1;

struct Ruleset {
  std::uint64_t files, network, scopes;
};
struct __attribute__((packed)) PathBeneath {
  std::uint64_t allowed;
  std::int32_t parent;
};

// Bits of access rights; those from 14 on are truncating and device calls.
constexpr std::uint64_t execute = 1, write_file = 2, read_file = 4, read_directory = 8;
constexpr std::uint64_t of_files = execute | write_file | read_file | 1U << 14 | 1U << 15;
constexpr std::uint64_t reading = execute | read_file | read_directory;
// Binding and connecting; abstract Unix sockets and signals.
constexpr std::uint64_t tcp = 3, abstract_sockets_and_signals = 3;

// Returns 0 where Landlock is missing or switched off.
int landlock_version() {
  const long version = syscall(create_ruleset, nullptr, 0, ask_version);
  return version < 0 ? 0 : static_cast<int>(version);
}

// Rights over files that a version knows: 13, then moving between folders, truncating, device calls.
std::uint64_t known_rights(int version) {
  const int count = version < 2 ? 13 : version < 3 ? 14 : version < 5 ? 15 : 16;
  return (std::uint64_t{1} << count) - 1;
}

// A rule that cannot be added only closes more.
void allow(int rules, const char* path, std::uint64_t rights) {
  const int descriptor = open(path, O_PATH | O_CLOEXEC);
  if (descriptor < 0) return;  // not everything is there on every system
  struct stat status {};
  if (fstat(descriptor, &status) == 0) {
    const bool folder = S_ISDIR(status.st_mode);
    // Rights of folders on a file would be refused as a whole.
    const PathBeneath rule{folder ? rights : rights & of_files, descriptor};
    syscall(add_rule, rules, path_beneath, &rule, 0);
  }
  close(descriptor);
}

// /proc: what belongs to processes outside is closed by Landlock itself.
constexpr const char* system_paths[] = {"/usr",
                                        "/bin",
                                        "/sbin",
                                        "/lib",
                                        "/lib32",
                                        "/lib64",
                                        "/libx32",
                                        "/opt",
                                        "/nix/store",
                                        "/gnu/store",
                                        "/proc",
                                        "/sys/devices/system/cpu",
                                        "/etc/ld.so.cache",
                                        "/etc/ld.so.preload",
                                        "/etc/alternatives"};
constexpr const char* devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};

bool restrict_files(const std::vector<std::string>& readable, const std::string& writable) {
  const int version = landlock_version();
  if (version == 0) return true;
  const std::uint64_t all = known_rights(version);
  // Rights that are handled here are denied unless a rule allows them; network has no rule at all.
  const Ruleset wanted{all, version >= 4 ? tcp : 0, version >= 6 ? abstract_sockets_and_signals : 0};
  // Passes only the fields that the version knows.
  const std::size_t bytes = version >= 6   ? sizeof wanted
                            : version >= 4 ? offsetof(Ruleset, scopes)
                                           : offsetof(Ruleset, network);
  const int rules = static_cast<int>(syscall(create_ruleset, &wanted, bytes, 0));
  if (rules < 0) return false;
  for (const char* path : system_paths) allow(rules, path, reading & all);
  for (const auto& path : readable) allow(rules, path.c_str(), reading & all);
  for (const char* device : devices) allow(rules, device, (read_file | write_file) & all);
  // A child that works in "/" writes nothing.
  if (writable != "/") allow(rules, writable.c_str(), all);
  const bool restricted = syscall(restrict_self, rules, 0) == 0;
  close(rules);
  return restricted;
}

// ---- seccomp ----

bool seccomp_offered() {
  std::uint32_t action = SECCOMP_RET_ERRNO;
  return call_filter().size != 0 && syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

bool forbid_calls(Processes processes) {
  if (!seccomp_offered()) return true;
  const CallFilter& filter = call_filter(processes);
  const sock_fprog program{filter.size, const_cast<sock_filter*>(filter.program)};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

// A superuser's child is not one: no_new_privs keeps exec from giving anything back.
bool drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3]{};
  return syscall(SYS_capset, &header, none) == 0;
}

}  // namespace

Isolation offered_isolation() {
  const int version = landlock_version();
  return {version >= 1, version >= 6, seccomp_offered()};
}

std::string print(const Isolation& isolation) {
  std::string text;
  const auto add = [&text](bool has, const char* name) {
    if (has) text += (text.empty() ? "" : ", ") + std::string(name);
  };
  add(isolation.files, "files");
  add(isolation.signals, "signals");
  add(isolation.network, "network");
  return text.empty() ? "none" : text;
}

bool isolate(const std::vector<std::string>& readable, const std::string& writable, Processes processes) {
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && restrict_files(readable, writable) &&
         drop_capabilities() && forbid_calls(processes);
}

}  // namespace schaas::toolchain
