#include "client/cli/command_line.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <new>
#include <vector>

#include "client/cli/colour.h"
#include "client/cli/display.h"
#include "client/cli/interrupt.h"
#include "compiler/support/nearest_name.h"

// The command line: CLI11 parses it, each command leaves an action, and the action's answer is printed as
// text or as one JSON object. Errors of the parser are replaced by messages that name what was found and the
// nearest known name. Exceptions end here; with --json a failure is an object, too, and the exit status is
// that of its family.
namespace schaas::cli {
namespace {

/// The command that was being parsed: the innermost one named on the command line.
const CLI::App& innermost(const CLI::App& program) {
  const auto parsed = program.get_subcommands();
  return parsed.empty() ? program : innermost(*parsed.front());
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    for (const auto& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

/// "schaas cache show"
std::string called(const CLI::App& command) {
  return (command.get_parent() ? called(*command.get_parent()) + " " : "") + command.get_name();
}

// Explains an argument that the parser did not expect, as an option, a command, or an operand.
support::Diagnostic unexpected(const CLI::App& program, const std::string& argument) {
  const CLI::App& command = innermost(program);
  const std::string where = command.get_parent() ? " of `" + called(command) + "`" : "";
  if (argument.size() > 1 && argument[0] == '-') {
    const std::string name = argument.substr(0, argument.find('='));
    return support::invalid("command-line", "unknown option `" + name + "`" + where +
                                                support::did_you_mean(name, option_names(command)));
  }
  const auto commands = command_names(command);
  if (!commands.empty()) {
    return support::invalid("command-line", "unknown command `" + argument + "`; expected one of " +
                                                joined(commands) + support::did_you_mean(argument, commands));
  }
  // Guesses at the mistake: an unquoted expression, or a file to write without its option.
  const bool has_file = command.get_option_no_throw("--output") != nullptr;
  const bool has_expression = command.get_option_no_throw("EXPR") != nullptr;
  return support::invalid("command-line",
                          "unexpected argument `" + argument + "`" + where +
                              (has_expression ? "; an expression with spaces must be quoted"
                               : has_file     ? "; the file to write is given as `-o " + argument + "`"
                                              : ""));
}

// The parser failed, so the flag may not have been read.
bool asks_for_json(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc, [](const char* text) { return std::string(text) == "--json"; });
}

// Prints a diagnostic for people, and with --json one for programs, unless an answer was printed.
int report_failure(const support::Diagnostic& diagnostic, bool json, bool answered) {
  std::cerr << painted(diagnostic) << "\n";
  if (json && !answered) std::cout << dump(error_object(diagnostic)) << "\n";
  return support::exit_code(diagnostic.family);
}

support::Result<Answer> act(const Action& action) {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    return support::exhausted("memory", "there is not enough memory for this request");
  } catch (const std::exception& error) {
    return support::internal("client-internal", std::string("a bug in schaas: ") + error.what());
  }
}

// Standard output is checked once all was written: a full disk or a closed pipe must not pass for success.
int finish(const support::Result<Answer>& answer, bool json) {
  if (!answer.ok()) return report_failure(answer.error(), json, false);
  // With the result on standard output the report goes to standard error.
  (answer->beside_output ? std::cerr : std::cout)
      << (json ? dump(answer->json) + "\n" : shown(answer->text)) << std::flush;
  if (!std::cout)
    return report_failure(support::invalid("output", "standard output cannot be written"), json, true);
  return answer->failure ? report_failure(*answer->failure, json, true) : 0;
}

}  // namespace

std::vector<std::string> command_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  return names;
}

void add_commands(CLI::App& program, Action& chosen, bool& json) {
  program.require_subcommand(1);
  program.option_defaults()->always_capture_default(false);
  program.formatter(std::make_shared<HelpFormatter>());
  add_run(program, chosen);
  add_schedule(program, chosen);
  add_tune(program, chosen);
  add_plot(program, chosen);
  add_emit(program, chosen);
  add_convert(program, chosen);
  add_format_comparison(program, chosen);
  add_gradient(program, chosen);
  add_bundle(program, chosen);
  add_cache(program, chosen);
  add_admin(program, chosen);
  add_jobs(program, chosen);
  add_calibrate(program, chosen);
  add_info(program, chosen);
  add_doctor(program, chosen);
  add_completion(program, chosen);
  add_help(program, chosen);
  // Options of every command without commands below it.
  const auto add_common = [&json](CLI::App* command) {
    command->add_flag("--json", json, "Print exactly one JSON object on standard output");
    add_display(*command);
  };
  for (CLI::App* command : program.get_subcommands({})) {
    const auto below = command->get_subcommands({});
    if (below.empty()) add_common(command);
    for (CLI::App* sub : below) add_common(sub);
  }
}

support::Diagnostic command_line_error(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& command = innermost(program);
  auto extras = command.remaining();
  if (extras.empty()) extras = program.remaining();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) && !extras.empty())
    return unexpected(program, extras.front());
  if (!dynamic_cast<const CLI::RequiredError*>(&error)) return support::invalid("command-line", error.what());

  // A command is missing, perhaps because it was misspelt; --json is an option of every command.
  extras.erase(std::remove(extras.begin(), extras.end(), "--json"), extras.end());
  if (!extras.empty()) return unexpected(program, extras.front());
  const auto commands = command_names(command);
  if (!commands.empty()) {
    return support::noting(
        support::invalid("command-line", "`" + called(command) + "` needs a command: " + joined(commands)),
        "`" + called(command) + " --help` explains them");
  }
  return support::noting(support::invalid("command-line", "`" + called(command) + "`: " + error.what()),
                         "`" + called(command) + " --help` shows its options");
}

// Parses, acts, and prints. Returns the exit status.
int execute(int argc, char** argv, const std::string& version) {
  setenv("GRPC_VERBOSITY", "NONE", 0);  // failures are reported by the program's own messages, once
  CLI::App program(
      "Scheduling as a service for sparse tensor algebra: finds, compiles and runs the best loop nests.",
      "schaas");
  Action chosen;
  bool json = false;
  program.set_version_flag("-V,--version", "schaas " + version);
  add_commands(program, chosen, json);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help, --version
    return report_failure(command_line_error(program, error), asks_for_json(argc, argv), false);
  }
  // From here on signals end the program in good order.
  const Interrupt interrupt;
  return finish(act(chosen), json);
}

}  // namespace schaas::cli
