#include "server/daemon/configuration_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include "compiler/support/nearest_name.h"

// The lines of a configuration file, for errors with a line and a caret. This is no second parser: it finds
// the names of options and leaves values to the library. Only arrays may span lines, and their further lines
// are skipped.
namespace schaas::server {
namespace {

using support::Diagnostic;
using support::Result;

constexpr std::string_view blanks = " \t\r";

/// A line that sets an option.
struct Line {
  std::uint64_t number = 0;
  std::string text;
  std::string option;
  support::SourceRange range;  ///< range of the option in the text
};

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

// Returns true when an array that begins in this line ends in a later one.
bool goes_on(const std::string& line) {
  const std::string value = trimmed(line.substr(line.find('=') + 1));
  return value.starts_with('[') && value.find(']') == std::string::npos;
}

Diagnostic wrong(const std::string& path, const Line& line, const std::string& what) {
  Diagnostic error = support::at(support::invalid("configuration", what), path, line.text, line.range);
  error.first_line = line.number;
  return error;
}

// Returns the lines that set options, without comments, empty lines and further lines of arrays.
Result<std::vector<Line>> lines_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    return support::invalid("configuration",
                            "cannot read the configuration file `" + path + "`: " + std::strerror(errno));
  }
  std::vector<Line> out;
  std::string text;
  bool inside = false;  // an array
  for (std::uint64_t number = 1; std::getline(file, text); ++number) {
    if (inside) {
      inside = text.find(']') == std::string::npos;
      continue;
    }
    const auto begin = text.find_first_not_of(blanks);
    if (begin == std::string::npos || text[begin] == '#') continue;
    const auto end = std::min(text.find('='), text.size());
    const std::string option = trimmed(text.substr(begin, end - begin));
    const auto from = static_cast<std::uint32_t>(begin);
    Line line{number,
              text,
              option,
              {from, from + static_cast<std::uint32_t>(std::max<std::size_t>(option.size(), 1))}};
    if (end == text.size())
      return wrong(path, line,
                   option.starts_with('[') ? "sections are not used here; expected `option = value`"
                                           : "expected `option = value`");
    inside = goes_on(text);
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace

Result<void> check_configuration_file(const std::string& path, const std::vector<std::string>& known) {
  SCHAAS_ASSIGN_OR_RETURN(const std::vector<Line> lines, lines_of(path));
  for (auto line = lines.begin(); line != lines.end(); ++line) {
    if (std::find(known.begin(), known.end(), line->option) == known.end()) {
      return wrong(path, *line,
                   "unknown option `" + line->option + "`" + support::did_you_mean(line->option, known));
    }
    const auto same = [&](const Line& other) { return other.option == line->option; };
    if (const auto first = std::find_if(lines.begin(), line, same); first != line) {
      return wrong(path, *line,
                   "`" + line->option + "` was given in line " + std::to_string(first->number) + " already");
    }
  }
  return {};
}

Diagnostic located(Diagnostic error, const std::string& path, const std::vector<std::string>& known) {
  const auto lines = lines_of(path);
  if (!lines.ok()) return error;
  std::optional<Line> found;
  for (const auto& line : *lines) {
    // The longest match: `--tls-cert` is a prefix of `--tls-cert-file`.
    const bool named =
        std::find(known.begin(), known.end(), line.option) != known.end() &&
        (error.code == line.option || error.message.find("--" + line.option) != std::string::npos);
    if (named && (!found || line.option.size() > found->option.size())) found = line;
  }
  if (!found) return error;
  Diagnostic out = wrong(path, *found, error.message);
  if (error.code != "command-line") out.code = error.code;
  return out;
}

}  // namespace schaas::server
