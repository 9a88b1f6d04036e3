#include "compiler/toolchain/programs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>

// Search for programs as a shell does it, and the environment that compilers get: five variables, none of the
// user's but PATH. Messages are in the C locale, since some are read (c_toolchain.cc).
namespace schaas::toolchain {
namespace {

support::Diagnostic disk_full() {
  return support::exhausted("disk-full", "no kernel can be compiled: the disk of temporary files is full");
}

}  // namespace

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string search_path() {
  const char* path = std::getenv("PATH");
  return path != nullptr && *path != '\0' ? path : "/usr/local/bin:/usr/bin:/bin";
}

std::vector<std::string> compiler_environment(const std::string& directory) {
  return {"PATH=" + search_path(), "LC_ALL=C", "TMPDIR=" + directory, "HOME=" + directory,
          "CCACHE_DISABLE=1"};
}

std::optional<std::string> find_program(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    return access(program.c_str(), X_OK) == 0 ? std::optional(program) : std::nullopt;
  }
  const std::string path = search_path();
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string full = path.substr(begin, end - begin) + "/" + program;
    if (end > begin && access(full.c_str(), X_OK) == 0) return full;
    begin = end + 1;
  }
  return std::nullopt;
}

support::Result<void> write_source(const std::string& path, const std::string& source) {
  std::ofstream file(path, std::ios::binary);
  file << source;
  file.close();
  if (!file) return disk_full();
  return {};
}

std::string read_made_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return "";
  std::string bytes;
  struct stat status {};
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1) {
    bytes.resize(static_cast<std::size_t>(status.st_size));
    std::size_t have = 0;
    for (ssize_t got = 1; got > 0 && have < bytes.size();
         have += static_cast<std::size_t>(std::max<ssize_t>(got, 0)))
      got = read(file, bytes.data() + have, bytes.size() - have);
    bytes.resize(have);
  }
  close(file);
  return bytes;
}

std::optional<support::Diagnostic> resource_error(const ChildResult& result) {
  const auto says = [&](const char* text) { return result.output.find(text) != std::string::npos; };
  const auto failed = [](const char* code, const std::string& why) {
    return support::exhausted(code, "no kernel can be compiled: " + why);
  };
  if (says("No space left on device") || says("Disk quota exceeded")) return disk_full();
  if (says("File too large") || says("file too big"))
    return failed("file-size", "a file of the compiler outgrew its limit");
  if (says("out of memory") || says("virtual memory exhausted") || says("Cannot allocate memory"))
    return failed("compiler-memory", "the compiler needs more memory than it has");
  // gcc, its linker's wrapper and clang tell which signal ended a program of theirs; compilers themselves
  // raise neither of the two.
  const bool ended = says("Killed signal terminated program") ||
                     says("Terminated signal terminated program") || says("terminated with signal 9 ") ||
                     says("terminated with signal 15 ") || says("unable to execute command: Killed") ||
                     says("unable to execute command: Terminated");
  if (ended || result.exit_code == 128 + SIGKILL || result.exit_code == 128 + SIGTERM)
    return failed("compiler-ended", "the compiler was ended from outside, as when memory runs out");
  return std::nullopt;
}

support::Diagnostic with_output(support::Diagnostic diagnostic, const std::string& output, int lines) {
  for (std::size_t begin = 0; begin < output.size() && lines > 0; --lines) {
    const std::size_t end = std::min(output.find('\n', begin), output.size());
    diagnostic = support::noting(std::move(diagnostic), output.substr(begin, end - begin));
    begin = end + 1;
  }
  return diagnostic;
}

}  // namespace schaas::toolchain
