#include "server/providers/kernel_provider.h"

namespace schaas::server {

std::string fingerprint(const frontier::Options& o) {
  return "stage1=" + std::to_string(o.stage1) + " depth=" + std::to_string(o.memory_depth) +
         " most=" + std::to_string(o.max_temporary_elements) +
         " seconds=" + std::to_string(o.search_seconds) + " bytes=" + std::to_string(o.search_bytes) +
         " stage2=" + std::to_string(o.stage2) + " solver_ms=" + std::to_string(o.solver_milliseconds) +
         " solver_total_ms=" + std::to_string(o.solver_total_milliseconds) +
         " members=" + std::to_string(o.members_per_class) + " orders=" + std::to_string(o.operand_orders);
}

}  // namespace schaas::server
