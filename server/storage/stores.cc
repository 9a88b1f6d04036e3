#include "server/storage/stores.h"

#include <set>
#include <string>

namespace schaas::server {

using support::Result;

Result<std::uint64_t> drop_rows_without_binary(const Stores& stores) {
  SCHAAS_ASSIGN_OR_RETURN(const auto rows, stores.schedules->kernels_of(""));
  std::set<std::string> missing;
  for (const auto& row : rows) {
    if (!stores.binaries->contains(row.digest.sha256)) missing.insert(row.digest.sha256);
  }
  std::uint64_t dropped = 0;
  for (const auto& sha256 : missing) {
    SCHAAS_ASSIGN_OR_RETURN(const std::uint64_t count, stores.schedules->drop_kernels_with(sha256));
    dropped += count;
  }
  return dropped;
}

}  // namespace schaas::server
