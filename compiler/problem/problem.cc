#include "compiler/problem/problem.h"

#include <algorithm>
#include <iterator>

#include "compiler/index_notation/parser.h"
#include "compiler/index_notation/verifier.h"
#include "compiler/problem/constraint_set.h"
#include "compiler/problem/upper_bounds.h"
#include "compiler/support/limits.h"
#include "compiler/support/nearest_name.h"

namespace schaas::problem {
namespace {

using support::Diagnostic;
using support::Limits;
using support::Result;
using support::SourceRange;

Diagnostic whole(Diagnostic d, const std::string& name, const std::string& text) {
  return support::at(std::move(d), name, text, {0, static_cast<std::uint32_t>(text.size())});
}

Result<void> read_formats(const ProblemText& text, Problem& problem) {
  const auto tensors = problem.tensors();
  for (const auto& [tensor, format] : text.formats) {
    if (std::find(tensors.begin(), tensors.end(), tensor) != tensors.end()) continue;
    return whole(
        support::invalid("unknown-tensor", "format for `" + tensor + "`, which is not in the expression" +
                                               support::did_you_mean(tensor, tensors)),
        "format of " + tensor, format);
  }
  for (const auto& tensor : tensors) {
    const int order = static_cast<int>(problem.indices_of(tensor).size());
    const auto given = text.formats.find(tensor);
    if (given == text.formats.end()) {
      problem.formats.emplace(tensor, format::dense(order));
      continue;
    }
    SCHAAS_ASSIGN_OR_RETURN(auto parsed, format::parse(given->second, order, tensor));
    problem.formats.emplace(tensor, std::move(parsed));
  }
  return {};
}

Diagnostic too_many(std::size_t found, const char* noun) {
  return support::invalid("too-many-constraints", "more than " + std::to_string(Limits::constraints) + " " +
                                                      noun + " in the constraints (" + std::to_string(found) +
                                                      " so far)");
}

// Adds why `index` stands for others as well, when it does.
Diagnostic with_class(Diagnostic d, const std::map<std::string, std::string>& classes,
                      const std::string& index) {
  std::string members;
  for (const auto& [member, first] : classes) {
    if (first == index) members += (members.empty() ? "`" : ", `") + member + "`";
  }
  if (members.find(',') == std::string::npos) return d;
  return support::noting(std::move(d),
                         members + " have one extent: they stand at the same mode of a tensor used twice");
}

// The caret stands in the later text.
Diagnostic contradiction(const Contradiction& found, const std::map<std::string, std::string>& classes,
                         const std::string& first, const std::string& second) {
  const std::string symbol = print(found.symbol);
  Diagnostic d = support::invalid("contradiction", "`" + symbol + "` would have to be at least " +
                                                       std::to_string(found.least) + " and at most " +
                                                       std::to_string(found.most));
  d = whole(std::move(d), "constraint", second);
  if (first != second) d = support::noting(std::move(d), "the other bound is `" + first + "`");
  return found.symbol.kind == Symbol::Kind::extent ? with_class(std::move(d), classes, found.symbol.name) : d;
}

// One text: its comparisons, on the first index of each class of equal extents. What is then trivially true
// vanishes.
Result<std::vector<Constraint>> read_constraint(const std::string& text, const ConstraintScope& scope,
                                                const std::map<std::string, std::string>& classes) {
  SCHAAS_ASSIGN_OR_RETURN(const auto parsed, parse_constraint(text, scope));
  std::vector<Constraint> out;
  for (const auto& constraint : parsed) {
    auto renamed = rename(constraint, classes, {});
    if (!renamed.ok()) {
      Diagnostic d = renamed.error();
      if (d.code == "never-true") d.message = "`" + text + "` is never true";
      for (const auto& [index, first] : classes) {
        if (index == first) d = with_class(std::move(d), classes, index);
      }
      return whole(std::move(d), "constraint", text);
    }
    for (auto& one : *renamed) {
      if (print(one).size() > Limits::expression_bytes) {
        return whole(support::invalid("too-complex", "the constraint has more than " +
                                                         std::to_string(Limits::expression_bytes) +
                                                         " bytes when multiplied out"),
                     "constraint", text);
      }
      out.push_back(std::move(one));
    }
  }
  return out;
}

Result<void> read_constraints(const ProblemText& text, Problem& problem) {
  const ConstraintScope scope = scope_of(problem);
  const auto classes = extent_classes(problem.statement);
  std::vector<Constraint> all;
  std::vector<std::size_t> from;  // all[n] comes from text.constraints[from[n]]
  for (std::size_t n = 0; n < text.constraints.size(); ++n) {
    SCHAAS_ASSIGN_OR_RETURN(auto comparisons, read_constraint(text.constraints[n], scope, classes));
    std::move(comparisons.begin(), comparisons.end(), std::back_inserter(all));
    from.resize(all.size(), n);
    if (all.size() > Limits::constraints) return too_many(all.size(), "comparisons");
    if (n >= 2 * Limits::constraints) return too_many(n + 1, "texts");
  }
  for (const auto& found : find_contradiction(all)) {
    return contradiction(found, classes, text.constraints[from[found.first]],
                         text.constraints[from[found.second]]);
  }
  SCHAAS_ASSIGN_OR_RETURN(problem.constraints, simplify(problem.statement, all));
  return {};
}

Result<void> read_choices(const ProblemText& text, Problem& problem) {
  const auto unknown = [](const char* code, const std::string& found, const std::vector<std::string>& known) {
    std::string expected;
    for (const auto& word : known)
      expected += (expected.empty() ? "`" : word == known.back() ? " or `" : ", `") + word + "`";
    std::string noun = code;
    std::replace(noun.begin(), noun.end(), '-', ' ');
    return support::invalid(code, "unknown " + noun + " `" + found + "`, expected " + expected +
                                      support::did_you_mean(found, known));
  };
  if (text.value_type != "f64" && text.value_type != "f32") {
    return unknown("value-type", text.value_type, {"f64", "f32"});
  }
  problem.value_type = text.value_type == "f64" ? ValueType::f64 : ValueType::f32;
  if (text.profile != "default" && text.profile != "sparseauto") {
    return unknown("profile", text.profile, {"default", "sparseauto"});
  }
  problem.profile = text.profile == "default" ? Profile::standard : Profile::sparseauto;
  if (text.position_bits != "auto" && text.position_bits != "32" && text.position_bits != "64") {
    return unknown("position-bits", text.position_bits, {"auto", "32", "64"});
  }
  SCHAAS_ASSIGN_OR_RETURN(problem.space, parse_space_options(text.space));
  if (problem.profile == Profile::sparseauto && !problem.space.empty()) {
    return support::invalid("space", "profile sparseauto searches the published space, which `" +
                                         print(problem.space) + "` would widen");
  }
  return {};
}

// A problem without compressed levels has no positions: its width is always 64, so that it has one key.
int position_bits(const std::string& text, const Problem& problem) {
  const bool positions = std::any_of(problem.formats.begin(), problem.formats.end(),
                                     [](const auto& format) { return !format.second.all_dense(); });
  if (!positions || text == "64") return 64;
  return text == "32" ? 32 : narrowest_position_bits(problem);
}

}  // namespace

std::vector<std::string> Problem::tensors() const {
  std::vector<std::string> out = {statement.result.tensor};
  for (const auto& access : operands()) {
    if (std::find(out.begin(), out.end(), access.tensor) == out.end()) out.push_back(access.tensor);
  }
  return out;
}

std::vector<std::string> Problem::indices_of(const std::string& tensor) const {
  if (statement.result.tensor == tensor) return statement.result.indices;
  for (const auto& access : operands()) {
    if (access.tensor == tensor) return access.indices;
  }
  SCHAAS_CHECK(false, "no tensor " + tensor);
}

ConstraintScope scope_of(const Problem& problem) {
  ConstraintScope scope;
  scope.indices = index_notation::index_variables(problem.statement);
  for (const auto& tensor : problem.tensors()) scope.tensors.push_back({tensor, problem.indices_of(tensor)});
  return scope;
}

Result<Problem> build(const ProblemText& text) {
  Problem problem;
  SCHAAS_ASSIGN_OR_RETURN(problem.statement, index_notation::parse(text.expression));
  SCHAAS_RETURN_IF_ERROR(index_notation::verify(problem.statement, text.expression));
  SCHAAS_RETURN_IF_ERROR(read_formats(text, problem));
  SCHAAS_RETURN_IF_ERROR(read_choices(text, problem));
  SCHAAS_RETURN_IF_ERROR(read_constraints(text, problem));
  problem.position_bits = position_bits(text.position_bits, problem);
  return problem;
}

const char* name(ValueType type) { return type == ValueType::f64 ? "f64" : "f32"; }
const char* name(Profile profile) { return profile == Profile::standard ? "default" : "sparseauto"; }

}  // namespace schaas::problem
