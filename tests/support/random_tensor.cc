#include "tests/support/random_tensor.h"

#include <algorithm>
#include <map>

// Random tensors and extents for a problem. Values are multiples of a quarter up to 2, or integers up to 8,
// so that sums and products of a few are exact in f32. One stored entry in ten is zero, the semiring's zero.
// Sparse operands have densities of 0.1, 0.4, 0.8 and 1, seldom 0, since an empty tensor hides nearly every
// fault. Extents are equal where one tensor is read under two indices.
namespace schaas::test_support {
namespace {

/// Draws a stored value in the domain of the semiring, never its zero.
double random_value(const RandomTensorOptions& options, std::mt19937_64& random) {
  const operators::Semiring& semiring = *options.semiring;
  const auto size =
      static_cast<double>(1 + random() % static_cast<std::uint64_t>(options.largest)) * options.unit;
  const bool positive =
      semiring.product == operators::Function::multiply && semiring.sum == operators::Monoid::maximum;
  if (semiring.product == operators::Function::logical_and) return 1;
  return positive || !options.negative || random() % 2 == 0 ? size : -size;
}

/// Every access of a program, of definitions too.
std::vector<index_notation::Access> all_accesses(const problem::Problem& problem) {
  std::vector<index_notation::Access> out;
  for (const auto& statement : problem.statements()) {
    out.push_back(statement.result);
    for (auto& access : index_notation::operands(statement.value)) out.push_back(std::move(access));
  }
  return out;
}

/// Modes of a tensor that is used more than once tie their indices together: all get the smallest extent.
void tie_extents(const problem::Problem& problem, Extents& extents) {
  const auto operands = all_accesses(problem);
  for (std::size_t round = 0; round < extents.size(); ++round) {
    for (const auto& a : operands) {
      for (const auto& b : operands) {
        if (a.tensor != b.tensor) continue;
        for (std::size_t mode = 0; mode < a.indices.size(); ++mode) {
          auto& x = extents[a.indices[mode]];
          auto& y = extents[b.indices[mode]];
          x = y = std::min(x, y);
        }
      }
    }
  }
}

}  // namespace

RandomTensor random_tensor(const std::vector<std::int64_t>& extents, const RandomTensorOptions& options,
                           std::mt19937_64& random) {
  RandomTensor out{zeros(extents), {}};
  std::bernoulli_distribution is_stored(options.density);
  std::bernoulli_distribution is_zero(options.explicit_zeros);
  for (std::size_t n = 0; n < out.dense.values.size(); ++n) {
    const bool stored = is_stored(random), counts = stored && !is_zero(random);
    out.stored.push_back(stored);
    const double value = counts ? random_value(options, random) : options.semiring->zero;
    const bool has_both = counts && options.complex && random() % 4 != 0;
    out.dense.set(n, {value, has_both ? random_value(options, random) : 0});
  }
  return out;
}

std::map<std::string, DenseTensor> RandomInput::dense_operands() const {
  std::map<std::string, DenseTensor> out;
  for (const auto& [name, tensor] : operands) out.emplace(name, tensor.dense);
  return out;
}

RandomInput random_input(const problem::Problem& problem, std::int64_t largest_extent,
                         std::mt19937_64& random) {
  Extents extents;
  for (const auto& index : problem.indices()) {
    extents[index] = std::uniform_int_distribution<std::int64_t>(1, largest_extent)(random);
    if (random() % 24 == 0) extents[index] = 0;
  }
  return random_input(problem, extents, random);
}

RandomInput random_input(const problem::Problem& problem, const Extents& given, std::mt19937_64& random) {
  constexpr double densities[] = {0.0, 0.1, 0.4, 0.8, 1.0};
  RandomInput out;
  out.extents = given;
  tie_extents(problem, out.extents);
  for (const auto& operand : problem.reads()) {
    if (out.operands.count(operand.tensor)) continue;
    std::vector<std::int64_t> extents;
    for (const auto& index : operand.indices) extents.push_back(out.extents.at(index));
    const auto& levels = problem.formats.at(operand.tensor).levels;
    const bool dense = std::none_of(levels.begin(), levels.end(), format::is_sparse);
    RandomTensorOptions options;
    options.semiring = problem.semiring;
    const auto type = problem.stored_type(operand.tensor);
    if (operators::is_integer(problem.value_type) || operators::is_integer(type)) options.unit = 1;
    options.negative = !operators::is_unsigned(type) && !operators::is_unsigned(problem.value_type);
    if (type == problem::ValueType::boolean) options.largest = 1;
    options.complex = operators::is_complex(type);
    // Empty tensors now and then only: they hide every mistake but one.
    const auto choice = random() % 16;
    options.density = dense ? 1.0 : choice == 0 ? densities[0] : densities[1 + choice % 4];
    out.operands.emplace(operand.tensor, random_tensor(extents, options, random));
  }
  return out;
}

}  // namespace schaas::test_support
