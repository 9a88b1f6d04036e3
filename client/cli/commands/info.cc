#include <memory>

#include "client/cli/bundle_report.h"
#include "client/cli/command_line.h"
#include "client/cli/figures.h"
#include "client/cli/problem_options.h"
#include "client/cli/table.h"
#include "proto/kernel_abi.h"
#include "schaas/host.h"

// schaas info: this machine and the server, or with --bundle a file of kernels.
namespace schaas::cli {
namespace {

std::string list(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

Json json_of(const client::ServerInfo& info, const client::Connection& connection) {
  Json json;
  json["client"] = {{"abi_version", SCHAAS_KERNEL_ABI_VERSION},
                    {"isa", client::host_isa()},
                    {"threads", client::host_threads()},
                    {"cache_bytes", client::last_level_cache_bytes()}};
  json["server"] = {{"address", connection.address()},
                    {"started", connection.started_server()},
                    {"version", info.version},
                    {"abi_version", info.abi_version},
                    {"toolchain", info.toolchain},
                    {"gpu_toolchain", info.gpu_toolchain},
                    {"isas", info.isas},
                    {"frontiers", info.frontiers},
                    {"kernels", info.kernels},
                    {"binary_bytes", info.binary_bytes},
                    {"uptime_seconds", info.uptime_seconds},
                    {"data_directory", info.data_directory},
                    {"public_key", info.public_key},
                    {"isolation", info.isolation}};
  json["limits"] = {{"expression_bytes", info.expression_bytes},
                    {"factors", info.factors},
                    {"indices", info.indices},
                    {"constraints", info.constraints}};
  return json;
}

support::Result<Answer> info_of(const ServerOptions& options) {
  SCHAAS_ASSIGN_OR_RETURN(auto connection, connect(options));
  SCHAAS_ASSIGN_OR_RETURN(const client::ServerInfo info, connection.info());
  Answer answer;
  answer.json = json_of(info, connection);
  Table table;
  table.rows = {
      {"this machine", client::host_isa() + ", " +
                           counted(static_cast<std::size_t>(client::host_threads()), "thread", "threads") +
                           ", last-level cache " +
                           bytes(static_cast<double>(client::last_level_cache_bytes()))},
      {"server", connection.address() + (connection.started_server() ? " (private, just started)" : "")},
      {"  version", info.version + ", kernel ABI " + std::to_string(info.abi_version)},
      {"  up", seconds(info.uptime_seconds)},
      {"  compiles with", info.toolchain},
      {"  for GPUs with", info.gpu_toolchain},
      {"  for", list(info.isas)},
      {"  stored", counted(info.frontiers, "frontier", "frontiers") + ", " +
                       counted(info.kernels, "kernel", "kernels") + ", " +
                       bytes(static_cast<double>(info.binary_bytes))},
      {"  in", info.data_directory},
      {"  signs with", info.public_key},
      {"  keeps compilers from", info.isolation},
      {"  limits", std::to_string(info.factors) + " factors, " + std::to_string(info.indices) + " indices, " +
                       std::to_string(info.constraints) + " constraints, " + bytes(info.expression_bytes) +
                       " of expression"}};
  answer.text = print(table);
  return answer;
}

}  // namespace

void add_info(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<ServerOptions>();
  auto bundle = std::make_shared<std::string>();
  CLI::App* command =
      program.add_subcommand("info", "This machine and the server: versions, limits, what is stored");
  add_to(*command, *options);
  command->add_option("--bundle", *bundle, "What is in this file (`schaas bundle`) instead")
      ->type_name("FILE");
  command->callback([options, bundle, &chosen] {
    chosen = [options, bundle] {
      return bundle->empty() ? info_of(*options) : report_bundle(*bundle, options->key);
    };
  });
}

}  // namespace schaas::cli
