#include "server/storage/stores.h"

#include <string>
#include <vector>

namespace schaas::server {

using support::Result;

Result<std::uint64_t> drop_rows_without_binary(const Stores& stores) {
  SCHAAS_ASSIGN_OR_RETURN(const auto named, stores.schedules->binaries());
  std::vector<std::string> missing;
  for (const std::string& sha256 : named) {
    if (!stores.binaries->contains(sha256)) missing.push_back(sha256);
  }
  return stores.schedules->drop_kernels_with(missing);
}

}  // namespace schaas::server
