#include "tests/support/random_tensor.h"

#include <algorithm>
#include <map>

namespace schaas::test_support {
namespace {

double random_value(std::mt19937_64& random) {
  const double size = std::uniform_real_distribution<double>(0.5, 2.0)(random);
  return static_cast<float>(random() % 2 == 0 ? size : -size);
}

/// Modes of a tensor that is used more than once tie their indices together: all get the smallest extent.
void tie_extents(const problem::Problem& problem, Extents& extents) {
  const auto operands = problem.operands();
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
  for (double& value : out.dense.values) {
    const bool stored = is_stored(random);
    out.stored.push_back(stored);
    if (stored && !is_zero(random)) value = random_value(random);
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
  for (const auto& index : index_notation::index_variables(problem.statement)) {
    extents[index] = std::uniform_int_distribution<std::int64_t>(1, largest_extent)(random);
  }
  return random_input(problem, extents, random);
}

RandomInput random_input(const problem::Problem& problem, const Extents& given, std::mt19937_64& random) {
  constexpr double densities[] = {0.0, 0.1, 0.4, 0.8, 1.0};
  RandomInput out;
  out.extents = given;
  tie_extents(problem, out.extents);
  for (const auto& operand : problem.operands()) {
    if (out.operands.count(operand.tensor)) continue;
    std::vector<std::int64_t> extents;
    for (const auto& index : operand.indices) extents.push_back(out.extents.at(index));
    const auto& levels = problem.formats.at(operand.tensor).levels;
    const bool dense = std::count(levels.begin(), levels.end(), format::LevelFormat::compressed) == 0;
    RandomTensorOptions options;
    // Empty tensors now and then only: they hide every mistake but one.
    const auto choice = random() % 16;
    options.density = dense ? 1.0 : choice == 0 ? densities[0] : densities[1 + choice % 4];
    out.operands.emplace(operand.tensor, random_tensor(extents, options, random));
  }
  return out;
}

}  // namespace schaas::test_support
