#include "client/cli/colour.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <sstream>

#include "client/cli/display.h"
#include "compiler/support/printable.h"

// Colours of a terminal, by the escape codes of ECMA-48. They are used only on terminals that show them, and
// not where NO_COLOR is set (no-color.org). Texts from elsewhere may hold control characters, which are made
// visible, so that nobody's data can steer a terminal.
namespace schaas::cli {
namespace {

const char* const plain = "\033[0m";

bool has_colours(int stream) {
  if (display().colours != "auto") return display().colours == "always";
  const char* terminal = std::getenv("TERM");
  const char* none = std::getenv("NO_COLOR");
  return isatty(stream) == 1 && (none == nullptr || *none == '\0') && terminal != nullptr &&
         std::strcmp(terminal, "dumb") != 0;
}

const char* code_of(Ink ink) {
  switch (ink) {
    case Ink::good:
      return "\033[32m";
    case Ink::careful:
      return "\033[33m";
    case Ink::bad:
      return "\033[1;31m";
  }
  return plain;
}

// "  |      ^~~~"
bool is_caret(const std::string& line) {
  const auto first = line.find_first_not_of(" |");
  return first != std::string::npos && line.find('|') < first &&
         line.find_first_not_of("^~", first) == std::string::npos;
}

}  // namespace

// Keeps the colour codes of this program and makes all other control characters visible.
std::string shown(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::size_t end = text.size(), length = 0;
    for (const char* code : {plain, code_of(Ink::good), code_of(Ink::careful), code_of(Ink::bad)}) {
      const std::size_t found = text.find(code);
      // A code that was not found is at npos, behind every end.
      if (found >= end) continue;
      end = found;
      length = std::strlen(code);
    }
    out += support::printable(text.substr(0, end));
    out += text.substr(end, length);
    text.remove_prefix(end + length);
  }
  return out;
}

std::string painted(Ink ink, const std::string& text) {
  return has_colours(STDOUT_FILENO) ? code_of(ink) + text + plain : text;
}

// Renders a diagnostic with its head and its carets in colour.
std::string painted(const support::Diagnostic& diagnostic) {
  const std::string text = support::printable(support::render(diagnostic));
  if (!has_colours(STDERR_FILENO)) return text;
  const auto head = text.find(':');
  std::string out = code_of(Ink::bad) + text.substr(0, head) + plain;
  std::istringstream lines(text.substr(head));
  bool first = true;
  for (std::string line; std::getline(lines, line); first = false) {
    if (!first) out += '\n';
    out += !first && is_caret(line) ? code_of(Ink::bad) + line + plain : line;
  }
  return out;
}

// A code ends with its first m.
std::size_t columns_of(const std::string& text) {
  std::size_t columns = 0;
  bool in_code = false;
  for (const char c : text) {
    if (c == '\033') in_code = true;
    if (!in_code) ++columns;
    if (c == 'm') in_code = false;
  }
  return columns;
}

}  // namespace schaas::cli
