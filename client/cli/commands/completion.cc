#include <algorithm>
#include <memory>
#include <sstream>

#include "client/cli/command_line.h"
#include "client/cli/display.h"
#include "compiler/support/nearest_name.h"

// schaas completion: the program's commands, options and values as a completion for shells. It is made from
// the parser's own description, so it cannot lag behind: an option whose type reads a|b|c takes these values.
// Keys and jobs are asked from the server that SCHAAS_SERVER names; none is started for them. Where nothing
// is offered, the shell completes files. zsh runs the script of bash through its compatibility functions.
namespace schaas::cli {
namespace {

using Commands = std::vector<const CLI::App*>;

Commands below(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; });
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

/// "a|b|c" -> "a b c"; nothing for a type that is no list of values.
std::string values_of(const CLI::Option& option) {
  std::string values = option.get_type_name();
  if (values.find('|') == std::string::npos) return "";
  std::replace(values.begin(), values.end(), '|', ' ');
  return values;
}

/// Its commands, the long names of its options, and the values of its arguments.
std::string words_of(const CLI::App& command) {
  std::string words;
  const auto add = [&words](const std::string& word) { words += (words.empty() ? "" : " ") + word; };
  for (const CLI::App* one : below(command)) add(one->get_name());
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) add("--" + name);
    if (option->get_positional() && !values_of(*option).empty()) add(values_of(*option));
  }
  return words;
}

/// A call that asks the server for names, where an argument of the command is one; else empty.
std::string names_of(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_name() == "KEY") return " $(_schaas_names key cache list --limit 1000)";
    if (option->get_name() == "JOB") return " $(_schaas_names id jobs)";
  }
  return "";
}

/// The values behind each option, then the words of the command: patterns of `case` over "COMMAND:WORD
/// BEFORE".
void add_command(std::ostream& out, const CLI::App& command, const std::string& called) {
  std::string unknown;  // options whose values nobody can list
  for (const CLI::Option* option : command.get_options()) {
    if (!takes_value(*option)) continue;
    std::string pattern;
    const auto add = [&](const std::string& name) {
      pattern += (pattern.empty() ? "" : "|") + ("'" + called + ":" + name + "'");
    };
    for (const std::string& name : option->get_lnames()) add("--" + name);
    for (const std::string& name : option->get_snames()) add("-" + name);
    if (pattern.empty()) continue;
    const std::string values = values_of(*option);
    if (values.empty())
      unknown += (unknown.empty() ? "" : "|") + pattern;
    else
      out << "    " << pattern << ") words=\"" << values << "\" ;;\n";
  }
  if (!unknown.empty()) out << "    " << unknown << ") words= ;;\n";
  out << "    '" << called << ":'*) words=\"" << words_of(command) << names_of(command) << "\" ;;\n";
  for (const CLI::App* one : below(command)) add_command(out, *one, called + " " + one->get_name());
}

const char* const before_cases =
    R"(_schaas_names() {
  [ -n "$SCHAAS_SERVER" ] || return
  local field=$1
  shift
  schaas "$@" --json 2>/dev/null | grep -o "\"$field\": *\"[^\"]*\"" | cut -d'"' -f4
}
_schaas() {
  local words= current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" command="${COMP_WORDS[1]}"
  COMPREPLY=()
  # Shells split words at =, in --dtype=f32 as in -t B=file, where a file is meant.
  if [ "$current" = = ] || [ "$before" = = ]; then
    if [ "$current" = = ]; then current=; else before="${COMP_WORDS[COMP_CWORD-2]}"; fi
    [ "${before#-}" = "$before" ] && return
  fi
  [ "$COMP_CWORD" -eq 1 ] && command= before=
  case "$command" in
)";

std::string script(const CLI::App& program, bool zsh) {
  std::ostringstream out;
  out << "# Completion for schaas: eval \"$(schaas completion " << (zsh ? "zsh" : "bash") << ")\"\n";
  if (zsh) out << "autoload -U +X bashcompinit && bashcompinit\n";
  out << before_cases;
  for (const CLI::App* command : below(program)) {
    if (below(*command).empty()) continue;
    out << "    " << command->get_name()
        << ") [ \"$COMP_CWORD\" -gt 2 ] && command=\"$command ${COMP_WORDS[2]}\" ;;\n";
  }
  out << "  esac\n  case \"$command:$before\" in\n    ':'*) words=\"" << words_of(program) << "\" ;;\n";
  for (const CLI::App* command : below(program)) add_command(out, *command, command->get_name());
  out << "  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n}\n"
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
  command->add_option("SHELL", *shell, "The shell")->type_name(choices({"bash", "zsh"}));
  command->callback(
      [shell, &program, &chosen] { chosen = [shell, &program] { return completion(program, *shell); }; });
}

}  // namespace schaas::cli
