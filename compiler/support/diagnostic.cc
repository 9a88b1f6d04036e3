#include "compiler/support/diagnostic.h"

#include <algorithm>
#include <utility>

// The one rendering of errors, with the line that the range begins in and a caret below it. Ranges are bytes
// and come from others, so they are clamped: to the text, to the line, and to a window of a long line. Every
// byte counts as one column.
namespace schaas::support {
namespace {

Diagnostic make(Family family, std::string code, std::string message) {
  Diagnostic d;
  d.family = family;
  d.code = std::move(code);
  d.message = std::move(message);
  return d;
}

// Control bytes in user text must neither move the caret nor reach the terminal.
char printable_character(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c; }

void append_source_line(const Diagnostic& d, std::string& out) {
  const std::size_t begin = std::min<std::size_t>(d.range->begin, d.source.size());
  const std::size_t line_begin = begin == 0 ? 0 : d.source.rfind('\n', begin - 1) + 1;  // npos + 1 == 0
  const std::size_t line_end = std::min(d.source.find('\n', begin), d.source.size());
  const auto line = d.first_line + std::count(d.source.begin(), d.source.begin() + line_begin, '\n');
  // Marks at least one column, also at the end of the text, and nothing beyond the line.
  const std::size_t end = std::clamp<std::size_t>(d.range->end, begin + 1, std::max(begin + 1, line_end));
  out +=
      "\n  --> " + d.source_name + ":" + std::to_string(line) + ":" + std::to_string(begin - line_begin + 1);
  // Long lines are cut to a window around the range.
  constexpr std::size_t before = 80, after = 60;
  const std::size_t from = begin - line_begin > before ? begin - before : line_begin;
  const std::size_t to = std::min(line_end, std::max(end, begin + after));
  std::string text = d.source.substr(from, to - from);
  std::transform(text.begin(), text.end(), text.begin(), printable_character);
  out += "\n  | " + text + "\n  | " + std::string(begin - from, ' ') + "^" +
         std::string(std::min(end, to > begin ? to : begin + 1) - begin - 1, '~');
}

}  // namespace

Diagnostic invalid(std::string code, std::string message) {
  return make(Family::invalid, std::move(code), std::move(message));
}
Diagnostic unsupported(std::string code, std::string message) {
  return make(Family::unsupported, std::move(code), std::move(message));
}
Diagnostic exhausted(std::string code, std::string message) {
  return make(Family::exhausted, std::move(code), std::move(message));
}
Diagnostic internal(std::string code, std::string message) {
  return make(Family::internal, std::move(code), std::move(message));
}
Diagnostic unreachable(std::string code, std::string message) {
  return make(Family::unreachable, std::move(code), std::move(message));
}

Diagnostic at(Diagnostic d, std::string source_name, std::string source, SourceRange range) {
  d.source_name = std::move(source_name);
  d.source = std::move(source);
  d.range = range;
  return d;
}

Diagnostic noting(Diagnostic d, std::string note) {
  d.notes.push_back(std::move(note));
  return d;
}

const char* name(Family family) {
  switch (family) {
    case Family::invalid:
      return "invalid";
    case Family::unsupported:
      return "unsupported";
    case Family::exhausted:
      return "exhausted";
    case Family::internal:
      return "internal";
    case Family::unreachable:
      return "unreachable";
  }
  return "internal";
}

// Scripts rely on these numbers; 70 is EX_SOFTWARE of sysexits.h.
int exit_code(Family family) {
  switch (family) {
    case Family::invalid:
      return 2;
    case Family::unsupported:
      return 3;
    case Family::exhausted:
      return 4;
    case Family::internal:
      return 70;
    case Family::unreachable:
      return 5;
  }
  return 70;
}

std::string render(const Diagnostic& d) {
  std::string out = std::string(name(d.family)) + " [" + d.code + "]: " + d.message;
  if (d.range) append_source_line(d, out);
  for (const auto& note : d.notes) out += "\n  note: " + note;
  return out;
}

}  // namespace schaas::support
