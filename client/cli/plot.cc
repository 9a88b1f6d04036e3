#include <cstdio>
#include <memory>

#include "client/cli/command_line.h"
#include "client/cli/figures.h"
#include "client/cli/picture_file.h"
#include "client/cli/plot_picture.h"
#include "client/cli/tensor_options.h"
#include "schaas/bounds.h"
#include "schaas/host.h"
#include "schaas/operands.h"

/// schaas plot: time against memory of the frontier, and of what was dropped for it, at real sizes, as a
/// drawing.
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

std::string sizes_text(const client::Sizes& sizes) {
  std::string out;
  for (const auto& [index, extent] : sizes.extents)
    out += (out.empty() ? "" : ", ") + index + " = " + grouped(std::to_string(extent));
  for (const auto& [tensor, entries] : sizes.entries)
    out += ", " + tensor + " has " + grouped(std::to_string(entries.back())) + " entries";
  return out;
}

/// What a removed class would cost, beside what the frontier's do.
support::Result<std::vector<PlotPoint>> removed_points(const client::Frontier& frontier,
                                                       const client::Sizes& sizes,
                                                       const client::Machine& machine) {
  std::vector<client::FrontierEntry> classes;
  std::vector<const client::Removal*> removals;
  for (const client::Removal& removal : frontier.removals) {
    if (removal.summary()) continue;
    client::FrontierEntry entry;
    entry.id = removal.id;
    entry.time_terms = removal.time_terms;
    entry.memory_terms = removal.memory_terms;
    classes.push_back(std::move(entry));
    removals.push_back(&removal);
  }
  std::vector<PlotPoint> points;
  if (classes.empty()) return points;
  SCHAAS_ASSIGN_OR_RETURN(const auto costs, client::select(classes, sizes, machine));
  for (std::size_t r = 0; r < removals.size(); ++r) {
    const client::Removal& removal = *removals[r];
    points.push_back({"",
                      removal.id + ", dropped (" + removal.kind + ")\nT = " + removal.time +
                          "\nM = " + removal.memory + "\nfor " + removal.by,
                      costs.evaluated[r].memory_bytes, costs.evaluated[r].time, PlotPoint::Kind::dropped});
  }
  return points;
}

struct Drawn {
  Plot plot;
  Json json;
  std::string chosen;
};

support::Result<Drawn> draw(const PlotOptions& options, const client::ScheduleAnswer& answer,
                            const client::Sizes& sizes, const client::Sizes& reported) {
  const client::Frontier& frontier = answer.frontier;
  SCHAAS_ASSIGN_OR_RETURN(const auto type, value_type(options.problem.value_type));
  const client::Machine machine = client::this_machine(type, options.threads);
  SCHAAS_ASSIGN_OR_RETURN(const auto selection, client::select(frontier.entries, sizes, machine));
  Drawn drawn;
  SCHAAS_ASSIGN_OR_RETURN(drawn.plot.points, removed_points(frontier, sizes, machine));
  const std::size_t dropped = drawn.plot.points.size();
  drawn.json["points"] = Json::array();
  for (std::size_t e = 0; e < frontier.entries.size(); ++e) {
    const client::FrontierEntry& entry = frontier.entries[e];
    const client::Evaluated& here = selection.evaluated[e];
    const bool chosen = e == selection.index;
    drawn.plot.points.push_back(
        {entry.id,
         entry.id + "  " + entry.tree + "\nT = " + entry.time + "\nM = " + entry.memory + "\n\n" + entry.code,
         here.memory_bytes, here.time, chosen ? PlotPoint::Kind::chosen : PlotPoint::Kind::survivor});
    drawn.json["points"].push_back({{"id", entry.id},
                                    {"tree", entry.tree},
                                    {"time_here", here.time},
                                    {"memory_bytes_here", here.memory_bytes},
                                    {"chosen", chosen}});
  }
  // An empty operand costs nothing anywhere; a logarithm needs something.
  for (PlotPoint& point : drawn.plot.points) point.time = std::max(point.time, 1.0);
  drawn.chosen = frontier.entries[selection.index].id;
  drawn.plot.title = options.problem.expression;
  drawn.plot.subtitle =
      sizes_text(reported) + "; " + counted(static_cast<std::size_t>(machine.threads), "thread", "threads");
  drawn.plot.memory_label = "memory of temporaries, bytes";
  drawn.plot.time_label = "time, weighted trips";
  drawn.plot.survivors = counted(frontier.entries.size(), "schedule", "schedules") + " on the frontier";
  if (dropped > 0)
    drawn.plot.dropped = counted(dropped, "class", "classes") + " dropped, proven never better";
  drawn.plot.chosen = drawn.chosen + " runs at these sizes";
  drawn.json["dropped"] = dropped;
  return drawn;
}

support::Result<Answer> plot(const PlotOptions& options) {
  SCHAAS_RETURN_IF_ERROR(check_picture(options.output));
  client::ScheduleRequest request;
  SCHAAS_ASSIGN_OR_RETURN(request.problem, problem_text(options.problem));
  request.search = options.search;
  request.search_only = true;
  SCHAAS_ASSIGN_OR_RETURN(TensorArguments arguments, tensor_arguments(options.tensors, options.problem));
  arguments.formats = request.problem.formats;
  SCHAAS_ASSIGN_OR_RETURN(const auto program, client::parse_program(request.problem.expression));
  SCHAAS_RETURN_IF_ERROR(check_names(arguments, program));
  SCHAAS_ASSIGN_OR_RETURN(auto connection, connect(options.server));
  ProgressLine progress;
  SCHAAS_ASSIGN_OR_RETURN(client::Operands operands, read_operands(arguments, program, progress));
  request.problem.formats = format_texts(operands, arguments);
  if (request.problem.position_bits == "auto")
    request.problem.position_bits = std::to_string(operands.position_bits);
  SCHAAS_ASSIGN_OR_RETURN(const auto packed,
                          client::pack_all(operands, program, arguments.value_type, show_packing(progress)));
  const client::Sizes sizes = client::all_sizes(operands, packed);
  SCHAAS_ASSIGN_OR_RETURN(const auto answer, connection.schedule(request, show_all_events(progress)));
  progress.clear();
  SCHAAS_RETURN_IF_ERROR(client::check_bounds(answer.frontier, sizes));
  SCHAAS_ASSIGN_OR_RETURN(Drawn drawn, draw(options, answer, sizes, client::reported_sizes(sizes, packed)));
  SCHAAS_RETURN_IF_ERROR(write_picture(options.output, svg(drawn.plot)));

  Answer out;
  out.text = options.output + ": " + drawn.plot.survivors +
             (drawn.plot.dropped.empty() ? "" : ", " + drawn.plot.dropped) + "; " + drawn.plot.chosen + "\n";
  out.json = {{"expression", options.problem.expression},
              {"key", answer.frontier.key},
              {"written", options.output},
              {"chosen", drawn.chosen}};
  out.json.update(drawn.json);
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
