#include "compiler/frontier/proofs/solver_protocol.h"

#include <charconv>
#include <cmath>
#include <istream>
#include <ostream>
#include <sstream>

// Lines between a search and a solver in a process of its own. Both sides bound what they read: numbers of
// variables and relations, variables by number, values that are finite and as many as asked for. Each answer
// is flushed, since the other side waits for it.
namespace schaas::frontier {
namespace {

using support::Result;

constexpr int max_variables = 1000;
constexpr int max_relations = 100'000;

std::string sum_text(const SolverSum& sum) {
  if (sum.empty()) return "0";
  std::string text;
  for (const SolverMonomial& monomial : sum) {
    if (!text.empty()) text += " + ";
    text += std::to_string(monomial.coefficient);
    for (int v : monomial.variables) text += "*v" + std::to_string(v);
  }
  return text;
}

support::Diagnostic unreadable(const char* what, std::string_view text) {
  return support::invalid("solver-protocol", std::string("expected ") + what + ", found `" +
                                                 std::string(text.substr(0, 200)) + "`");
}

template <class Number>
bool read_number(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// Reads a sum; terms with coefficient 0 vanish.
bool read_sum(std::string_view& text, int variables, SolverSum& sum) {
  do {
    SolverMonomial monomial;
    if (!read_number(text, monomial.coefficient) || monomial.coefficient < 0) return false;
    while (take(text, "*v")) {
      int variable = 0;
      if (!read_number(text, variable) || variable < 0 || variable >= variables) return false;
      monomial.variables.push_back(variable);
    }
    if (monomial.coefficient != 0) sum.push_back(std::move(monomial));
  } while (take(text, " + "));
  return true;
}

/// "word a b".
Result<std::pair<int, int>> read_head(std::string_view line, std::string_view word) {
  std::string_view rest = line;
  int first = 0, second = 0;
  if (!take(rest, word) || !take(rest, " ") || !read_number(rest, first) || !take(rest, " ") ||
      !read_number(rest, second) || !rest.empty() || first < 0 || second < 0 || second > max_relations) {
    return unreadable("`assume VARIABLES CONSTRAINTS` or `check MILLISECONDS RELATIONS`", line);
  }
  return std::pair(first, second);
}

Result<std::vector<SolverRelation>> read_relations(std::istream& in, int count, int variables) {
  std::vector<SolverRelation> relations;
  std::string line;
  while (static_cast<int>(relations.size()) < count) {
    if (!std::getline(in, line)) return unreadable("a relation", "the end of the input");
    SCHAAS_ASSIGN_OR_RETURN(SolverRelation relation, parse_relation(line, variables));
    relations.push_back(std::move(relation));
  }
  return relations;
}

}  // namespace

std::string print(const SolverRelation& relation) {
  return sum_text(relation.lhs) + (relation.strict ? " < " : " <= ") + sum_text(relation.rhs);
}

Result<SolverRelation> parse_relation(std::string_view text, int variables) {
  SolverRelation relation;
  std::string_view rest = text;
  bool read = read_sum(rest, variables, relation.lhs);
  relation.strict = take(rest, " < ");
  read = read && (relation.strict || take(rest, " <= ")) && read_sum(rest, variables, relation.rhs);
  if (!read || !rest.empty()) return unreadable("a relation like `3*v0*v1 + 2 < 5*v1`", text);
  return relation;
}

std::string assume_request(int variables, const std::vector<SolverRelation>& constraints) {
  std::string text = "assume " + std::to_string(variables) + " " + std::to_string(constraints.size()) + "\n";
  for (const SolverRelation& relation : constraints) text += print(relation) + "\n";
  return text;
}

std::string check_request(const std::vector<SolverRelation>& relations, int milliseconds) {
  std::string text = "check " + std::to_string(milliseconds) + " " + std::to_string(relations.size()) + "\n";
  for (const SolverRelation& relation : relations) text += print(relation) + "\n";
  return text;
}

std::string print(const SolverAnswer& answer) {
  std::ostringstream text;
  text.precision(17);
  text << (answer.verdict == Verdict::unsatisfiable ? "unsat"
           : answer.verdict == Verdict::unknown     ? "unknown"
                                                    : "sat");
  for (double value : answer.model) text << " " << value;
  text << " steps " << answer.steps;
  return text.str();
}

Result<SolverAnswer> parse_answer(std::string_view line, int variables) {
  SolverAnswer answer;
  std::string_view rest = line, counted;
  if (const std::size_t at = line.find(" steps "); at != std::string_view::npos) {
    counted = line.substr(at + std::string_view(" steps ").size());
    rest = line.substr(0, at);
    if (!read_number(counted, answer.steps) || answer.steps < 0) counted = "?";
  }
  bool read = counted.empty();
  if (rest == "unsat") {
    answer.verdict = Verdict::unsatisfiable;
  } else if (rest != "unknown") {
    answer.verdict = Verdict::satisfiable;
    read = read && take(rest, "sat");
    while (read && take(rest, " ")) {
      double value = 0;
      read = read_number(rest, value) && std::isfinite(value);
      answer.model.push_back(value);
    }
    read = read && rest.empty() && answer.model.size() == static_cast<std::size_t>(variables);
  }
  if (!read) return unreadable("`unsat`, `unknown` or `sat` with a value for each variable", line);
  return answer;
}

Result<void> serve_solver(std::istream& in, std::ostream& out, Solver& solver) {
  out << "ready" << std::endl;
  int variables = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("assume")) {
      SCHAAS_ASSIGN_OR_RETURN(const auto head, read_head(line, "assume"));
      if (head.first > max_variables) return unreadable("fewer variables", line);
      variables = head.first;
      SCHAAS_ASSIGN_OR_RETURN(const auto constraints, read_relations(in, head.second, variables));
      solver.assume(variables, constraints);
      continue;
    }
    SCHAAS_ASSIGN_OR_RETURN(const auto head, read_head(line, "check"));
    SCHAAS_ASSIGN_OR_RETURN(const auto relations, read_relations(in, head.second, variables));
    SolverAnswer answer;
    answer.verdict = solver.check_all(relations, head.first);
    answer.steps = solver.steps();
    if (answer.verdict == Verdict::satisfiable) answer.model = solver.model();
    out << print(answer) << std::endl;
  }
  return {};
}

}  // namespace schaas::frontier
