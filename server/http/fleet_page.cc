#include "server/http/fleet_page.h"

#include <map>

#include "server/http/html.h"

// The database knows who is connected and who took which item, so nothing here is reported by anybody.
namespace schaas::server {
namespace {

using html::escaped;
using kernels_cache::FleetProcess;
using kernels_cache::ItemState;

constexpr std::size_t processes_shown = 500;

std::string cell(std::uint64_t count, bool is_bad = false) {
  return "<td class=\"n" + std::string(is_bad && count > 0 ? " bad" : "") + "\">" + std::to_string(count) +
         "</td>";
}

std::string counts(const FleetProcess& process) {
  return cell(process.running) + cell(process.done) + cell(process.failed, true) + cell(process.recent);
}

constexpr const char* counted = "<th>running</th><th>done</th><th>failed</th><th>ended lately</th>";

std::string process_table(const std::vector<FleetProcess>& processes) {
  std::string rows;
  std::size_t shown = 0;
  for (const FleetProcess& process : processes) {
    if (++shown > processes_shown) break;
    rows += "<tr><td>" + escaped(process.name) + "</td><td>" +
            escaped(process.role.empty() ? "gone" : process.role) + "</td><td>" + escaped(process.since) +
            "</td>" + counts(process) + "</tr>\n";
  }
  return "<table><tr><th>process</th><th>role</th><th>connected since</th>" + std::string(counted) +
         "</tr>\n" + rows + "</table>\n";
}

// Sums up the processes of each host.
std::string host_table(const std::vector<FleetProcess>& processes) {
  std::map<std::string, FleetProcess> hosts;
  for (const FleetProcess& process : processes) {
    FleetProcess& host = hosts[process.name.substr(0, process.name.rfind(':'))];
    host.running += process.running;
    host.done += process.done;
    host.failed += process.failed;
    host.recent += process.recent;
  }
  std::string rows;
  for (const auto& [name, host] : hosts)
    rows += "<tr><td>" + escaped(name) + "</td>" + counts(host) + "</tr>\n";
  return "<table><tr><th>host</th>" + std::string(counted) + "</tr>\n" + rows + "</table>\n";
}

}  // namespace

std::string fleet_page(const std::vector<FleetProcess>& processes,
                       const std::map<ItemState, std::uint64_t>& items) {
  std::uint64_t servers = 0, workers = 0, recent = 0;
  for (const FleetProcess& process : processes) {
    servers += process.role == "server" ? 1 : 0;
    workers += process.role == "worker" ? 1 : 0;
    recent += process.recent;
  }
  const auto of = [&items](ItemState state) {
    const auto found = items.find(state);
    return std::to_string(found == items.end() ? 0 : found->second);
  };
  return "<p>" + std::to_string(servers) + " servers, " + std::to_string(workers) + " workers. " +
         of(ItemState::waiting) + " items wait, " + of(ItemState::running) + " run, " +
         of(ItemState::failed) + " failed; " + std::to_string(recent) + " ended in the last " +
         std::to_string(rate_time.count()) + " minutes.</p>\n<h2>Hosts</h2>\n" + host_table(processes) +
         "<h2>Processes</h2>\n" + process_table(processes) + "<p>Items of jobs that changed in the last " +
         std::to_string(counted_time.count()) + " hours.</p>\n";
}

}  // namespace schaas::server
