#include <chrono>
#include <memory>

#include "client/cli/command_line.h"
#include "client/cli/problem_options.h"
#include "client/cli/progress.h"
#include "client/cli/schedule_report.h"

// schaas schedule: the frontier of a problem, without compiling or running anything. With --why the server
// explains one schedule: the argument by which it was removed, or the sizes at which it wins.
namespace schaas::cli {
namespace {

struct ScheduleOptions {
  ProblemOptions problem;
  client::SearchOptions search;
  ServerOptions server;
  std::string why;
  bool no_stage2 = false, no_cache = false, gpu = false, deterministic = false;
};

bool is_sparseauto(const ScheduleOptions& options) { return options.problem.profile == "sparseauto"; }

// Asks for the frontier alone; with --why also for the explanation of one schedule.
support::Result<Answer> schedule(const ScheduleOptions& options) {
  if (options.no_stage2 && !is_sparseauto(options)) {
    return support::invalid("no-stage2",
                            "--no-stage2 needs `--profile sparseauto`: the default search has no stage 2");
  }
  client::ScheduleRequest request;
  SCHAAS_ASSIGN_OR_RETURN(request.problem, problem_text(options.problem));
  request.search = options.search;
  request.search_only = true;
  request.no_cache = options.no_cache;
  request.no_stage2 = options.no_stage2;
  request.wins = options.why.empty();
  request.gpu = options.gpu;
  request.deterministic = options.deterministic;
  SCHAAS_ASSIGN_OR_RETURN(auto connection, connect(options.server));
  ScheduleFacts facts;
  facts.expression = options.problem.expression;
  facts.published_stages = is_sparseauto(options);
  facts.server_address = connection.address();
  const auto start = std::chrono::steady_clock::now();
  // The progress line is wiped out before anything is printed.
  {
    ProgressLine progress;
    SCHAAS_ASSIGN_OR_RETURN(facts.answer, connection.schedule(request, show_all_events(progress)));
  }
  facts.server_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!options.why.empty()) {
    SCHAAS_ASSIGN_OR_RETURN(const auto explanations, connection.explain(request, options.why));
    return explain(facts, options.why, explanations);
  }
  return report(facts);
}

}  // namespace

void add_schedule(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<ScheduleOptions>();
  CLI::App* command =
      program.add_subcommand("schedule", "Show the frontier: every schedule that can win, with its cost");
  add_to(*command, options->problem);
  add_to(*command, options->search);
  command
      ->add_option("--why", options->why,
                   "Why a schedule is, or is not, on the frontier: an id (s2), a removed class (r17), a "
                   "trace, or a loop tree "
                   "(i<jk,kl>)")
      ->type_name("WHICH");
  command->add_flag("--no-stage2", options->no_stage2, "With --profile sparseauto: skip the depth poset");
  command->add_flag("--gpu", options->gpu, "Show also how the schedules run on a GPU");
  command->add_flag("--deterministic", options->deterministic,
                    "With --gpu: only what gives the same result to the last bit each time");
  command->add_flag("--no-cache", options->no_cache, "Search anew even when the answer is stored");
  add_to(*command, options->server);
  command->callback([options, &chosen] { chosen = [options] { return schedule(*options); }; });
}

}  // namespace schaas::cli
