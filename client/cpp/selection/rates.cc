#include "schaas/rates.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "client/cpp/tensor_io/file_sink.h"
#include "schaas/host.h"

// Machine parameters, as `schaas calibrate` measures and stores them. Nanoseconds per element of a row from
// L1, L2, the last-level cache, and memory become differences in units of a trip from L2. A file counts only
// on the host that wrote it: its second line has processor, threads, and caches. A damaged file counts as
// none.
namespace schaas::client {
namespace {

constexpr const char* rates_header = "schaas-rates 1";

std::string path_in(const std::string& directory) { return directory + "/rates"; }

// Visits the machine parameters by name, as the file holds them.
template <typename Given>
auto fields_of(Given& rates) {
  using Field = std::pair<const char*, decltype(&rates.nanoseconds)>;
  return std::array<Field, 6>{{{"nanoseconds", &rates.nanoseconds},
                               {"in_first", &rates.in_first},
                               {"beyond_first", &rates.beyond_first},
                               {"beyond_second", &rates.beyond_second},
                               {"beyond_last", &rates.beyond_last},
                               {"memory_threads", &rates.memory_threads}}};
}

template <typename Given>
auto gpu_fields_of(Given& rates) {
  using Field = std::pair<const char*, decltype(&rates.launch_seconds)>;
  return std::array<Field, 4>{{{"bytes_per_second", &rates.bytes_per_second},
                               {"transferred_bytes_per_second", &rates.transferred_bytes_per_second},
                               {"transfer_seconds", &rates.transfer_seconds},
                               {"launch_seconds", &rates.launch_seconds}}};
}

// A file for each device, named by the letters and digits of its name.
std::string path_in(const std::string& directory, std::string device) {
  for (char& each : device) {
    const bool plain =
        (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9');
    if (!plain) each = '_';
  }
  return path_in(directory) + "_" + device;
}

// Writes a header, the host, and a line for each field.
template <class Fields>
support::Result<void> store_fields(const std::string& directory, const std::string& path,
                                   const Fields& fields) {
  if (directory.empty())
    return support::invalid("file-unwritable",
                            "rates cannot be stored: neither XDG_DATA_HOME nor HOME is set");
  // A new folder is the user's alone; an existing one keeps its mode.
  std::error_code error;
  if (std::filesystem::create_directories(directory, error))
    std::filesystem::permissions(directory, std::filesystem::perms::owner_all, error);
  SCHAAS_ASSIGN_OR_RETURN(FileSink sink, FileSink::create(path));
  sink.write(std::string(rates_header) + "\nhost " + host_text() + "\n");
  for (const auto& [name, value] : fields) {
    sink.write(std::string(name) + " ");
    sink.write(*value);
    sink.write("\n");
  }
  return sink.close();
}

// The line `name value` of a rates file.
bool read_field(std::istream& file, const std::string& name, double& to) {
  std::string line;
  if (!std::getline(file, line) || line.rfind(name + " ", 0) != 0) return false;
  const char* end = line.data() + line.size();
  const auto read = std::from_chars(line.data() + name.size() + 1, end, to);
  return read.ec == std::errc() && read.ptr == end && std::isfinite(to) && to >= 0;
}

// Reads the fields of a file that this host wrote.
template <class Fields>
bool read_fields(const std::string& path, const Fields& fields) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line) || line != rates_header) return false;
  if (!std::getline(file, line) || line != "host " + host_text()) return false;
  for (const auto& [name, value] : fields)
    if (!read_field(file, name, *value)) return false;
  return true;
}

}  // namespace

Rates rates_of(const std::vector<RowRate>& measured) {
  SCHAAS_CHECK(measured.size() == 4 || measured.size() == 5, "a calibration measures four or five times");
  double from[4] = {};
  // A larger cache is never faster than a smaller one: noise in the measurements would give negative costs.
  for (std::size_t n = 0; n < 4; ++n) from[n] = std::max(measured[n].nanoseconds, n == 0 ? 0.0 : from[n - 1]);
  Rates rates;
  rates.nanoseconds = from[1];
  rates.in_first = from[0] / from[1];
  rates.beyond_first = 1 - rates.in_first;
  rates.beyond_second = (from[2] - from[1]) / from[1];
  rates.beyond_last = (from[3] - from[2]) / from[1];
  if (measured.size() == 5) rates.memory_threads = std::max(1.0, from[3] / measured[4].nanoseconds);
  return rates;
}

std::string host_text() {
  std::string processor = "unknown processor";
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) != 0 || colon == std::string::npos) continue;
    processor = line.substr(colon + 2);
    break;
  }
  std::ostringstream text;
  text << processor << ", " << host_isa() << ", " << host_processors() << " threads, caches "
       << first_cache_bytes() << " " << second_cache_bytes() << " " << last_level_cache_bytes();
  return text.str();
}

support::Result<void> store_rates(const std::string& directory, const Rates& rates) {
  return store_fields(directory, path_in(directory), fields_of(rates));
}

Rates stored_rates(const std::string& directory) {
  Rates rates;
  const bool found = read_fields(path_in(directory), fields_of(rates));
  return found && rates.nanoseconds > 0 && rates.memory_threads >= 1 ? rates : Rates{};
}

support::Result<void> store_gpu_rates(const std::string& directory, const std::string& device,
                                      const GpuRates& rates) {
  return store_fields(directory, path_in(directory, device), gpu_fields_of(rates));
}

std::optional<GpuRates> stored_gpu_rates(const std::string& directory, const std::string& device) {
  GpuRates rates;
  const bool found = read_fields(path_in(directory, device), gpu_fields_of(rates));
  const bool sound = rates.bytes_per_second > 0 && rates.transferred_bytes_per_second > 0;
  return found && sound ? std::optional(rates) : std::nullopt;
}

}  // namespace schaas::client
