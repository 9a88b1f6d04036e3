#include <memory>

#include "client/cli/command_line.h"
#include "client/cli/figures.h"
#include "client/cli/problem_options.h"

// schaas admin: commands of the server's operator.
namespace schaas::cli {
namespace {

support::Result<Answer> back_up(const ServerOptions& options, const std::string& name) {
  SCHAAS_ASSIGN_OR_RETURN(auto connection, connect(options));
  SCHAAS_ASSIGN_OR_RETURN(const client::Backup done, connection.back_up(name));
  Answer answer;
  answer.json = {{"path", done.path}, {"binaries", done.binaries}, {"bytes", done.bytes}};
  answer.text =
      "backed up to " + done.path + " on the server, with " + counted(done.binaries, "binary", "binaries") +
      "\ncopy it to another disk; `schaasd --restore " + done.path + "` puts it back while no daemon runs\n";
  return answer;
}

}  // namespace

void add_admin(CLI::App& program, Action& chosen) {
  struct Options {
    ServerOptions server;
    std::string name;
  };
  auto options = std::make_shared<Options>();
  CLI::App* admin = program.add_subcommand("admin", "For who runs the server");
  admin->require_subcommand(1);
  CLI::App* backup = admin->add_subcommand(
      "backup", "Copy all that is stored into a folder of the server's, while it serves");
  backup->add_option("NAME", options->name, "Of the backup (default: the time)");
  add_to(*backup, options->server);
  backup->callback(
      [options, &chosen] { chosen = [options] { return back_up(options->server, options->name); }; });
}

}  // namespace schaas::cli
