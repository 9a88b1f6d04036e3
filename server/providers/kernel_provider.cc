#include "server/providers/kernel_provider.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace schaas::server {

std::string fingerprint(const frontier::Options& o) {
  return "stage1=" + std::to_string(o.stage1) + " depth=" + std::to_string(o.memory_depth) +
         " most=" + std::to_string(o.max_temporary_elements) +
         " seconds=" + std::to_string(o.search_seconds) + " bytes=" + std::to_string(o.search_bytes) +
         " stage2=" + std::to_string(o.stage2) + " solver_ms=" + std::to_string(o.solver_milliseconds) +
         " solver_total_ms=" + std::to_string(o.solver_total_milliseconds) +
         " members=" + std::to_string(o.members_per_class) + " orders=" + std::to_string(o.operand_orders);
}

frontier::Options within_deadline(frontier::Options options, Requester::Clock::time_point deadline) {
  const std::chrono::duration<double> left = deadline - Requester::Clock::now();
  // Half of the time for the search, a quarter for questions to the solver, the rest for compilation.
  const double half = left.count() / 2;
  if (half <= 0 || half >= options.search_seconds) return options;
  options.search_seconds = std::exp2(std::floor(std::log2(half)));
  options.solver_total_milliseconds =
      std::min(options.solver_total_milliseconds, static_cast<int>(500 * options.search_seconds));
  return options;
}

}  // namespace schaas::server
