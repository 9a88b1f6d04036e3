#include "compiler/support/counts.h"

namespace schaas::support {

std::string grouped(const std::string& digits) {
  std::string out;
  for (std::size_t n = 0; n < digits.size(); ++n) {
    if (n > 0 && (digits.size() - n) % 3 == 0) out += ',';
    out += digits[n];
  }
  return out;
}

std::string counted(std::size_t count, const std::string& one, const std::string& many) {
  return grouped(std::to_string(count)) + " " + (count == 1 ? one : many);
}

}  // namespace schaas::support
