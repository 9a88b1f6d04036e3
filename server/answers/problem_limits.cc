#include "server/answers/problem_limits.h"

#include <cstdint>
#include <string>

#include "compiler/index_notation/nodes.h"

// Limits that an operator may set below those of the language. The text is checked before it is parsed,
// without a parser: depth is counted by parentheses alone, and unbalanced ones are left to the parser.
// Operands and indices are counted on the parsed problem.
namespace schaas::server {
namespace {

using support::Result;

std::string beyond(const std::string& what, std::size_t found, const std::string& noun, std::size_t most) {
  return "the " + what + " has " + std::to_string(found) + " " + noun + "; this server takes at most " +
         std::to_string(most);
}

Result<void> check_nesting(const std::string& text, std::size_t most) {
  std::size_t depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == ')' && depth > 0) --depth;
    if (text[at] != '(' || ++depth <= most) continue;
    const auto begin = static_cast<std::uint32_t>(at);
    return support::at(
        support::invalid("nesting", "parentheses are nested deeper than the " + std::to_string(most) +
                                        " levels that this server takes"),
        "expression", text, {begin, begin + 1});
  }
  return {};
}

}  // namespace

Result<void> check_text(const problem::ProblemText& text, const ProblemLimits& limits) {
  if (text.expression.size() > limits.expression_bytes)
    return support::invalid("too-long",
                            beyond("expression", text.expression.size(), "bytes", limits.expression_bytes));
  SCHAAS_RETURN_IF_ERROR(check_nesting(text.expression, limits.nesting));
  if (text.constraints.size() > limits.constraints)
    return support::invalid("too-many-constraints",
                            beyond("problem", text.constraints.size(), "constraints", limits.constraints));
  return {};
}

Result<void> check_size(const problem::Problem& problem, const ProblemLimits& limits) {
  for (const auto& statement : problem.statements()) {
    const std::size_t found = index_notation::operands(statement.value).size();
    if (found > limits.operands)
      return support::unsupported("too-many-operands",
                                  beyond("statement", found, "operands", limits.operands));
  }
  const std::size_t found = index_notation::index_variables(problem.statements()).size();
  if (found > limits.indices)
    return support::unsupported("too-many-indices", beyond("expression", found, "indices", limits.indices));
  return {};
}

}  // namespace schaas::server
