#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>

#include "compiler/index_notation/extent_classes.h"
#include "compiler/index_notation/gradient/gradient.h"
#include "compiler/index_notation/parser.h"
#include "compiler/index_notation/printer.h"
#include "compiler/index_notation/verifier.h"
#include "tests/support/dense_oracle.h"
#include "tests/support/random_program.h"
#include "tests/support/seed.h"

// Derivatives of random programs of the whole language, evaluated by the dense oracle, against differences of
// the program itself by the same oracle. Half of the operands are sparse: they hold zeros, at which the
// derivative by them is 0. Elements at which quotients of two step lengths differ are left out: kinks and
// steep places. SCHAAS_SEED=n chooses another seed; it is in every failure.
namespace schaas {
namespace {

using index_notation::Access;
using index_notation::Program;
using test_support::DenseTensor;
using test_support::Extents;
using Tensors = std::map<std::string, DenseTensor>;

constexpr int programs_drawn = 1000;

std::uint64_t seed() { return test_support::seed_or(20260803); }

/// A program with values for its operands, and the derivative that is looked at.
class Trial {
 public:
  Trial(Program program, std::mt19937_64& random) : program_(std::move(program)), random_(random) {
    for (const auto& [index, first] : index_notation::extent_classes(program_.statements))
      extents_[index] = 2 + static_cast<std::int64_t>(std::hash<std::string>{}(first) % 2);
    for (const Access& access : reads()) add(access);
    add(program_.result());
  }

  std::vector<Access> reads() const {
    std::vector<Access> found;
    std::set<std::string> seen;
    for (const auto& statement : program_.statements) seen.insert(statement.result.tensor);
    for (const auto& statement : program_.statements)
      for (Access& access : index_notation::operands(statement.value))
        if (seen.insert(access.tensor).second) found.push_back(std::move(access));
    return found;
  }
  const std::set<std::string>& sparse() const { return sparse_; }

  /// Returns the weighted sum of the result's elements, NaN where one is not determined.
  double weighted(const Tensors& tensors) const {
    const auto& result = program_.result().tensor;
    const auto found = test_support::evaluate(program_, tensors, extents_, &tensors.at(result));
    double sum = 0;
    for (std::size_t n = 0; n < found.value.values.size(); ++n)
      sum += found.magnitude.values[n] * 0 + found.value.values[n] * (scalar() ? 1 : weights_.values[n]);
    return sum;
  }
  bool scalar() const { return program_.result().indices.empty(); }

  /// Compares a derivative with differences; returns the number of elements compared.
  int compare(const Program& derivative, const std::string& of, const std::string& seed) {
    Tensors given = values_;
    if (!seed.empty()) given[seed] = weights_;
    const auto found = test_support::evaluate(derivative, given, extents_of(derivative));
    int compared = 0;
    for (std::size_t n = 0; n < found.value.values.size(); ++n) {
      const double got = found.value.values[n], at = values_.at(of).values[n];
      if (sparse_.count(of) != 0 && at == 0) {
        EXPECT_EQ(0, got) << print(derivative);
        continue;
      }
      const double coarse = quotient(of, n, 2e-4), fine = quotient(of, n, 1e-4);
      const double scale = std::max({1.0, std::fabs(coarse), std::fabs(weighted(values_))});
      if (!(std::fabs(coarse - fine) < 1e-5 * scale) || !(found.magnitude.values[n] < 1e6)) continue;
      ++compared;
      EXPECT_NEAR(fine, got, 1e-4 * scale)
          << print(program_) << "\n  " << print(derivative) << "\n  element " << n;
    }
    return compared;
  }

