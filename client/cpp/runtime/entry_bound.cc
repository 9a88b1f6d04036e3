#include "client/cpp/runtime/entry_bound.h"

#include <algorithm>
#include <limits>

// The default nest of a statement without sums walks the entries of sparse operands side by side: unions for
// additions, intersections for products (merge_lattice.h). It appends an entry where an operand holds one.
namespace schaas::client {
namespace {

constexpr std::int64_t max_entries = std::numeric_limits<std::int64_t>::max() / 4;

bool is_matrix_of(const Access& access, const Access& result) {
  return access.indices.size() == 2 && access.indices[0] != access.indices[1] &&
         std::is_permutation(access.indices.begin(), access.indices.end(), result.indices.begin(),
                             result.indices.end());
}

class EntryBound {
 public:
  EntryBound(const KernelProblem& problem, const std::vector<const schaas_tensor*>& arguments)
      : problem_(problem), arguments_(arguments) {}

  std::optional<std::int64_t> of(const Expression& expression) const {
    if (const auto* access = std::get_if<Access>(&expression.node)) return of(*access);
    if (const auto* product = std::get_if<Product>(&expression.node)) return of_any(product->factors);
    const auto* call = std::get_if<Call>(&expression.node);
    if (call == nullptr) return std::nullopt;
    switch (call->function) {
      case Function::add:
      case Function::subtract:
        return of_all(call->arguments);
      case Function::negate:
        return of(call->arguments.front());
      case Function::divide:
        return of(call->arguments.front()) ? of_any(call->arguments) : std::nullopt;
      default:
        return std::nullopt;
    }
  }

 private:
  /// Positions of a sparse matrix: a level that is dense below a sparse one holds all coordinates of its
  /// parents.
  std::optional<std::int64_t> of(const Access& access) const {
    if (!is_matrix_of(access, problem_.program.result())) return std::nullopt;
    const auto tensor = std::find(problem_.tensors.begin(), problem_.tensors.end(), access.tensor);
    if (tensor == problem_.tensors.end()) return std::nullopt;
    const schaas_tensor& matrix = *arguments_[static_cast<std::size_t>(tensor - problem_.tensors.begin())];
    const bool is_sparse =
        std::any_of(matrix.levels, matrix.levels + matrix.order,
                    [](const schaas_level& level) { return level.format != SCHAAS_LEVEL_DENSE; });
    if (!is_sparse) return std::nullopt;
    return matrix.levels[matrix.order - 1].entries;
  }

  /// Entries of all parts that have some: a product walks one or several of them.
  std::optional<std::int64_t> of_any(const std::vector<Expression>& parts) const {
    std::optional<std::int64_t> sum;
    for (const Expression& part : parts) {
      const auto bound = of(part);
      if (!bound) continue;
      if (*bound > max_entries - sum.value_or(0)) return std::nullopt;
      sum = sum.value_or(0) + *bound;
    }
    return sum;
  }

  std::optional<std::int64_t> of_all(const std::vector<Expression>& parts) const {
    std::int64_t sum = 0;
    for (const Expression& part : parts) {
      const auto bound = of(part);
      if (!bound || *bound > max_entries - sum) return std::nullopt;
      sum += *bound;
    }
    return sum;
  }

  const KernelProblem& problem_;
  const std::vector<const schaas_tensor*>& arguments_;
};

/// No index is summed.
bool is_entrywise(const KernelProblem& problem) {
  const Program& program = problem.program;
  return program.statements.size() == 1 && program.semiring == &operators::plus_times() && !problem.update &&
         is_matrix_of(program.result(), program.result()) && problem.indices.size() == 2;
}

}  // namespace

std::optional<std::int64_t> entry_bound(const KernelProblem& problem,
                                        const std::vector<const schaas_tensor*>& arguments) {
  if (!is_entrywise(problem)) return std::nullopt;
  return EntryBound(problem, arguments).of(problem.program.statements.front().value);
}

}  // namespace schaas::client
