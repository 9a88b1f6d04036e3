#pragma once
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace schaas::cli {

/// Colours and notes, by options of every command. Set while the command line is parsed, on one
/// thread; read afterwards.
struct Display {
  std::string colours = "auto";  ///< --color: auto, always, never
  bool quiet = false;            ///< --quiet: no progress and no notes, only answers and errors
};
Display& display();

/// Adds --color and --quiet to the command.
void add_display(CLI::App& command);

/// The values that an option takes, as its type in the help; completions offer them. "auto|32|64"
std::string choices(const std::vector<std::string>& values);

/// Help as CLI11 prints it, on a terminal with lines that fit there.
class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter();
  std::string make_description(const CLI::App* command) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_option_desc(const CLI::Option* option) const override;

 private:
  std::string beside_names(const std::string& text) const;

  std::size_t columns_;  ///< width of the terminal; without one, more than any line has
};

}  // namespace schaas::cli
