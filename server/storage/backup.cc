#include "server/storage/backup.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "kernels_cache/file_system.h"
#include "kernels_cache/schedule_store_database.h"

// Backups without stopping, and restores that a crash cannot spoil. Databases are copied as of one instant
// each, rows before binaries: a surplus binary is harmless. Binaries are linked, since they are never changed
// in place. A backup is made under a hidden name and renamed when it is whole.
// A restore copies everything beside the present content and renames the copy when it is whole: that is the
// point of no return. Then parts replace what is there one by one. A part that is no longer in the copy has
// been installed, so whoever opens the folder next can go on from any point (install_copy).
namespace schaas::server {
namespace {

namespace fs = std::filesystem;
using support::Diagnostic;
using support::Result;

/// Parts of a data directory that are copied; the rest belongs to a running daemon.
constexpr std::array backup_parts = {"schedules.db", "jobs.db", "signing.key", "binaries"};

/// Folders of a restore: what was there before; the copy of a backup as it is made, and once it is whole.
constexpr const char* before_restore = "before-restore";
constexpr const char* copying = ".restored";
constexpr const char* copied = ".restored-whole";

Diagnostic cannot(const std::string& doing, const fs::path& path, const std::error_code& error) {
  return kernels_cache::file_error(doing + " `" + path.string() + "`", error.value());
}

/// A name becomes a folder: no separators, and no dot first, which marks partial ones.
Result<void> check_name(const std::string& name) {
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_';
  };
  if (!name.empty() && name.size() <= 64 && name[0] != '.' && std::all_of(name.begin(), name.end(), allowed))
    return {};
  return support::invalid(
      "backup-name",
      "a backup's name must be 1 to 64 letters, digits, dots, dashes and underscores, with no dot first");
}

// Links each file of `from` and its folders; copies it on another file system.
Result<void> link_all(const fs::path& from, const fs::path& to, BackedUp& count) {
  std::error_code error;
  fs::create_directories(to, error);
  for (fs::recursive_directory_iterator at(from, error), end; !error && at != end; at.increment(error)) {
    const fs::path target = to / at->path().lexically_relative(from);  // the file may be evicted meanwhile
    if (at->is_directory(error)) {
      if (at->path().filename() == "damaged") {
        at.disable_recursion_pending();
        continue;
      }
      fs::create_directories(target, error);
      if (error) return cannot("make", target, error);
      continue;
    }
    if (at->path().filename().string().starts_with(".")) continue;  // a temporary file
    std::error_code failed;
    fs::create_hard_link(at->path(), target, failed);
    if (failed == std::errc::no_such_file_or_directory) continue;  // evicted meanwhile
    if (failed) fs::copy_file(at->path(), target, failed = std::error_code());
    if (failed) return cannot("copy to", target, failed);
    ++count.binaries;
    count.bytes += fs::file_size(target, failed);
  }
  if (error) return cannot("copy", from, error);
  return {};
}

Result<void> copy_key(const DataDirectory& directory, const fs::path& to) {
  std::error_code error;
  if (!fs::exists(directory.signing_key(), error)) return {};  // the key is elsewhere
  fs::copy_file(directory.signing_key(), to / "signing.key", error);
  if (error) return cannot("copy", directory.signing_key(), error);
  return {};
}

/// Writes all parts of a backup into a new folder.
Result<void> fill(const DataDirectory& directory, const fs::path& to, const Stores& stores,
                  kernels_cache::JobStore& jobs, BackedUp& out) {
  // Rows before binaries: a surplus binary is harmless, a row without one costs a compilation.
  SCHAAS_RETURN_IF_ERROR(stores.schedules->back_up(to / "schedules.db"));
  SCHAAS_RETURN_IF_ERROR(jobs.back_up(to / "jobs.db"));
  SCHAAS_RETURN_IF_ERROR(copy_key(directory, to));
  return link_all(directory.binaries(), to / "binaries", out);
}

/// Opens both databases, which checks them as a whole; they are closed again at once.
Result<void> check_backup(const fs::path& backup) {
  std::error_code error;
  for (const char* needed : {"schedules.db", "jobs.db", "binaries"}) {
    if (fs::exists(backup / needed, error)) continue;
    return support::invalid("restore", "`" + backup.string() + "` is no backup: it has no `" + needed + "`");
  }
  const auto clock = kernels_cache::system_clock();
  SCHAAS_RETURN_IF_ERROR([&]() -> Result<void> {
    SCHAAS_ASSIGN_OR_RETURN(const auto schedules,
                            kernels_cache::open_sqlite_schedule_store(backup / "schedules.db", clock));
    SCHAAS_ASSIGN_OR_RETURN(const auto jobs, kernels_cache::open_job_store(backup / "jobs.db", clock));
    return {};
  }());
  return {};
}

// Moves a whole copy in place of what is there. A part that is no longer in the copy is installed: a process
// may end anywhere, and the next call continues.
Result<void> install_copy(const fs::path& to) {
  const fs::path whole = to / copied, before = to / before_restore;
  std::error_code error;
  if (!fs::exists(whole, error)) return {};
  fs::create_directories(before, error);
  for (const char* part : backup_parts) {
    if (!fs::exists(whole / part, error)) continue;
    // Logs of a database go with it: beside another one they would be applied to that.
    for (const std::string ending : {"", "-wal", "-shm"}) {
      const std::string name = part + ending;
      if (fs::exists(to / name, error)) fs::rename(to / name, before / name, error);
      if (error) return cannot("move away", to / name, error);
    }
    fs::rename(whole / part, to / part, error);
    if (error) return cannot("put in place", to / part, error);
  }
  fs::remove_all(whole, error);
  return {};
}

}  // namespace

