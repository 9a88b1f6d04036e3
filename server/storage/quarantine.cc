#include "server/storage/quarantine.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "kernels_cache/clock.h"

// Two files for each kernel; the report is the entry, the binary is for inspection. Its time of modification
// is when the entry began. Nothing is locked. Old entries are removed when a new one comes.
namespace schaas::server {
namespace {

namespace fs = std::filesystem;

std::string first_line_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Returns the time of the report; none where there is no report, or one that is too old.
std::optional<fs::file_time_type> valid_since(const fs::path& report) {
  std::error_code error;
  const auto written = fs::last_write_time(report, error);
  if (error || fs::file_time_type::clock::now() - written > Quarantine::max_age) return std::nullopt;
  return written;
}

std::string text_of(fs::file_time_type time) {
  return kernels_cache::print(
      std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::file_clock::to_sys(time)));
}

class FileQuarantine final : public Quarantine {
 public:
  explicit FileQuarantine(std::string directory) : directory_(std::move(directory)) {}

  std::optional<std::string> reason(const std::string& key) const override {
    const std::string report = path(key, ".txt");
    if (!valid_since(report)) return std::nullopt;
    return first_line_of_file(report);
  }

  /// Drops expired entries and writes a new one; beyond the maximum the new one is dropped.
  bool add(const std::string& key, const std::string& binary, const std::string& report) const override {
    std::error_code error;
    fs::create_directories(directory_, error);
    std::size_t kept = 0;
    for (fs::directory_iterator at(directory_, error), end; !error && at != end; at.increment(error)) {
      if (at->path().extension() != ".txt") continue;
      if (valid_since(at->path())) {
        ++kept;
      } else {
        lift(at->path().stem().string());
      }
    }
    if (kept >= max_kernels) return false;
    // The report is written last, because it is what counts.
    std::ofstream(path(key, ".so"), std::ios::binary) << binary;
    std::ofstream text(path(key, ".txt"), std::ios::binary);
    text << report;
    return static_cast<bool>(text.flush());
  }

  std::vector<QuarantinedKernel> list() const override {
    std::vector<QuarantinedKernel> found;
    std::error_code error;
    for (fs::directory_iterator at(directory_, error), end; !error && at != end; at.increment(error)) {
      if (at->path().extension() != ".txt") continue;
      if (const auto since = valid_since(at->path()))
        found.push_back(
            {at->path().stem().string(), first_line_of_file(at->path().string()), text_of(*since)});
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return a.since != b.since ? a.since > b.since : a.key < b.key;
    });
    return found;
  }

  bool lift(const std::string& key) const override {
    std::error_code error;
    const bool was_there = fs::remove(path(key, ".txt"), error);
    fs::remove(path(key, ".so"), error);
    return was_there;
  }

 private:
  std::string path(const std::string& key, const char* ending) const {
    return directory_ + "/" + key + ending;
  }
  const std::string directory_;
};

}  // namespace

std::shared_ptr<const Quarantine> make_file_quarantine(std::string directory) {
  return std::make_shared<const FileQuarantine>(std::move(directory));
}

}  // namespace schaas::server
