#include <array>

#include "compiler/index_notation/printer.h"
#include "compiler/problem/problem.h"

// The stored text of a problem, a line for each property. A stored text is built like a user's request and
// printed again: any difference means damage. So one problem has one text, whose digest can be the key
// (docs/cache_key.md).
namespace schaas::problem {
namespace {

using support::Diagnostic;
using support::Result;

constexpr std::string_view first_line = "schaas-problem 1";

Diagnostic damaged(std::size_t line, const std::string& why) {
  return support::invalid("stored-problem", "stored problem, line " + std::to_string(line) + ": " + why);
}

bool take_prefix(std::string_view& line, std::string_view prefix) {
  if (line.substr(0, prefix.size()) != prefix) return false;
  line.remove_prefix(prefix.size());
  return true;
}

// One line after the expression. The order of lines is checked at the end, by printing again.
Result<void> read(std::string_view line, std::size_t number, ProblemText& text) {
  if (take_prefix(line, "format ")) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return damaged(number, "a format without levels");
    text.formats[std::string(line.substr(0, space))] = std::string(line.substr(space + 1));
  } else if (take_prefix(line, "values ")) {
    text.value_type = std::string(line);
  } else if (take_prefix(line, "positions ")) {
    text.position_bits = std::string(line);
  } else if (take_prefix(line, "profile ")) {
    text.profile = std::string(line);
  } else if (take_prefix(line, "space ")) {
    text.space = std::string(line);
  } else if (take_prefix(line, "where ")) {
    text.constraints.emplace_back(line);
  } else {
    return damaged(number, "unknown line `" + std::string(line) + "`");
  }
  return {};
}

}  // namespace

std::string print(const Problem& problem) {
  std::string out = std::string(first_line) + '\n' + index_notation::print(problem.program()) + '\n';
  for (const auto& tensor : problem.tensors()) {
    out += "format " + tensor + ' ' + format::print(problem.formats.at(tensor)) + '\n';
  }
  out += std::string("values ") + name(problem.value_type) + '\n';
  out += "positions " + std::to_string(problem.position_bits) + '\n';
  out += std::string("profile ") + name(problem.profile) + '\n';
  if (!problem.space.empty()) out += "space " + print(problem.space) + '\n';
  for (const auto& constraint : problem.constraints) out += "where " + print(constraint) + '\n';
  return out;
}

Result<Problem> parse_problem(std::string_view text) {
  ProblemText parts;
  std::size_t number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    ++number;
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) return damaged(number, "the text is cut off");
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (number == 1 && line != first_line) {
      return damaged(number, "expected `" + std::string(first_line) + "`, found `" +
                                 std::string(line.substr(0, 80)) + "`");
    }
    if (number == 2) parts.expression = std::string(line);
    if (number > 2) SCHAAS_RETURN_IF_ERROR(read(line, number, parts));
  }
  if (number < 2) return damaged(number + 1, "the text is cut off");
  auto problem = build(parts);
  if (!problem.ok()) {
    return support::noting(support::invalid("stored-problem", "stored problem: it is not a valid problem"),
                           support::render(problem.error()));
  }
  if (print(*problem) != text) return damaged(number, "the lines are not in the form they are stored in");
  return problem;
}

}  // namespace schaas::problem
