#include <memory>

#include "client/cli/command_line.h"
#include "client/cli/display.h"
#include "client/cli/figures.h"
#include "client/cli/problem_options.h"
#include "client/cli/table.h"
#include "schaas/host.h"

// schaas emit: one schedule as trace, tree, loops, C or CUDA. The server makes the text, as the client has no
// compiler; the passes of lowering can be chosen one by one.
namespace schaas::cli {
namespace {

struct EmitOptions {
  ProblemOptions problem;
  ServerOptions server;
  client::EmitRequest request;
  bool remarks = false;
};

/// Prints a line for each pass of lowering: what it did, or why it did nothing.
std::string print_remarks(const std::vector<client::PassRemark>& remarks) {
  Table table{{"pass", "time", "remark"}, {}, {1}, ""};
  for (const auto& one : remarks) {
    table.rows.push_back({one.pass, seconds(std::chrono::duration<double>(one.time).count()),
                          one.applied ? "applied" : "not applied: " + one.reason});
  }
  return print(table);
}

Json remarks_json(const std::vector<client::PassRemark>& remarks) {
  Json out = Json::array();
  for (const auto& one : remarks) {
    out.push_back({{"pass", one.pass},
                   {"applied", one.applied},
                   {"reason", one.reason},
                   {"seconds", std::chrono::duration<double>(one.time).count()}});
  }
  return out;
}

support::Result<Answer> emit(const EmitOptions& options) {
  auto request = options.request;
  SCHAAS_ASSIGN_OR_RETURN(request.problem, problem_text(options.problem));
  SCHAAS_ASSIGN_OR_RETURN(auto connection, connect(options.server));
  request.isa = client::isa_for(request.isa);
  SCHAAS_ASSIGN_OR_RETURN(const auto emitted, connection.emit(request));
  Answer answer;
  answer.json = {{"expression", request.problem.expression},
                 {"schedule", request.schedule},
                 {"lang", request.language},
                 {"isa", request.isa},
                 {"text", emitted.text},
                 {"remarks", remarks_json(emitted.remarks)}};
  answer.text = options.remarks ? print_remarks(emitted.remarks) : emitted.text;
  if (answer.text.empty() || answer.text.back() != '\n') answer.text += '\n';
  return answer;
}

}  // namespace

void add_emit(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<EmitOptions>();
  CLI::App* command = program.add_subcommand("emit", "Print one schedule as trace, tree, loops, C or CUDA");
  add_to(*command, options->problem);
  auto& request = options->request;
  add_to(*command, request.search);
  command->add_option("--schedule", request.schedule, "auto, linear, an id of the frontier (s2), or a trace")
      ->capture_default_str()
      ->type_name("WHICH");
  command->add_option("--lang", request.language, "What to print")
      ->capture_default_str()
      ->type_name(choices({"trace", "tree", "loops", "c", "cuda"}));
  command->add_option("--isa", request.isa, "Instruction set of the C (default: the best this processor has)")
      ->type_name("NAME");
  command
      ->add_option("--passes", request.passes,
                   "Passes of lowering: a,b runs these, -c all but c; all and baseline stand for several")
      ->type_name("NAMES");
  command
      ->add_option("--after", request.last_pass,
                   "Leave out the passes after this one, or after `emission`, the first loops")
      ->type_name("PASS");
  command->add_flag("--remarks", options->remarks,
                    "Print what each pass did, or why it did nothing, instead of the code");
  add_to(*command, options->server);
  command->callback([options, &chosen] { chosen = [options] { return emit(*options); }; });
}

}  // namespace schaas::cli
