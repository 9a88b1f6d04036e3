#include "kernels_cache/process_name.h"

#include <unistd.h>

#include <array>

namespace schaas::kernels_cache {

std::string process_name() {
  constexpr std::size_t max_host = 40;  // names of connections have 63 letters
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) return "?:" + std::to_string(::getpid());
  return std::string(host.data()).substr(0, max_host) + ":" + std::to_string(::getpid());
}

}  // namespace schaas::kernels_cache
