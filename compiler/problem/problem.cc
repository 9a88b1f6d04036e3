#include "compiler/problem/problem.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>

#include "compiler/format/assembled_format.h"
#include "compiler/format/walked_modes.h"
#include "compiler/index_notation/equations.h"
#include "compiler/index_notation/extent_classes.h"
#include "compiler/index_notation/implied_sums.h"
#include "compiler/index_notation/parser.h"
#include "compiler/index_notation/printer.h"
#include "compiler/index_notation/selections.h"
#include "compiler/index_notation/verifier.h"
#include "compiler/problem/blocked.h"
#include "compiler/problem/constraint_set.h"
#include "compiler/problem/rewrites/counted_unstored.h"
#include "compiler/problem/rewrites/distributed_sums.h"
#include "compiler/problem/rewrites/factors.h"
#include "compiler/problem/rewrites/inline_intermediates.h"
#include "compiler/problem/rewrites/scaled_sums.h"
#include "compiler/problem/upper_bounds.h"
#include "compiler/problem/value_type_check.h"
#include "compiler/support/limits.h"
#include "compiler/support/nearest_name.h"

// Problems from a user's texts, in an order that matters. Formats are read for tensors of the statements as
// written. Intermediates are inlined and factors taken apart next. Constraints follow, in the scope of the
// program that is left; blocks need them before, in the names of the request. The width of positions comes
// last, since `auto` stands for what the constraints prove. Errors point into the text that the user wrote.
namespace schaas::problem {
namespace {

using support::Diagnostic;
using support::Limits;
using support::Result;
using support::SourceRange;

/// Points a diagnostic at all of a text.
Diagnostic whole(Diagnostic d, const std::string& name, const std::string& text) {
  return support::at(std::move(d), name, text, {0, static_cast<std::uint32_t>(text.size())});
}

bool defines(const index_notation::Assignment& statement, const std::string& tensor) {
  return statement.result.tensor == tensor;
}

/// Reads the formats of arguments; those without one are dense.
Result<void> read_formats(const ProblemText& text, Problem& problem) {
  const auto tensors = problem.tensors();
  for (const auto& [tensor, format] : text.formats) {
    if (std::find(tensors.begin(), tensors.end(), tensor) != tensors.end()) continue;
    for (const auto& statement : problem.intermediates) {
      if (!defines(statement, tensor)) continue;
      return whole(
          support::noting(support::unsupported("intermediate-format",
                                               "format for `" + tensor + "`, which is an intermediate"),
                          "how intermediates are kept is a matter of the schedule; leave the format away"),
          "format of " + tensor, format);
    }
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
    SCHAAS_ASSIGN_OR_RETURN(auto parsed, format::parse(format::without_blocks(given->second), order, tensor));
    if (tensor == problem.statement.result.tensor) parsed = format::assembled_format(std::move(parsed));
    problem.formats.emplace(tensor, std::move(parsed));
  }
  return {};
}

/// Lists without order are written, never read.
Result<void> check_order(const ProblemText& text, const Problem& problem) {
  for (const auto& access : problem.reads()) {
    format::TensorFormat format = problem.formats.at(access.tensor);
    if (std::all_of(format.levels.begin(), format.levels.end(), format::is_ordered)) continue;
    std::replace(format.levels.begin(), format.levels.end(), format::LevelFormat::compressed_unordered,
                 format::LevelFormat::compressed);
    return whole(
        support::noting(support::unsupported("level-format", "`" + access.tensor +
                                                                 "` is read, and kernels read coordinates in "
                                                                 "ascending order alone"),
                        "declare it `" + format::print(format) + "`: packing sorts what has no order"),
        "format of " + access.tensor, text.formats.at(access.tensor));
  }
  return {};
}

/// Bounds the sparse levels of distinct accesses: costs have a variable for each.
Result<void> check_levels(const Problem& problem) {
  std::set<std::pair<std::string, std::vector<std::string>>> seen;
  std::size_t compressed = 0;
  for (const auto& access : problem.reads()) {
    if (!seen.emplace(access.tensor, access.indices).second) continue;
    const auto& levels = problem.formats.at(access.tensor).levels;
    compressed += static_cast<std::size_t>(std::count_if(levels.begin(), levels.end(), format::is_sparse));
  }
  if (compressed <= Limits::compressed_levels) return {};
  return support::unsupported("too-many-levels",
                              "the operands have " + std::to_string(compressed) + " sparse levels; at most " +
                                  std::to_string(Limits::compressed_levels) + " are supported");
}

Diagnostic too_many(std::size_t found, const char* noun) {
  return support::invalid("too-many-constraints", "more than " + std::to_string(Limits::constraints) + " " +
                                                      noun + " in the constraints (" + std::to_string(found) +
                                                      " so far)");
}

// Adds the reason why `index` stands for others as well, when it does.
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

// Points at the later text.
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

// Adds to a constraint's error that an intermediate is no tensor.
Diagnostic with_intermediate(Diagnostic d, const Problem& problem) {
  if (d.code != "unknown-tensor") return d;
  for (const auto& statement : problem.intermediates) {
    const std::string name = "`" + statement.result.tensor + "`";
    if (d.message.find(name) != std::string::npos)
      return support::noting(std::move(d), name + " is an intermediate, which extents alone bound");
  }
  return d;
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

/// Reads the constraints and refuses two that leave a symbol no value.
Result<void> read_constraints(const ProblemText& text, Problem& problem) {
  const ConstraintScope scope = scope_of(problem);
  const auto classes = index_notation::extent_classes(problem.statements());
  std::vector<Constraint> all;
  std::vector<std::size_t> from;  // all[n] comes from text.constraints[from[n]]
  for (std::size_t n = 0; n < text.constraints.size(); ++n) {
    auto comparisons = read_constraint(text.constraints[n], scope, classes);
    if (!comparisons.ok()) return with_intermediate(comparisons.error(), problem);
    std::move(comparisons->begin(), comparisons->end(), std::back_inserter(all));
    from.resize(all.size(), n);
    if (all.size() > Limits::constraints) return too_many(all.size(), "comparisons");
    // Texts that say nothing add no comparison, and are bounded, too.
    if (n >= 2 * Limits::constraints) return too_many(n + 1, "texts");
  }
  for (const auto& found : find_contradiction(all)) {
    return contradiction(found, classes, text.constraints[from[found.first]],
                         text.constraints[from[found.second]]);
  }
  SCHAAS_ASSIGN_OR_RETURN(problem.constraints, simplify(problem.statements(), all));
  return {};
}

/// Reads value type, profile and space; position bits are only checked here.
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
  const auto type = operators::value_type_named(text.value_type);
  if (!type) return unknown("value-type", text.value_type, operators::value_type_names());
  problem.value_type = *type;
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

/// Takes narrow types apart into that of the arithmetic and those that operands are stored in.
Result<void> take_apart_types(const ProblemText& text, Problem& problem) {
  const ValueType given = problem.value_type, computed = operators::arithmetic_type(given);
  problem.value_type = computed;
  const std::string& result = problem.statement.result.tensor;
  for (auto& one : problem.formats) {
    const std::string& tensor = one.first;
    format::TensorFormat& format = one.second;
    if (!format.values && tensor != result && given != computed) format.values = given;
    if (format.values == computed) format.values.reset();
    const bool ends =
        format.values && operators::is_integer(*format.values) && std::isinf(problem.semiring->zero);
    if (!format.values || (tensor != result && !ends && operators::widens_to(*format.values, computed)))
      continue;
    const auto said = [&](const std::string& message) {
      const auto written = text.formats.find(tensor);
      return whole(support::invalid("value-type", message), "format of " + tensor,
                   written == text.formats.end() ? "" : written->second);
    };
    if (tensor == result) return said("`" + tensor + "` is the result, whose values are " + name(computed));
    if (ends)
      return support::noting(
          said("values of `" + tensor + "` are stored as " + name(*format.values) +
               ", which has no infinity for what " + problem.semiring->name + " does not store"),
          "without a type of its own it has that of the arithmetic");
    return support::noting(
        said("values of `" + tensor + "` are stored as " + name(*format.values) + ", which " +
             name(computed) + " does not widen"),
        "operands may be stored in a narrower type whose numbers the type of the arithmetic has");
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

std::vector<index_notation::Assignment> Problem::statements() const {
  std::vector<index_notation::Assignment> out = intermediates;
  out.push_back(statement);
  return out;
}

const Copy* Problem::copy_named(const std::string& name) const {
  const auto found =
      std::find_if(copies.begin(), copies.end(), [&](const Copy& copy) { return copy.name == name; });
  return found == copies.end() ? nullptr : &*found;
}

const Pattern* Problem::pattern_named(const std::string& name) const {
  const auto found = std::find_if(patterns.begin(), patterns.end(),
                                  [&](const Pattern& pattern) { return pattern.name == name; });
  return found == patterns.end() ? nullptr : &*found;
}

const Mask* Problem::mask_of(const std::string& intermediate) const {
  const auto found =
      std::find_if(masks.begin(), masks.end(), [&](const Mask& mask) { return mask.tensor == intermediate; });
  return found == masks.end() ? nullptr : &*found;
}

std::vector<std::string> Problem::tensors() const {
  std::vector<std::string> out = {statement.result.tensor};
  for (const auto& access : reads()) {
    if (pattern_named(access.tensor) != nullptr) continue;
    const Copy* copy = copy_named(access.tensor);
    const std::string& tensor = copy == nullptr ? access.tensor : copy->tensor;
    if (std::find(out.begin(), out.end(), tensor) == out.end()) out.push_back(tensor);
  }
  for (const Copy& copy : copies) out.push_back(copy.name);
  return out;
}

std::vector<index_notation::Access> Problem::reads() const {
  std::vector<index_notation::Access> out;
  for (const auto& each : naming_statements()) {
    for (auto& access : index_notation::operands(each.value)) {
      const bool intermediate = std::any_of(intermediates.begin(), intermediates.end(),
                                            [&](const auto& other) { return defines(other, access.tensor); });
      if (!intermediate) out.push_back(std::move(access));
    }
  }
  return out;
}

std::vector<std::string> Problem::indices_of(const std::string& tensor) const {
  if (statement.result.tensor == tensor) return statement.result.indices;
  if (const Copy* copy = copy_named(tensor)) return copy->reads.front();
  for (const auto& each : statements()) {
    if (defines(each, tensor)) return each.result.indices;
    for (const auto& access : index_notation::operands(each.value)) {
      const Copy* copy = copy_named(access.tensor);
      if (access.tensor == tensor || (copy != nullptr && copy->tensor == tensor)) return access.indices;
    }
  }
  SCHAAS_CHECK(false, "no tensor " + tensor);
}

bool is_contraction(const Problem& problem) {
  const auto& statement = problem.statement;
  if (!problem.intermediates.empty() || !index_notation::is_product(statement.value)) return false;
  if (statement.update && statement.update != problem.semiring->sum) return false;
  const auto operands = problem.operands();
  const auto is_diagonal = [](const index_notation::Access& access) {
    return std::set<std::string>(access.indices.begin(), access.indices.end()).size() !=
           access.indices.size();
  };
  if (std::any_of(operands.begin(), operands.end(), is_diagonal)) return false;
  return std::all_of(statement.result.indices.begin(), statement.result.indices.end(),
                     [&](const auto& index) { return index_notation::has_free(statement.value, index); });
}

std::optional<ValueType> type_not_on_gpu(const Problem& problem) {
  if (!operators::runs_on_gpu(problem.value_type)) return problem.value_type;
  for (const auto& [tensor, format] : problem.formats) {
    const ValueType stored = format.values.value_or(problem.value_type);
    const bool halved = operators::is_narrow(stored) && problem.value_type == ValueType::f32;
    if (stored != problem.value_type && !halved) return stored;
  }
  return std::nullopt;
}

ConstraintScope scope_of(const Problem& problem) {
  ConstraintScope scope;
  scope.indices = problem.indices();
  for (const auto& tensor : problem.tensors()) scope.tensors.push_back({tensor, problem.indices_of(tensor)});
  return scope;
}

Result<ProblemText> without_selections(const ProblemText& text) {
  SCHAAS_ASSIGN_OR_RETURN(const auto program, index_notation::parse(text.expression));
  const auto walked_level = [&](const index_notation::Access& access, std::size_t mode) {
    const auto given = text.formats.find(access.tensor);
    return given == text.formats.end()
               ? std::nullopt
               : format::walked_level(given->second, static_cast<int>(access.indices.size()),
                                      static_cast<int>(mode));
  };
  SCHAAS_ASSIGN_OR_RETURN(const auto selected,
                          index_notation::selected_program(program, walked_level, text.expression));
  if (!selected) return text;
  ProblemText out = text;
  out.expression = index_notation::print(selected->program);
  for (const auto& each : selected->selections)
    out.formats[each.tensor] = index_notation::selection_format(each);
  return out;
}

Result<Problem> build(const ProblemText& given) {
  ProblemText stated = given;
  stated.expression = index_notation::with_semiring_of(
      given.expression, operators::value_type_named(given.value_type).value_or(ValueType::f64));
  SCHAAS_ASSIGN_OR_RETURN(const ProblemText text, without_selections(stated));
  Problem problem;
  SCHAAS_ASSIGN_OR_RETURN(auto program, index_notation::parse(text.expression));
  SCHAAS_RETURN_IF_ERROR(index_notation::verify(program, text.expression));
  for (auto& statement : program.statements)
    statement = index_notation::with_implied_sums(statement, *program.semiring);
  problem.semiring = program.semiring;
  problem.statement = std::move(program.statements.back());
  program.statements.pop_back();
  problem.intermediates = std::move(program.statements);
  SCHAAS_ASSIGN_OR_RETURN(const auto blocking,
                          format::blocking(readings(problem.statements()), text.formats));
  SCHAAS_RETURN_IF_ERROR(read_formats(text, problem));
  SCHAAS_RETURN_IF_ERROR(check_order(text, problem));
  SCHAAS_RETURN_IF_ERROR(check_levels(problem));
  if (!blocking.empty()) {  // in the names of the request, which the next step may change
    SCHAAS_RETURN_IF_ERROR(read_constraints(text, problem));
    SCHAAS_ASSIGN_OR_RETURN(problem, with_blocks(problem, blocking));
  }
  const auto written = problem.statements();
  problem = with_sums_distributed(with_sparse_intermediates_inlined(std::move(problem)));
  SCHAAS_RETURN_IF_ERROR(read_choices(text, problem));
  problem = with_scales_outside_sums(with_factors_apart(with_unstored_counted(std::move(problem))));
  SCHAAS_RETURN_IF_ERROR(take_apart_types(text, problem));
  SCHAAS_RETURN_IF_ERROR(check_value_type(text.expression, written, problem));
  if (blocking.empty()) SCHAAS_RETURN_IF_ERROR(read_constraints(text, problem));
  problem.position_bits = position_bits(text.position_bits, problem);
  return problem;
}

const char* name(Profile profile) { return profile == Profile::standard ? "default" : "sparseauto"; }

}  // namespace schaas::problem
