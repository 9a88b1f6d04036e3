#include "tests/support/kernel_trial.h"

#include <utility>

#include "compiler/codegen/c_printer.h"
#include "compiler/concrete_notation/printer.h"
#include "compiler/concrete_notation/verifier.h"
#include "compiler/loop_ir/verifier.h"
#include "compiler/lower/lower.h"
#include "compiler/schedule/apply.h"
#include "tests/support/kernel_batch.h"

namespace schaas::test_support {
namespace {

using support::Result;

/// What every entry of the result is before the kernel adds to it.
constexpr double initial = 0.75;

double tolerance(problem::ValueType type) { return type == problem::ValueType::f32 ? 1e-4 : 1e-10; }

Result<std::string> source_of(const schedule::Trace& trace, const problem::Problem& problem) {
  SCHAAS_ASSIGN_OR_RETURN(const auto tree, schedule::apply(trace, problem));
  SCHAAS_RETURN_IF_ERROR(concrete_notation::verify(tree, problem));
  SCHAAS_ASSIGN_OR_RETURN(const auto kernel, lower::lower(tree, problem));
  SCHAAS_RETURN_IF_ERROR(loop_ir::verify(kernel));
  codegen::KernelLabel label;
  label.schedule = schedule::print(trace);
  label.isa = "x86-64-v3";
  return codegen::print_c(kernel, label);
}

std::string described(const schedule::Trace& trace, const problem::Problem& problem,
                      const std::string& what) {
  std::string out =
      what + "\n  problem " + problem::print(problem) + "  trace " + schedule::print(trace) + "\n";
  const auto tree = schedule::apply(trace, problem);
  return tree.ok() ? out + "  tree " + concrete_notation::print(*tree) + "\n" : out;
}

/// One index of many values, the others of few.
Extents long_and_thin(const problem::Problem& problem, std::mt19937_64& random) {
  Extents out;
  const auto indices = index_notation::index_variables(problem.statement);
  for (const auto& index : indices) out[index] = std::uniform_int_distribution<std::int64_t>(1, 3)(random);
  if (!indices.empty()) {
    out[indices[random() % indices.size()]] = std::uniform_int_distribution<std::int64_t>(20, 70)(random);
  }
  return out;
}

}  // namespace

struct Trials::Trial {
  RandomInput input;
  std::vector<PackedTensor> operands;             ///< in the order of the arguments, after the result
  std::vector<const schaas_tensor*> arguments{};  ///< of the operands
  Evaluated want;
};

Trials::Trials(const problem::Problem& problem, std::size_t count, std::uint64_t seed) : problem_(problem) {
  std::mt19937_64 random(seed);
  for (std::size_t n = 0; n < count; ++n) {
    Trial trial{n % 3 == 2 ? random_input(problem, long_and_thin(problem, random), random)
                           : random_input(problem, 6, random),
                {},
                {},
                {}};
    const auto tensors = problem.tensors();
    for (std::size_t t = 1; t < tensors.size(); ++t) {
      trial.operands.push_back(
          pack(trial.input.operands.at(tensors[t]), problem.formats.at(tensors[t]), problem));
      trial.arguments.push_back(trial.operands.back().abi());
    }
    trial.want = evaluate(problem.statement, trial.input.dense_operands(), trial.input.extents);
    for (double& value : trial.want.value.values) value += initial;
    for (double& value : trial.want.magnitude.values) value += initial;
    trials_.push_back(std::move(trial));
  }
}

Trials::~Trials() = default;

std::vector<std::string> Trials::failures(const std::vector<schedule::Trace>& schedules, std::size_t runs,
                                          toolchain::Toolchain& toolchain, std::mt19937_64& random) const {
  std::vector<std::string> failed;
  std::vector<std::string> sources;
  std::vector<const schedule::Trace*> compiled;
  for (const auto& trace : schedules) {
    auto source = source_of(trace, problem_);
    if (source.ok()) {
      sources.push_back(std::move(source).value());
      compiled.push_back(&trace);
    } else {
      failed.push_back(described(trace, problem_, support::render(source.error())));
    }
  }
  if (sources.empty()) return failed;
  const auto kernels = compile_batch(sources, toolchain);
  if (!kernels.ok()) {
    failed.push_back(
        described(*compiled.front(), problem_,
                  "a batch starting with this does not compile: " + support::render(kernels.error())));
    return failed;
  }
  for (std::size_t k = 0; k < kernels->size(); ++k) {
    for (std::size_t n = 0; n < runs; ++n) {
      const Trial& trial = trials_[(k + n * 7) % trials_.size()];
      PackedTensor result = zero_result(problem_, trial.input.extents);
      result.fill(initial);
      auto arguments = trial.arguments;
      arguments.insert(arguments.begin(), result.abi());
      const Cuts cuts = n % 2 == 0 ? Cuts::random : Cuts::none;
      std::string error = run((*kernels)[k].descriptor(), arguments, cuts, random);
      const double distance = error.empty() ? relative_error(result.unpack(), trial.want) : 0;
      if (!(distance <= tolerance(problem_.value_type))) error = "relative error " + std::to_string(distance);
      if (error.empty()) continue;
      error += cuts == Cuts::random ? " (in pieces), extents" : " (whole), extents";
      for (const auto& [index, extent] : trial.input.extents)
        error += " " + index + "=" + std::to_string(extent);
      failed.push_back(described(*compiled[k], problem_, error));
      break;
    }
  }
  return failed;
}

}  // namespace schaas::test_support
