#include "compiler/support/processor.h"

#include <fstream>

#include "compiler/support/digest.h"

namespace schaas::support {
namespace {

constexpr const char* native = "native";
constexpr std::size_t digits = 8;

/// Returns the name and features of the first processor as the system reports them, under the keys of several
/// architectures.
std::string description() {
  std::string text;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();) {
    for (const char* word : {"vendor_id", "cpu family", "model", "stepping", "flags", "CPU ", "Features"})
      if (line.rfind(word, 0) == 0) text += line + "\n";
  }
  return text;
}

}  // namespace

const std::string& native_isa() {
  static const std::string isa =
      std::string(native) + ":" + digest_of(description()).sha256.substr(0, digits);
  return isa;
}

std::string exact_isa(const std::string& isa) { return isa == native ? native_isa() : isa; }

bool is_native(const std::string& isa) { return isa.rfind(std::string(native) + ":", 0) == 0; }

}  // namespace schaas::support
