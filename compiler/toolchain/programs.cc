#include "compiler/toolchain/programs.h"

#include <unistd.h>

#include <algorithm>
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

std::optional<support::Diagnostic> resource_error(const std::string& output) {
  const auto says = [&](const char* text) { return output.find(text) != std::string::npos; };
  if (says("No space left on device") || says("Disk quota exceeded")) return disk_full();
  if (says("File too large") || says("file too big"))
    return support::exhausted("file-size",
                              "no kernel can be compiled: a file of the compiler outgrew its limit");
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
