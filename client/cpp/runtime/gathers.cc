#include "client/cpp/runtime/gathers.h"

#include <fstream>

// Told from the processor, not measured. The order of a sum depends on it, and results of one machine are the
// same from process to process.
namespace schaas::client {

bool gathers_pay(bool is_intel, const std::string& vulnerability) {
  std::ifstream file(vulnerability);
  std::string state;
  return is_intel && std::getline(file, state) && state == "Not affected";
}

#ifdef __x86_64__
bool gathers_pay() {
  static const bool pay = gathers_pay(__builtin_cpu_is("intel") != 0,
                                      "/sys/devices/system/cpu/vulnerabilities/gather_data_sampling");
  return pay;
}
#else
bool gathers_pay() { return false; }
#endif

}  // namespace schaas::client
