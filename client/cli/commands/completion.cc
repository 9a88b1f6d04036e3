#include <memory>
#include <sstream>

#include "client/cli/command_line.h"
#include "compiler/support/nearest_name.h"

// schaas completion: the program's commands and options as a completion for shells. It is made from the
// parser's own description, so it cannot lag behind. zsh runs the script of bash through its compatibility
// functions.
namespace schaas::cli {
namespace {

/// Long names of the options of a command, then its commands.
std::string words_of(const CLI::App& command) {
  std::string words;
  for (const CLI::App* below : command.get_subcommands([](const CLI::App*) { return true; }))
    words += (words.empty() ? "" : " ") + below->get_name();
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) words += (words.empty() ? "--" : " --") + name;
  }
  return words;
}

std::string script(const CLI::App& program, bool zsh) {
  std::ostringstream out;
  out << "# Completion for schaas: eval \"$(schaas completion " << (zsh ? "zsh" : "bash") << ")\"\n";
  if (zsh) out << "autoload -U +X bashcompinit && bashcompinit\n";
  out << "_schaas() {\n  local words\n  case \"$COMP_CWORD:${COMP_WORDS[1]}\" in\n    1:*) words=\""
      << words_of(program) << "\" ;;\n";
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    out << "    *:" << command->get_name() << ") words=\"" << words_of(*command) << "\" ;;\n";
  out << "  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\n"
      << "complete -o default -F _schaas schaas\n";
  return out.str();
}

support::Result<Answer> completion(const CLI::App& program, const std::string& shell) {
  if (shell != "bash" && shell != "zsh") {
    return support::unsupported("shell", "`" + shell + "`: completions are made for bash and zsh" +
                                             support::did_you_mean(shell, {"bash", "zsh"}));
  }
  Answer answer;
  answer.text = script(program, shell == "zsh");
  answer.json = {{"shell", shell}, {"script", answer.text}};
  return answer;
}

}  // namespace

void add_completion(CLI::App& program, Action& chosen) {
  auto shell = std::make_shared<std::string>("bash");
  CLI::App* command = program.add_subcommand(
      "completion", "Print a completion for a shell: eval \"$(schaas completion bash)\"");
  command->add_option("SHELL", *shell, "bash or zsh");
  command->callback(
      [shell, &program, &chosen] { chosen = [shell, &program] { return completion(program, *shell); }; });
}

}  // namespace schaas::cli
