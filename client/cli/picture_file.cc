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
// drawing from memory and writes beside the target, which is renamed when complete.
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

/// Two pixels for each unit, on white.
support::Result<void> convert(const std::string& svg, const std::string& path) {
  const int drawing = memory_file(svg);
  if (drawing < 0) return support::exhausted("memory", "there is not enough memory for the drawing");
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  // Standard input of the program is the drawing; duplicating a descriptor onto 0 clears its close-on-exec
  // flag.
  posix_spawn_file_actions_adddup2(&files, drawing, 0);
  const std::string output = "--output=" + path;
  const std::array<const char*, 6> arguments = {
      converter, "--format=png", "--zoom=2", "--background-color=white", output.c_str(), nullptr};
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, converter, &files, nullptr, const_cast<char**>(arguments.data()),
                                 environ);  // NOLINT: POSIX takes char**
  posix_spawn_file_actions_destroy(&files);
  close(drawing);
  if (error != 0) return failed("could not be started");
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return failed("could not convert the drawing");
  return {};
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
  const std::string unfinished = path + ".part";
  const auto done = convert(svg, unfinished);
  if (done.ok() && std::rename(unfinished.c_str(), path.c_str()) == 0) return {};
  unlink(unfinished.c_str());
  return done.ok() ? failed("wrote no file " + path) : done.error();
}

}  // namespace schaas::cli