 private:
  void add(const Access& access) {
    DenseTensor tensor;
    for (const auto& index : access.indices) tensor.extents.push_back(extents_.at(index));
    tensor = test_support::zeros(tensor.extents);
    const bool sparse =
        !access.indices.empty() && random_() % 2 == 0 && access.tensor != program_.result().tensor;
    if (sparse) sparse_.insert(access.tensor);
    std::uniform_real_distribution<double> draw(0.3, 1.7);
    for (double& value : tensor.values) {
      value = random_() % 3 == 0 ? -draw(random_) : draw(random_);
      if (sparse && random_() % 3 == 0) value = 0;
    }
    if (access.tensor == program_.result().tensor) {
      weights_ = tensor;
      for (double& value : weights_.values) value = draw(random_);
    }
    values_[access.tensor] = std::move(tensor);
  }

  double quotient(const std::string& of, std::size_t n, double step) const {
    Tensors up = values_, down = values_;
    up.at(of).values[n] += step;
    down.at(of).values[n] -= step;
    return (weighted(up) - weighted(down)) / (2 * step);
  }

  // Indices that the derivative adds have the extents of the operands they stand on.
  Extents extents_of(const Program& derivative) const {
    Extents extents = extents_;
    for (const auto& statement : derivative.statements) {
      for (const Access& access : index_notation::operands(statement.value)) {
        const auto tensor = values_.find(access.tensor);
        for (std::size_t mode = 0; tensor != values_.end() && mode < access.indices.size(); ++mode)
          extents.emplace(access.indices[mode], tensor->second.extents[mode]);
      }
    }
    const auto classes = index_notation::extent_classes(derivative.statements);
    for (const auto& [index, first] : classes) {
      for (const auto& [other, other_first] : classes)
        if (other_first == first && extents.count(other) != 0) extents.emplace(index, extents.at(other));
    }
    return extents;
  }
  Program program_;
  std::mt19937_64& random_;
  Extents extents_;
  Tensors values_;
  DenseTensor weights_;
  std::set<std::string> sparse_;
};

std::optional<Program> random_smooth_program(std::mt19937_64& random) {
  const auto text = test_support::random_program_text({}, random).expression;
  auto program = index_notation::parse(text);
  if (!program.ok() || !index_notation::verify(*program, text).ok()) return std::nullopt;
  if (program->semiring != &operators::plus_times()) return std::nullopt;
  return std::move(program).value();
}

/// Differentiates programs and counts what was compared.
class Session {
 public:
  void differentiate(const Program& program, bool again) {
    Trial trial(program, random_);
    for (const Access& access : trial.reads()) {
      index_notation::GradientOptions options{access.tensor, "", "derivative", trial.sparse()};
      if (again) options.name += "2";
      if (!trial.scalar()) options.seed = again ? "seed2" : "seed";
      const auto derivative = index_notation::gradient(program, options, print(program));
      if (!derivative.ok()) {
        ++refused_[derivative.error().code];
        if (std::getenv("SCHAAS_SHOW") != nullptr) std::cout << support::render(derivative.error()) << "\n";
        continue;
      }
      EXPECT_EQ(*derivative, index_notation::parse(print(*derivative)).value());
      ++derivatives_;
      compared_ += trial.compare(*derivative, access.tensor, options.seed);
      if (!again && random_() % 8 == 0) differentiate(*derivative, true);
    }
  }
  std::mt19937_64& random() { return random_; }
  int derivatives() const { return derivatives_; }
  int compared() const { return compared_; }
  void print_counts() const {
    std::cout << derivatives_ << " derivatives, " << compared_ << " elements";
    for (const auto& [code, count] : refused_) std::cout << ", " << count << " " << code;
    std::cout << "\n";
  }

 private:
  std::mt19937_64 random_{seed()};
  int derivatives_ = 0, compared_ = 0;
  std::map<std::string, int> refused_;
};

TEST(Gradients, EqualDifferencesOfTheProgram) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  Session session;
  for (int drawn = 0; drawn < programs_drawn && !testing::Test::HasFailure(); ++drawn) {
    const auto program = random_smooth_program(session.random());
    if (program) session.differentiate(*program, false);
  }
  session.print_counts();
  EXPECT_GT(session.derivatives(), programs_drawn);
  EXPECT_GT(session.compared(), 3 * programs_drawn);
}

}  // namespace
}  // namespace schaas