Result<BackedUp> back_up(const DataDirectory& directory, const std::string& name, const Stores& stores,
                         kernels_cache::JobStore& jobs) {
  std::string called = name.empty() ? kernels_cache::print(kernels_cache::system_clock()->now()) : name;
  // Colons of the time are no part of a name.
  if (name.empty()) std::replace(called.begin(), called.end(), ':', '-');
  SCHAAS_RETURN_IF_ERROR(check_name(called));
  const fs::path all = fs::path(directory.path()) / "backups";
  const fs::path path = all / called, partial = all / ("." + called);
  std::error_code error;
  if (fs::exists(path, error))
    return support::invalid("backup-name", "there is a backup `" + called + "` already");
  fs::remove_all(partial, error);  // left by a crash during a backup
  fs::create_directories(partial, error);
  if (error) return cannot("make", partial, error);
  BackedUp out{path, 0, 0};
  auto filled = fill(directory, partial, stores, jobs, out);
  if (filled.ok()) {
    fs::rename(partial, path, error);
    if (error) filled = cannot("rename", partial, error);
  }
  if (!filled.ok()) {
    fs::remove_all(partial, error);
    return filled.error();
  }
  return out;
}

Result<void> restore(const DataDirectory& directory, const std::string& backup) {
  const fs::path from = backup, to = directory.path(), before = to / before_restore, next = to / copying;
  // Finishes an earlier restore first: its copy would be lost otherwise.
  SCHAAS_RETURN_IF_ERROR(recover(directory));
  SCHAAS_RETURN_IF_ERROR(check_backup(from));
  std::error_code error;
  fs::create_directories(next, error);
  for (const char* part : backup_parts) {  // everything is copied before anything is moved
    if (!fs::exists(from / part, error)) continue;
    fs::copy(from / part, next / part, fs::copy_options::recursive, error);
    if (error) return cannot("copy", from / part, error);
  }
  fs::remove_all(before, error);
  fs::rename(next, to / copied, error);
  if (error) return cannot("rename", next, error);
  return recover(directory);
}

Result<void> recover(const DataDirectory& directory) {
  const fs::path path = directory.path();
  SCHAAS_RETURN_IF_ERROR(install_copy(path));
  std::error_code error;
  fs::remove_all(path / copying, error);
  std::vector<fs::path> partial;
  for (fs::directory_iterator at(path / "backups", error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().starts_with(".")) partial.push_back(at->path());
  }
  for (const auto& folder : partial) fs::remove_all(folder, error);
  return {};
}

}  // namespace schaas::server
