#include "kernels_cache/fleet_processes.h"

#include <map>
#include <string>
#include <utility>

namespace schaas::kernels_cache {
namespace {

using support::Result;

std::string number_of_items(const std::string& condition) {
  return "coalesce(sum(CASE WHEN " + condition + " THEN 1 ELSE 0 END), 0)";
}

FleetProcess process_of(const Statement& row) {
  FleetProcess process;
  process.name = row.text(0);
  process.running = row.count(1);
  process.done = row.count(2);
  process.failed = row.count(3);
  process.recent = row.count(4);
  return process;
}

}  // namespace

Result<std::vector<FleetProcess>> fleet_processes(Database& database, Clock::Time changed,
                                                  Clock::Time recent) {
  std::map<std::string, FleetProcess> found;
  {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database.session());
    const std::string sql = "SELECT worker, " + number_of_items("state = 'running'") + ", " +
                            number_of_items("state = 'done'") + ", " + number_of_items("state = 'failed'") +
                            ", " + number_of_items("finished > $1") +
                            " FROM item WHERE worker <> '' AND state <> 'waiting' AND job IN "
                            "(SELECT id FROM job WHERE changed > $2) GROUP BY worker";
    Statement query(*session, sql);
    query.bind(print(recent)).bind(print(changed));
    SCHAAS_ASSIGN_OR_RETURN(auto rows, all_rows(query, "list who took items", process_of));
    for (FleetProcess& row : rows) found[row.name] = std::move(row);
  }
  SCHAAS_ASSIGN_OR_RETURN(const auto connected, database.processes());
  for (const auto& process : connected) static_cast<ConnectedProcess&>(found[process.name]) = process;
  std::vector<FleetProcess> out;
  for (auto& [name, process] : found) out.push_back(std::move(process));
  return out;
}

}  // namespace schaas::kernels_cache
