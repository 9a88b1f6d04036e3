#include "schaas/bundle.h"

#include <algorithm>
#include <memory>

#include "client/cli/bundle_report.h"
#include "client/cli/command_line.h"
#include "client/cli/figures.h"
#include "client/cli/problem_options.h"
#include "client/cli/progress.h"
#include "client/cli/table.h"
#include "schaas/json.h"
#include "schaas/tensor_files.h"

// schaas bundle: one file with a frontier and its kernels, for use without a server. The file is checked for
// being writable before the server compiles anything.
namespace schaas::cli {
namespace {

struct BundleOptions {
  ProblemOptions problem;
  client::SearchOptions search;
  ServerOptions server;
  std::vector<std::string> isas, schedules;
  std::string output;
  std::uint32_t kernels = 64;
};

Json json_of(const client::BundledAnswer& answer) {
  return {{"expression", answer.problem.expression},
          {"formats", answer.problem.formats},
          {"constraints", answer.problem.constraints},
          {"dtype", name(answer.problem.value_type)},
          {"positions", answer.problem.position_bits},
          {"isa", answer.isa},
          {"key", answer.frontier.key},
          {"frontier", answer.frontier.entries.size()},
          {"kernels", answer.kernels}};
}

// Makes a bundle and reports its contents. Schedules that could not be compiled are listed, and are no
// failure.
support::Result<Answer> bundle(const BundleOptions& options) {
  client::BundleRequest request;
  SCHAAS_ASSIGN_OR_RETURN(request.problem, problem_text(options.problem));
  request.search = options.search;
  request.isas = options.isas;
  request.traces = options.schedules;
  request.kernels = options.kernels;
  SCHAAS_RETURN_IF_ERROR(client::check_writable(options.output));
  SCHAAS_ASSIGN_OR_RETURN(auto connection, connect(options.server));
  ProgressLine progress;
  SCHAAS_ASSIGN_OR_RETURN(const auto made,
                          client::make_bundle(connection, request, options.output, show_events(progress)));
  progress.clear();
  Answer answer = report_answers(made.answers);
  answer.text = options.output + ": " + bytes(static_cast<double>(made.bytes)) + "\n" + answer.text;
  answer.json["written"] = options.output;
  answer.json["bytes"] = made.bytes;
  answer.json["failed"] = Json::array();
  for (const auto& failure : made.failures) {
    answer.text += "left out: " + failure.id + ", " + failure.diagnostic.message + "\n";
    answer.json["failed"].push_back({{"id", failure.id}, {"error", failure.diagnostic.message}});
  }
  return answer;
}

}  // namespace

// All answers of a bundle are to one problem, for several instruction sets and widths.
Answer report_answers(const std::vector<client::BundledAnswer>& answers) {
  Answer report;
  Table table;
  table.header = {"for", "positions", "values", "frontier", "kernels"};
  table.right = {1, 3};
  table.indent = "  ";
  report.json["answers"] = Json::array();
  for (const auto& answer : answers) {
    std::string ids;
    for (const auto& kernel : answer.kernels) ids += (ids.empty() ? "" : " ") + kernel.id;
    table.rows.push_back({answer.isa, answer.problem.position_bits, name(answer.problem.value_type),
                          std::to_string(answer.frontier.entries.size()), ids});
    report.json["answers"].push_back(json_of(answer));
  }
  const client::ProblemText& problem = answers.front().problem;
  report.text = "  " + problem.expression;
  for (const auto& [tensor, format] : problem.formats) report.text += "  " + tensor + "=" + format;
  for (const auto& constraint : problem.constraints) report.text += "  " + constraint;
  report.text += "\n" + print(table);
  return report;
}

// Opening checks all of the file.
support::Result<Answer> report_bundle(const std::string& path, const std::string& server_key) {
  SCHAAS_ASSIGN_OR_RETURN(const auto opened, client::Bundle::open(path, server_key));
  Answer answer = report_answers(opened.answers());
  answer.text = path + ": made by " + opened.made_by() + " on " + opened.created() + ", compiled by " +
                opened.server() + "\n  signed by " + opened.answers().front().public_key + "\n" + answer.text;
  answer.json["public_key"] = opened.answers().front().public_key;
  answer.json["file"] = path;
  answer.json["made_by"] = opened.made_by();
  answer.json["created"] = opened.created();
  answer.json["server"] = opened.server();
  return answer;
}

void add_bundle(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<BundleOptions>();
  CLI::App* command = program.add_subcommand(
      "bundle", "Write a frontier with its kernels to one file, for `run --bundle` without a server");
  add_to(*command, options->problem);
  add_to(*command, options->search);
  command
      ->add_option(
          "--isa", options->isas,
          "Instruction set of the kernels; may be repeated (default: all of this processor's family)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      ->add_option("--schedule", options->schedules,
                   "A further schedule: linear, or a trace; may be repeated")
      ->type_name("WHICH")
      ->allow_extra_args(false);
  command->add_option("--kernels", options->kernels, "Schedules of the frontier to compile at most")
      ->check(CLI::Range(1, 64).description(""))
      ->capture_default_str()
      ->type_name("N");
  command->add_option("-o,--output", options->output, "The file: kernels.schaas")
      ->required()
      ->type_name("FILE");
  add_to(*command, options->server);
  command->callback([options, &chosen] { chosen = [options] { return bundle(*options); }; });
}

}  // namespace schaas::cli
