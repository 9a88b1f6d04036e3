#include "client/cli/picture_file.h"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "schaas/tensor_files.h"

// Drawings as SVG, and as pictures in points by a program that is found on PATH. The program reads the
// drawing from memory and writes to memory; the target appears complete or not at all (write_text).
namespace schaas::cli {
namespace {

constexpr const char* converter = "rsvg-convert";

bool is_on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.empty() && access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

support::Diagnostic failed(const std::string& what) {
  return support::internal("picture-program", std::string(converter) + " " + what);
}

/// A file in memory, at its beginning; -1 when there is no memory.
int memory_file(const std::string& text) {
  const int file = memfd_create("schaas-drawing", MFD_CLOEXEC);
  if (file < 0) return -1;
  if (write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      lseek(file, 0, SEEK_SET) == 0)
    return file;
  close(file);
  return -1;
}

/// Returns all of a file in memory, whatever its offset is.
std::string contents_of(int file) {
  std::string bytes;
  std::array<char, 65536> block{};
  for (ssize_t got = 1; got > 0;) {
    got = pread(file, block.data(), block.size(), static_cast<off_t>(bytes.size()));
    if (got > 0) bytes.append(block.data(), static_cast<std::size_t>(got));
  }
  return bytes;
}

/// Converts a drawing, two pixels for each unit, on white. The program reads and writes files in memory: an
/// interrupt leaves nothing behind.
support::Result<std::string> convert(const std::string& svg) {
  const int drawing = memory_file(svg), picture = memory_file("");
  if (drawing < 0 || picture < 0) {
    close(drawing);
    return support::exhausted("memory", "there is not enough memory for the drawing");
  }
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  // Duplicating a descriptor onto 0 or 1 clears its close-on-exec flag.
  posix_spawn_file_actions_adddup2(&files, drawing, 0);
  posix_spawn_file_actions_adddup2(&files, picture, 1);
  const std::array<const char*, 5> arguments = {converter, "--format=png", "--zoom=2",
                                                "--background-color=white", nullptr};
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, converter, &files, nullptr, const_cast<char**>(arguments.data()),
                                 environ);  // NOLINT: POSIX takes char**
  posix_spawn_file_actions_destroy(&files);
  close(drawing);
  int status = 0;
  const bool ended = error == 0 && waitpid(pid, &status, 0) == pid;
  std::string bytes = ended ? contents_of(picture) : "";
  close(picture);
  if (error != 0) return failed("could not be started");
  if (!ended || !WIFEXITED(status) || WEXITSTATUS(status) != 0 || bytes.empty())
    return failed("could not convert the drawing");
  return bytes;
}

}  // namespace

// Checks before the search that the drawing can be written in the form asked for.
support::Result<void> check_picture(const std::string& path) {
  if (!path.ends_with(".svg") && !path.ends_with(".png"))
    return support::invalid("file-ending", "`-o " + path + "`: a plot is written as .svg or .png");
  if (path.ends_with(".png") && !is_on_path(converter)) {
    return support::noting(
        support::unsupported("picture-program", "`-o " + path +
                                                    "`: pictures in points are made by the program `" +
                                                    converter + "`, which is not on PATH"),
        "install it (Debian: librsvg2-bin), or write a drawing, .svg");
  }
  return client::check_writable(path);
}

support::Result<void> write_picture(const std::string& path, const std::string& svg) {
  if (path.ends_with(".svg")) return client::write_text(path, svg);
  SCHAAS_ASSIGN_OR_RETURN(const std::string bytes, convert(svg));
  return client::write_text(path, bytes);
}

}  // namespace schaas::cli
