#include "server/telemetry/log.h"

#include <spdlog/sinks/null_sink.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "compiler/support/nearest_name.h"
#include "kernels_cache/file_system.h"

// The log, by spdlog: one line for each event, in UTC. Lines are flushed from level info on, so that a crash
// of the process loses none of these. Files rotate by size. What can be checked before the log is opened is
// checked without making a file.
namespace schaas::server {
namespace {

support::Diagnostic cannot_write(const std::string& file, const std::string& why) {
  return support::invalid("log-file", "cannot write the log file `" + file + "`: " + why);
}

}  // namespace

support::Result<void> check_log_level(const std::string& level) {
  const std::vector<std::string> levels = {"trace", "debug", "info", "warning", "error", "off"};
  if (std::find(levels.begin(), levels.end(), level) != levels.end()) return {};
  return support::invalid("log-level", "unknown log level `" + level +
                                           "`; expected trace, debug, info, warning, error or off" +
                                           support::did_you_mean(level, levels));
}

void set_level(const Log& log, const std::string& level) { log->set_level(spdlog::level::from_str(level)); }

// Checks that the log could be opened; makes and changes nothing.
support::Result<void> check_log(const LogOptions& options) {
  SCHAAS_RETURN_IF_ERROR(check_log_level(options.level));
  if (options.file.empty()) return {};
  const std::string file = std::filesystem::absolute(options.file).string();
  const bool there = std::filesystem::exists(std::filesystem::symlink_status(file));
  // A missing file must be possible to make; a present one must be a file and writable.
  const int why_not = !there                                ? kernels_cache::creation_error(file)
                      : std::filesystem::is_directory(file) ? EISDIR
                      : ::access(file.c_str(), W_OK) != 0   ? errno
                                                            : 0;
  return why_not == 0 ? support::Result<void>() : cannot_write(options.file, std::strerror(why_not));
}

support::Result<Log> open_log(const LogOptions& options) {
  SCHAAS_RETURN_IF_ERROR(check_log(options));
  constexpr std::size_t file_bytes = 10 << 20, old_files = 3;
  spdlog::sink_ptr sink;
  try {
    if (options.file.empty()) {
      sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    } else {
      sink = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(options.file, file_bytes, old_files);
    }
  } catch (const spdlog::spdlog_ex& error) {
    return cannot_write(options.file, error.what());
  }
  auto log = std::make_shared<spdlog::logger>("schaasd", std::move(sink));
  log->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
  set_level(log, options.level);
  log->flush_on(spdlog::level::info);
  return log;
}

Log silent_log() {
  return std::make_shared<spdlog::logger>("silent", std::make_shared<spdlog::sinks::null_sink_mt>());
}

}  // namespace schaas::server
