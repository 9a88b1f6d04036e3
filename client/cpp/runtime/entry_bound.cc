#include "client/cpp/runtime/entry_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

// The default nest of a statement without sums walks the entries of sparse operands side by side: unions, or
// intersections where a factor is 0. It appends an entry where an operand holds one. The rules are those of
// merge_lattice.cc, but for intersections, whose parts all count.
namespace schaas::client {
namespace {

constexpr std::int64_t max_entries = std::numeric_limits<std::int64_t>::max() / 4;

bool is_matrix_of(const Access& access, const Access& result) {
  return access.indices.size() == 2 && access.indices[0] != access.indices[1] &&
         std::is_permutation(access.indices.begin(), access.indices.end(), result.indices.begin(),
                             result.indices.end());
}

/// Entries at which an expression is computed, at most, and its value at all other elements.
struct Bounded {
  std::int64_t entries = 0;
  double otherwise = 0;
};

class EntryBound {
 public:
  EntryBound(const KernelProblem& problem, const std::vector<const schaas_tensor*>& arguments)
      : problem_(problem), arguments_(arguments) {}

  std::optional<Bounded> of(const Expression& expression) const {
    if (const auto* access = std::get_if<Access>(&expression.node)) return of(*access);
    if (const auto* literal = std::get_if<Literal>(&expression.node)) return Bounded{0, literal->value};
    if (const auto* product = std::get_if<Product>(&expression.node)) return of_product(product->factors);
    const auto* call = std::get_if<Call>(&expression.node);
    if (call == nullptr) return std::nullopt;
    if (call->function == Function::where) return of_choice(call->arguments);
    if (call->function == Function::divide) {
      const auto dividend = of(call->arguments.front());
      if (dividend && dividend->otherwise == 0) return dividend;
    }
    return of_all(call->function, call->arguments);
  }

 private:
  /// Positions of a sparse matrix: a level that is dense below a sparse one holds all coordinates of its
  /// parents.
  std::optional<Bounded> of(const Access& access) const {
    if (!is_matrix_of(access, problem_.program.result())) return std::nullopt;
    const auto tensor = std::find(problem_.tensors.begin(), problem_.tensors.end(), access.tensor);
    if (tensor == problem_.tensors.end()) return std::nullopt;
    const schaas_tensor& matrix = *arguments_[static_cast<std::size_t>(tensor - problem_.tensors.begin())];
    const bool is_sparse =
        std::any_of(matrix.levels, matrix.levels + matrix.order,
                    [](const schaas_level& level) { return level.format != SCHAAS_LEVEL_DENSE; });
    if (!is_sparse) return std::nullopt;
    return together({Bounded{matrix.levels[matrix.order - 1].entries}}, 0);
  }

  /// Entries of all parts together; nothing where there are too many.
  static std::optional<Bounded> together(const std::vector<Bounded>& parts, double otherwise) {
    Bounded all{0, otherwise};
    for (const Bounded& part : parts) {
      if (part.entries > max_entries - all.entries) return std::nullopt;
      all.entries += part.entries;
    }
    return std::isnan(otherwise) ? std::nullopt : std::optional<Bounded>(all);
  }

  /// A product walks one or several of the factors that are 0 elsewhere.
  std::optional<Bounded> of_product(const std::vector<Expression>& factors) const {
    std::vector<Bounded> walked;
    for (const Expression& factor : factors) {
      const auto bound = of(factor);
      if (bound && bound->otherwise == 0) walked.push_back(*bound);
    }
    return walked.empty() ? of_all(Function::multiply, factors) : together(walked, 0);
  }

  /// All arguments have known values at elements where none has an entry.
  std::optional<Bounded> of_all(Function function, const std::vector<Expression>& arguments) const {
    std::vector<Bounded> parts;
    std::vector<double> values;
    for (const Expression& argument : arguments) {
      const auto bound = of(argument);
      if (!bound) return std::nullopt;
      parts.push_back(*bound);
      values.push_back(bound->otherwise);
    }
    return together(parts, operators::evaluate(function, values));
  }

  /// One branch is chosen outside of the condition's entries.
  std::optional<Bounded> of_choice(const std::vector<Expression>& arguments) const {
    const auto condition = of(arguments[0]);
    if (!condition) return std::nullopt;
    const auto usual = of(arguments[condition->otherwise != 0 ? 1 : 2]);
    if (!usual) return std::nullopt;
    return together({*condition, *usual}, usual->otherwise);
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
  const auto bound = EntryBound(problem, arguments).of(problem.program.statements.front().value);
  return bound && bound->otherwise == 0 ? std::optional(bound->entries) : std::nullopt;
}

}  // namespace schaas::client
