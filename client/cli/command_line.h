#pragma once
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "client/cli/answer.h"

namespace schaas::cli {

/// Each adds its command to the program; parsing it leaves the bound action in `chosen`.
void add_run(CLI::App& program, Action& chosen);
void add_tune(CLI::App& program, Action& chosen);
void add_schedule(CLI::App& program, Action& chosen);
void add_plot(CLI::App& program, Action& chosen);
void add_emit(CLI::App& program, Action& chosen);
void add_convert(CLI::App& program, Action& chosen);
void add_format_comparison(CLI::App& program, Action& chosen);
void add_gradient(CLI::App& program, Action& chosen);
void add_bundle(CLI::App& program, Action& chosen);
void add_cache(CLI::App& program, Action& chosen);
void add_admin(CLI::App& program, Action& chosen);
void add_calibrate(CLI::App& program, Action& chosen);
void add_jobs(CLI::App& program, Action& chosen);
void add_info(CLI::App& program, Action& chosen);
void add_doctor(CLI::App& program, Action& chosen);
void add_completion(CLI::App& program, Action& chosen);
void add_help(CLI::App& program, Action& chosen);

/// The whole program: commands, help, version. `json` becomes true when the chosen command was given --json.
void add_commands(CLI::App& program, Action& chosen, bool& json);

/// The names of the commands below a command.
std::vector<std::string> command_names(const CLI::App& command);

/// Describes the error in the command line: invalid [command-line], naming the nearest known option or
/// command.
support::Diagnostic command_line_error(const CLI::App& program, const CLI::ParseError& error);

/// Runs the program: parses, acts, prints. Returns the exit status (docs/command_line.md). `version` is
/// printed by --version.
int execute(int argc, char** argv, const std::string& version);

}  // namespace schaas::cli
