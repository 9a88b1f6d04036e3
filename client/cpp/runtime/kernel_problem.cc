#include "client/cpp/runtime/kernel_problem.h"

#include <algorithm>
#include <charconv>
#include <regex>
#include <sstream>
#include <string_view>

namespace schaas::client {
namespace {

support::Diagnostic unreadable(const std::string& what) {
  return support::invalid("kernel-problem", "the kernel's problem text cannot be read: " + what);
}

bool read_number(std::string_view text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// Bounds of single extents: the lines `where k <= 64` and `where 64 <= k`.
class Bounds {
 public:
  void add(const std::string& left, const std::string& right) {
    std::int64_t bound = 0;
    if (read_number(right, bound)) {
      upper_.emplace(left, bound);
    } else if (read_number(left, bound)) {
      lower_.emplace(right, bound);
    }
  }
  std::map<std::string, std::int64_t> fixed(const std::vector<std::string>& indices) const {
    std::map<std::string, std::int64_t> out;
    for (const auto& index : indices) {
      const auto lower = lower_.find(index), upper = upper_.find(index);
      if (lower != lower_.end() && upper != upper_.end() && lower->second == upper->second)
        out.emplace(index, lower->second);
    }
    return out;
  }

 private:
  std::map<std::string, std::int64_t> lower_, upper_;
};

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

}  // namespace

const std::vector<std::string>& KernelProblem::indices_of(std::size_t argument) const {
  return std::find_if(accesses.begin(), accesses.end(),
                      [&](const auto& access) { return access.tensor == tensors[argument]; })
      ->indices;
}

support::Result<KernelProblem> parse_kernel_problem(const std::string& text, const std::string& schedule) {
  std::istringstream lines(text);
  std::string line;
  KernelProblem problem;
  if (!std::getline(lines, line) || line != "schaas-problem 1")
    return unreadable("first line `" + line + "`");
  if (!std::getline(lines, line)) return unreadable("no statement");
  SCHAAS_ASSIGN_OR_RETURN(problem.program, parse_program(line));
  const Program& program = problem.program;
  problem.accesses = {program.result()};
  for (Access& operand : operands(program)) problem.accesses.push_back(std::move(operand));
  problem.tensors = arguments(program);
  problem.indices = indices_of(program);
  problem.update = program.statements.back().update.has_value();
  Bounds bounds;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string keyword, first, second, third, more;
    words >> keyword >> first >> second >> third >> more;
    if (keyword == "format") problem.formats[first] = second;
    if (keyword == "values") problem.value_type = first;
    if (keyword == "positions") problem.position_bits = first;
    if (keyword == "where" && second == "<=" && more.empty()) bounds.add(first, third);
  }
  for (const auto& tensor : problem.tensors) {
    if (problem.formats.count(tensor) == 0) return unreadable("no format of `" + tensor + "`");
  }
  problem.extent_of = same_extents(problem);
  problem.fixed = bounds.fixed(problem.indices);
  static const std::regex bound(R"(bound\(loop=(\w+), extent=(\d+)\))");
  for (std::sregex_iterator at(schedule.begin(), schedule.end(), bound), end; at != end; ++at)
    problem.fixed[(*at)[1]] = std::stoll((*at)[2]);
  return problem;
}

}  // namespace schaas::client
