#include <memory>

#include "client/cli/command_line.h"
#include "client/cli/figures.h"
#include "client/cli/problem_options.h"
#include "client/cli/progress.h"
#include "client/cli/table.h"
#include "schaas/gpu.h"
#include "schaas/host.h"
#include "schaas/rates.h"

// schaas calibrate: measures this machine's caches and memory, or its GPU, for all later selections. The
// figures are stored with a description of the host, so a copied home folder does not mislead another
// machine.
namespace schaas::cli {
namespace {

Json json_of(const client::Calibration& found, const std::string& directory) {
  Json json;
  json["host"] = client::host_text();
  json["rates"] = {
      {"nanoseconds", found.rates.nanoseconds},   {"in_first", found.rates.in_first},
      {"beyond_first", found.rates.beyond_first}, {"beyond_second", found.rates.beyond_second},
      {"beyond_last", found.rates.beyond_last},   {"memory_threads", found.rates.memory_threads}};
  json["measured"] = Json::array();
  for (const auto& one : found.measured)
    json["measured"].push_back({{"from", one.from},
                                {"bytes", one.bytes},
                                {"threads", one.threads},
                                {"nanoseconds", one.nanoseconds}});
  json["stored_in"] = directory;
  return json;
}

std::string text_of(const client::Calibration& found, const std::string& directory) {
  Table table;
  table.right = {1, 2, 3, 4};
  table.header = {"rows from", "of", "threads", "per element", "bandwidth"};
  for (const auto& one : found.measured)
    table.rows.push_back({one.from, bytes(static_cast<double>(one.bytes)), std::to_string(one.threads),
                          rounded(one.nanoseconds) + " ns", rounded(8 / one.nanoseconds) + " GB/s"});
  return print(table) + "stored in " + directory + ": selections on this machine use it from now on\n";
}

// Measures and stores; nothing is stored when a measurement failed.
support::Result<Answer> calibrate(const ServerOptions& options, int threads) {
  ProgressLine progress;
  SCHAAS_ASSIGN_OR_RETURN(auto connection, connect(options));
  SCHAAS_ASSIGN_OR_RETURN(
      const auto found,
      client::calibrate(connection, threads > 0 ? threads : client::host_threads(),
                        [&](const std::string& from) { progress.show("measuring: " + from); }));
  progress.clear();
  const std::string directory = client::default_data_directory();
  SCHAAS_RETURN_IF_ERROR(client::store_rates(directory, found.rates));
  Answer answer;
  answer.json = json_of(found, directory);
  answer.text = text_of(found, directory);
  return answer;
}

// Measures copies and launches on the GPU, which the driver does not report.
support::Result<Answer> calibrate_device() {
  SCHAAS_ASSIGN_OR_RETURN(const client::Gpu gpu, client::Gpu::open());
  SCHAAS_ASSIGN_OR_RETURN(const client::GpuRates rates, gpu.measure_rates());
  const std::string directory = client::default_data_directory();
  SCHAAS_RETURN_IF_ERROR(client::store_gpu_rates(directory, gpu.name(), rates));
  Answer answer;
  answer.json = {{"host", client::host_text()},
                 {"device", gpu.name()},
                 {"rates",
                  {{"bytes_per_second", rates.bytes_per_second},
                   {"transferred_bytes_per_second", rates.transferred_bytes_per_second},
                   {"transfer_seconds", rates.transfer_seconds},
                   {"launch_seconds", rates.launch_seconds}}},
                 {"stored_in", directory}};
  answer.text = gpu.name() + ": " + rounded(rates.bytes_per_second / 1e9) + " GB/s from its memory, " +
                rounded(rates.transferred_bytes_per_second / 1e9) + " GB/s and " +
                rounded(rates.transfer_seconds * 1e6) + " us for each array to and from it, " +
                rounded(rates.launch_seconds * 1e6) + " us for a launch\nstored in " + directory +
                ": selections on this machine use it from now on\n";
  return answer;
}

}  // namespace

void add_calibrate(CLI::App& program, Action& chosen) {
  struct Options {
    ServerOptions server;
    int threads = 0;
    bool device = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand(
      "calibrate",
      "Measure the caches and the memory of this machine, once, so that schedules are selected by them");
  command->add_option("--threads", options->threads, "Threads (default: all processors of this process)")
      ->check(CLI::Range(1, 4096).description(""))
      ->type_name("N");
  command->add_flag("--device", options->device, "Measure the copies and launches of the GPU instead");
  add_to(*command, options->server);
  command->callback([options, &chosen] {
    chosen = [options] {
      return options->device ? calibrate_device() : calibrate(options->server, options->threads);
    };
  });
}

}  // namespace schaas::cli
