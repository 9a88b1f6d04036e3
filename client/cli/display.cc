#include "client/cli/display.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <sstream>

// Options of every command that say how the program shows itself, and the layout of its help.
namespace schaas::cli {

Display& display() {
  static Display chosen;
  return chosen;
}

void add_display(CLI::App& command) {
  command
      .add_option("--color,--colour", display().colours,
                  "Colours: auto (on terminals, unless NO_COLOR is set), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}).description(""))
      ->capture_default_str()
      ->type_name(choices({"auto", "always", "never"}));
  command.add_flag("-q,--quiet", display().quiet,
                   "Show no progress and no notes, only the answer and errors");
}

std::string choices(const std::vector<std::string>& values) {
  std::string out;
  for (const auto& value : values) out += (out.empty() ? "" : "|") + value;
  return out;
}

namespace {

std::size_t terminal_columns() {
  winsize size{};
  if (isatty(STDOUT_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return std::numeric_limits<std::size_t>::max();
  return size.ws_col;
}

/// Breaks the text at spaces, so that no line is longer than `columns` where the words allow.
std::string wrapped(const std::string& text, std::size_t columns) {
  std::istringstream words(text);
  std::string out;
  std::size_t used = 0;
  for (std::string word; words >> word;) {
    const bool fits = word.size() + 1 <= columns - std::min(columns, used);
    if (!out.empty()) out += fits ? ' ' : '\n';
    used = out.empty() || !fits ? word.size() : used + 1 + word.size();
    out += word;
  }
  return out;
}

}  // namespace

HelpFormatter::HelpFormatter() : columns_(terminal_columns()) {}

std::string HelpFormatter::make_description(const CLI::App* command) const {
  return wrapped(command->get_description(), columns_) + "\n";
}

std::string HelpFormatter::beside_names(const std::string& text) const {
  constexpr std::size_t narrowest = 20;  // columns of a text; narrower terminals break lines themselves
  const std::size_t names = get_column_width();
  return columns_ < names + narrowest ? text : wrapped(text, columns_ - names);
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  std::ostringstream out;
  CLI::detail::format_help(out, command->get_name(), beside_names(command->get_description()),
                           get_column_width());
  return out.str();
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  return beside_names(option->get_description());
}

}  // namespace schaas::cli
