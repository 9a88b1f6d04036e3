#include "client/cpp/runtime/kernel_problem.h"

#include <algorithm>
#include <sstream>

// Reads the problem text that is inside a kernel: the canonical statement, formats, types, and widths.
// Arguments are checked against this text, whatever a file or a server says of the kernel. Lines with unknown
// keywords are passed over: a newer compiler wrote them.
namespace schaas::client {
namespace {

support::Diagnostic unreadable_problem(const std::string& what) {
  return support::invalid("kernel-problem", "the kernel's problem text cannot be read: " + what);
}

// A kernel has index variables alone: coordinates and ranges of a user's statement are taken out before a
// problem is made.
support::Result<void> check_indices(const KernelProblem& problem) {
  for (const Statement& statement : problem.program.statements) {
    std::vector<Access> accesses = index_notation::operands(statement.value);
    accesses.push_back(statement.result);
    for (const Access& access : accesses) {
      for (const std::string& index : access.indices) {
        if (std::find(problem.indices.begin(), problem.indices.end(), index) == problem.indices.end())
          return unreadable_problem("`" + access.tensor + "` is accessed at a coordinate");
      }
    }
  }
  return {};
}

// Returns, for each index, a representative of those that have the same extent. Several accesses of one
// tensor agree mode by mode, and so do indices that the statement links.
std::map<std::string, std::string> same_extents(const KernelProblem& problem) {
  std::map<std::string, std::string> representative;
  for (const auto& index : problem.indices) representative[index] = index;
  const auto join = [&](const std::string& a, const std::string& b) {
    const std::string kept = representative.at(a), gone = representative.at(b);
    for (auto& [index, other] : representative) {
      if (other == gone) other = kept;
    }
  };
  std::map<std::string, const Access*> first;
  for (const auto& access : problem.accesses) {
    const Access& known = *first.emplace(access.tensor, &access).first->second;
    for (std::size_t m = 0; m < std::min(known.indices.size(), access.indices.size()); ++m)
      join(known.indices[m], access.indices[m]);
  }
  for (const auto& [a, b] : linked_indices(problem.program)) join(a, b);
  return representative;
}

// Turns extents that are fixed by argument and mode into extents by index. The numbers come from the kernel's
// descriptor and are checked.
support::Result<std::map<std::string, std::int64_t>> by_index(const KernelProblem& problem,
                                                              std::span<const schaas_fixed_extent> fixed) {
  std::map<std::string, std::int64_t> extents;
  for (const auto& [argument, mode, extent] : fixed) {
    const auto a = static_cast<std::size_t>(argument), m = static_cast<std::size_t>(mode);
    if (a >= problem.tensors.size() || m >= problem.indices_of(a).size())
      return support::invalid("kernel-binary", "the kernel fixes an extent of a mode that no argument has");
    extents.emplace(problem.indices_of(a)[m], extent);
  }
  return extents;
}

}  // namespace

const std::vector<std::string>& KernelProblem::indices_of(std::size_t argument) const {
  return std::find_if(accesses.begin(), accesses.end(),
                      [&](const auto& access) { return access.tensor == tensors[argument]; })
      ->indices;
}

support::Result<format::TensorFormat> KernelProblem::format_of(std::size_t argument) const {
  return format::parse(formats.at(tensors[argument]), static_cast<int>(indices_of(argument).size()),
                       tensors[argument]);
}

support::Result<KernelProblem> parse_kernel_problem(const std::string& text,
                                                    std::span<const schaas_fixed_extent> fixed) {
  std::istringstream lines(text);
  std::string line;
  KernelProblem problem;
  if (!std::getline(lines, line) || line != "schaas-problem 1")
    return unreadable_problem("first line `" + line + "`");
  if (!std::getline(lines, line)) return unreadable_problem("no statement");
  SCHAAS_ASSIGN_OR_RETURN(problem.program, parse_program(line));
  const Program& program = problem.program;
  problem.accesses = {program.result()};
  for (Access& operand : operands(program)) problem.accesses.push_back(std::move(operand));
  problem.tensors = arguments(program);
  problem.indices = indices_of(program);
  problem.update = program.statements.back().update.has_value();
  SCHAAS_RETURN_IF_ERROR(check_indices(problem));
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string keyword, first, second;
    words >> keyword >> first >> second;
    if (keyword == "format") problem.formats[first] = second;
    if (keyword == "values") {
      const auto type = value_type_named(first);
      if (!type) return unreadable_problem("values of type `" + first + "`");
      problem.value_type = *type;
    }
    if (keyword == "positions") {
      if (first != "32" && first != "64") return unreadable_problem("positions of `" + first + "` bits");
      problem.position_bits = first == "32" ? 32 : 64;
    }
  }
  for (const auto& tensor : problem.tensors) {
    if (problem.formats.count(tensor) == 0) return unreadable_problem("no format of `" + tensor + "`");
  }
  problem.extent_of = same_extents(problem);
  SCHAAS_ASSIGN_OR_RETURN(problem.fixed, by_index(problem, fixed));
  return problem;
}

}  // namespace schaas::client
