#include <memory>

#include "client/cli/command_line.h"
#include "client/cli/picture_file.h"
#include "client/cli/problem_options.h"
#include "client/cli/tensor_options.h"
#include "schaas/bounds.h"
#include "schaas/frontier_at.h"
#include "schaas/host.h"
#include "schaas/operands.h"

// schaas plot: time against memory of the frontier, and of what was dropped for it, at real sizes, as a
// drawing. The tensors are read for their sizes alone; nothing is compiled or run.
namespace schaas::cli {
namespace {

struct PlotOptions {
  ProblemOptions problem;
  TensorOptions tensors;
  client::SearchOptions search;
  ServerOptions server;
  std::string output;
  int threads = 0;
};

Json points_json(const client::Frontier& frontier, const client::FrontierAt& at) {
  Json points = Json::array();
  for (std::size_t e = 0; e < frontier.entries.size(); ++e) {
    Json point = {{"id", frontier.entries[e].id},
                  {"tree", frontier.entries[e].tree},
                  {"time_here", at.evaluated[e].time},
                  {"memory_bytes_here", at.evaluated[e].memory_bytes},
                  {"chosen", e == at.chosen}};
    if (at.measured[e]) point["measured_seconds"] = *at.measured[e];
    points.push_back(std::move(point));
  }
  return points;
}

support::Result<Answer> plot(const PlotOptions& options) {
  // All that can be wrong with the arguments is checked before a file is read or a search begun.
  SCHAAS_RETURN_IF_ERROR(check_picture(options.output));
  client::ScheduleRequest request;
  SCHAAS_ASSIGN_OR_RETURN(request.problem, problem_text(options.problem));
  request.search = options.search;
  request.search_only = true;
  SCHAAS_ASSIGN_OR_RETURN(TensorArguments arguments,
                          tensor_arguments(options.tensors, request.problem.value_type));
  SCHAAS_ASSIGN_OR_RETURN(const auto selections, take_ranges(arguments, request.problem));
  const client::Program& program = selections.program();
  arguments.formats = request.problem.formats;
  SCHAAS_RETURN_IF_ERROR(check_names(arguments, selections));
  SCHAAS_ASSIGN_OR_RETURN(auto connection, connect(options.server));
  ProgressLine progress;
  SCHAAS_ASSIGN_OR_RETURN(client::Operands operands, read_operands(arguments, selections, progress));
  request.problem.formats = format_texts(operands, arguments);
  if (request.problem.position_bits == "auto")
    request.problem.position_bits = std::to_string(operands.position_bits);
  SCHAAS_ASSIGN_OR_RETURN(const auto packed,
                          client::pack_all(operands, program, arguments.value_type, show_packing(progress)));
  const client::Sizes sizes = client::all_sizes(operands, packed, program);
  SCHAAS_ASSIGN_OR_RETURN(const auto answer, connection.schedule(request, show_all_events(progress)));
  progress.clear();
  SCHAAS_RETURN_IF_ERROR(client::check_bounds(answer.frontier, sizes));
  const client::Frontier& frontier = answer.frontier;
  const client::Machine machine = client::this_machine(arguments.value_type, options.threads);
  SCHAAS_ASSIGN_OR_RETURN(const auto at,
                          client::frontier_at(frontier, sizes, client::reported_sizes(sizes, packed), machine,
                                              client::host_isa()));
  SCHAAS_ASSIGN_OR_RETURN(const support::Plot drawn,
                          client::plot(frontier, at, sizes, machine, options.problem.expression));
  SCHAAS_RETURN_IF_ERROR(write_picture(options.output, support::svg(drawn)));

  Answer out;
  out.text = options.output + ": " + drawn.kept + (drawn.dropped.empty() ? "" : ", " + drawn.dropped) +
             (drawn.chosen.empty() ? "" : "; " + drawn.chosen) + "\n";
  out.json = {{"expression", options.problem.expression},
              {"key", frontier.key},
              {"written", options.output},
              {"chosen", at.chosen ? Json(frontier.entries[*at.chosen].id) : Json()},
              {"reason", at.reason},
              {"points", points_json(frontier, at)},
              {"dropped", drawn.points.size() - frontier.entries.size()}};
  return out;
}

}  // namespace

void add_plot(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<PlotOptions>();
  CLI::App* command = program.add_subcommand(
      "plot", "Draw time against memory of the frontier, and of what was dropped for it");
  add_to(*command, options->problem);
  add_to(*command, options->search);
  add_to(*command, options->tensors);
  command->add_option("--threads", options->threads, "Threads (default: all processors of this process)")
      ->check(CLI::Range(1, 4096).description(""))
      ->type_name("N");
  command->add_option("-o,--output", options->output, "The drawing: .svg, or .png")
      ->required()
      ->type_name("FILE");
  add_to(*command, options->server);
  command->callback([options, &chosen] { chosen = [options] { return plot(*options); }; });
}

}  // namespace schaas::cli
