#include "argument_check.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "schaas/product.h"

namespace schaas::client {
namespace {

// The lines of a problem text that speak of arguments.
struct KernelProblem {
  Product statement;
  std::vector<std::string> tensors;  ///< distinct: the result, then operands as they appear
  std::map<std::string, std::string> formats;
  std::string value_type, position_bits;
};

support::Diagnostic unreadable(const std::string& what) {
  return support::invalid("kernel-problem", "the kernel's problem text cannot be read: " + what);
}

void add_distinct(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

support::Result<KernelProblem> parse_problem(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  KernelProblem problem;
  if (!std::getline(lines, line) || line != "schaas-problem 1")
    return unreadable("first line `" + line + "`");
  if (!std::getline(lines, line)) return unreadable("no statement");
  SCHAAS_ASSIGN_OR_RETURN(problem.statement, parse_product(line));
  add_distinct(problem.tensors, problem.statement.result.tensor);
  for (const auto& operand : problem.statement.operands) add_distinct(problem.tensors, operand.tensor);
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string keyword, first, second;
    words >> keyword >> first >> second;
    if (keyword == "format") problem.formats[first] = second;
    if (keyword == "values") problem.value_type = first;
    if (keyword == "positions") problem.position_bits = first;
  }
  return problem;
}

class Check {
 public:
  Check(const KernelProblem& problem, const std::vector<PackedTensor*>& arguments,
        const std::vector<std::string>& names)
      : problem_(problem), arguments_(arguments), names_(names) {}

  support::Result<void> run() {
    if (arguments_.size() != problem_.tensors.size()) {
      return support::invalid("argument-count", "the kernel takes " +
                                                    std::to_string(problem_.tensors.size()) + " tensors, " +
                                                    std::to_string(arguments_.size()) + " were given");
    }
    for (std::size_t a = 0; a < arguments_.size(); ++a) {
      SCHAAS_RETURN_IF_ERROR(check_storage(a));
    }
    SCHAAS_RETURN_IF_ERROR(check_extents(problem_.statement.result));
    for (const auto& operand : problem_.statement.operands) SCHAAS_RETURN_IF_ERROR(check_extents(operand));
    return {};
  }

 private:
  const std::string& name(std::size_t a) const { return a < names_.size() ? names_[a] : problem_.tensors[a]; }

  std::size_t order_of(const std::string& tensor) const {
    if (problem_.statement.result.tensor == tensor) return problem_.statement.result.indices.size();
    const auto& operands = problem_.statement.operands;
    return std::find_if(operands.begin(), operands.end(), [&](const auto& o) { return o.tensor == tensor; })
        ->indices.size();
  }

  support::Result<void> check_storage(std::size_t a) const {
    const PackedTensor& tensor = *arguments_[a];
    const std::string& canonical = problem_.tensors[a];
    const std::size_t order = order_of(canonical);
    if (order != static_cast<std::size_t>(tensor.order())) {
      return support::invalid("argument-format", "`" + name(a) + "` has " + std::to_string(tensor.order()) +
                                                     " modes, the kernel expects " + std::to_string(order));
    }
    const auto text = problem_.formats.find(canonical);
    if (text == problem_.formats.end()) return unreadable("no format of `" + canonical + "`");
    if (order > 0) {
      SCHAAS_ASSIGN_OR_RETURN(const format::TensorFormat wanted,
                              format::parse(text->second, static_cast<int>(order), name(a)));
      if (wanted != tensor.format()) {
        return support::invalid("argument-format", "`" + name(a) + "` is stored as " +
                                                       format::print(tensor.format()) +
                                                       ", the kernel expects " + format::print(wanted));
      }
    }
    if (problem_.value_type != client::name(tensor.value_type())) {
      return support::invalid("argument-type", "`" + name(a) + "` holds " +
                                                   client::name(tensor.value_type()) +
                                                   " values, the kernel expects " + problem_.value_type);
    }
    const bool sparse = !tensor.format().all_dense();
    if (sparse && problem_.position_bits != std::to_string(tensor.position_bits())) {
      return support::invalid("argument-positions",
                              "`" + name(a) + "` has " + std::to_string(tensor.position_bits()) +
                                  "-bit positions, the kernel expects " + problem_.position_bits);
    }
    return {};
  }

  support::Result<void> check_extents(const Product::Access& access) {
    const auto at = std::find(problem_.tensors.begin(), problem_.tensors.end(), access.tensor);
    const std::size_t a = at - problem_.tensors.begin();
    for (std::size_t m = 0; m < access.indices.size(); ++m) {
      const std::int64_t extent = arguments_[a]->extents()[m];
      const auto [known, is_new] = extents_.emplace(access.indices[m], std::pair{extent, a});
      if (is_new || known->second.first == extent) continue;
      return support::invalid("extent-mismatch", "mode " + std::to_string(m + 1) + " of `" + name(a) +
                                                     "` has extent " + std::to_string(extent) +
                                                     ", but the same index has extent " +
                                                     std::to_string(known->second.first) + " in `" +
                                                     name(known->second.second) + "`");
    }
    return {};
  }

  const KernelProblem& problem_;
  const std::vector<PackedTensor*>& arguments_;
  const std::vector<std::string>& names_;
  std::map<std::string, std::pair<std::int64_t, std::size_t>> extents_;
};

}  // namespace

support::Result<void> check_arguments(const std::string& problem, const std::vector<PackedTensor*>& arguments,
                                      const std::vector<std::string>& names) {
  SCHAAS_ASSIGN_OR_RETURN(const KernelProblem parsed, parse_problem(problem));
  return Check(parsed, arguments, names).run();
}

}  // namespace schaas::client
