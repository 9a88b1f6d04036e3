#include <memory>

#include "client/cli/command_line.h"
#include "client/cli/problem_options.h"
#include "schaas/host.h"

/// schaas emit: one schedule as trace, tree, loops, C or CUDA.
namespace schaas::cli {
namespace {

struct EmitOptions {
  ProblemOptions problem;
  client::SearchOptions search;
  ServerOptions server;
  std::string schedule = "auto", language = "c", isa;
};

support::Result<Answer> emit(const EmitOptions& options) {
  SCHAAS_ASSIGN_OR_RETURN(const auto text, problem_text(options.problem));
  SCHAAS_ASSIGN_OR_RETURN(auto connection, connect(options.server));
  const std::string isa = client::isa_for(options.isa);
  Answer answer;
  SCHAAS_ASSIGN_OR_RETURN(answer.text,
                          connection.emit(text, options.schedule, options.language, isa, options.search));
  answer.json = {{"expression", text.expression},
                 {"schedule", options.schedule},
                 {"lang", options.language},
                 {"isa", isa},
                 {"text", answer.text}};
  if (answer.text.empty() || answer.text.back() != '\n') answer.text += '\n';
  return answer;
}

}  // namespace

void add_emit(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<EmitOptions>();
  CLI::App* command = program.add_subcommand("emit", "Print one schedule as trace, tree, loops, C or CUDA");
  add_to(*command, options->problem);
  add_to(*command, options->search);
  command->add_option("--schedule", options->schedule, "auto, linear, an id of the frontier (s2), or a trace")
      ->capture_default_str()
      ->type_name("WHICH");
  command->add_option("--lang", options->language, "trace, tree, loops, c or cuda")
      ->capture_default_str()
      ->type_name("LANG");
  command
      ->add_option("--isa", options->isa, "Instruction set of the C (default: the best this processor has)")
      ->type_name("NAME");
  add_to(*command, options->server);
  command->callback([options, &chosen] { chosen = [options] { return emit(*options); }; });
}

}  // namespace schaas::cli
