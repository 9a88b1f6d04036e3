#include <memory>

#include "client/cli/command_line.h"
#include "client/cli/display.h"
#include "compiler/support/nearest_name.h"

// schaas help COMMAND: what `schaas COMMAND --help` prints.
namespace schaas::cli {
namespace {

support::Result<Answer> help(const CLI::App& program, const std::vector<std::string>& words) {
  const CLI::App* command = &program;
  std::string called = program.get_name();
  for (const std::string& word : words) {
    const auto named =
        command->get_subcommands([&word](const CLI::App* one) { return one->get_name() == word; });
    if (named.empty()) {
      return support::invalid("command-line", "`" + called + "` has no command `" + word + "`" +
                                                  support::did_you_mean(word, command_names(*command)));
    }
    command = named.front();
    called += " " + word;
  }
  Answer answer;
  // The formatter itself: App::help() of the program is that of the command which was parsed.
  answer.text = command->get_formatter()->make_help(command, called, CLI::AppFormatMode::Normal);
  answer.json = {{"command", called}, {"help", answer.text}};
  return answer;
}

}  // namespace

void add_help(CLI::App& program, Action& chosen) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = program.add_subcommand("help", "Explain a command: schaas help cache show");
  command->add_option("COMMAND", *words, "Its words; without any the whole program")
      ->type_name(choices(command_names(program)));
  command->callback(
      [words, &program, &chosen] { chosen = [words, &program] { return help(program, *words); }; });
}

}  // namespace schaas::cli
