#include "tests/unit/compiler/kernel_run.h"

#include <algorithm>

#include "compiler/codegen/c_printer.h"
#include "compiler/concrete_notation/checks/verifier.h"
#include "compiler/concrete_notation/parser.h"
#include "compiler/loop_ir/printer.h"
#include "compiler/loop_ir/verifier.h"
#include "compiler/lower/lower.h"
#include "tests/support/dense_oracle.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/packed_tensor.h"
#include "tests/support/random_tensor.h"
#include "tests/support/remembering_toolchain.h"

// A hand-written tree through all of code generation, from its verifier to the values of the result. Neither
// the search nor the replay of traces takes part, so what fails is in lowering, printing, or the tree itself.
// Operands and the cuts of ranges are random; the seed is in every failure. Values must agree with the dense
// oracle to 1e-13 (f64) or 1e-5 (f32) of its magnitudes. The structure of a sparse result is checked as well.
namespace schaas::testing {
namespace {

using test_support::DenseTensor;
using test_support::PackedTensor;

std::map<std::string, test_support::RandomTensor> random_operands(const RunCase& run,
                                                                  std::mt19937_64& random) {
  std::map<std::string, test_support::RandomTensor> operands;
  for (const auto& access : run.problem.operands()) {
    std::vector<std::int64_t> extents;
    for (const auto& index : access.indices) extents.push_back(run.extents.at(index));
    const bool dense = run.problem.formats.at(access.tensor).all_dense();
    operands.emplace(access.tensor,
                     test_support::random_tensor(extents, {dense ? 1.0 : run.density, 0.1}, random));
  }
  return operands;
}

std::string compile_and_check(const loop_ir::Kernel& kernel, const RunCase& run, std::mt19937_64& random) {
  const std::string source = codegen::print_c(kernel, {"key", "schedule", "x86-64-v3", "problem"});
  const auto binary = test_support::remembering_toolchain().compile_c(source, {}, support::Cancellation());
  if (!binary.ok()) return support::render(binary.error()) + "\n" + source;
  const auto loaded = test_support::LoadedKernel::load(*binary);
  if (!loaded.ok()) return support::render(loaded.error());

  const auto operands = random_operands(run, random);
  std::map<std::string, DenseTensor> dense;
  for (const auto& [name, tensor] : operands) dense.emplace(name, tensor.dense);
  const auto want = test_support::evaluate(run.problem.statement, dense, run.extents);
  PackedTensor result = test_support::empty_result(run.problem, run.extents);
  std::vector<PackedTensor> packed;
  std::vector<const schaas_tensor*> arguments = {result.abi()};
  for (const auto& name : run.problem.tensors()) {
    if (name == run.problem.statement.result.tensor) continue;
    packed.push_back(test_support::pack(operands.at(name), run.problem.formats.at(name), run.problem));
    arguments.push_back(packed.back().abi());
  }
  const std::string failure =
      test_support::run(loaded->descriptor(), arguments, test_support::Cuts::random, random,
                        [&](const std::vector<std::int64_t>& entries) { result.allocate(entries, 0); });
  if (!failure.empty()) return failure;
  if (const std::string broken = result.structure_error(); !broken.empty()) return broken;
  const double error = test_support::relative_error(result.unpack(), want);
  const double allowed = run.problem.value_type == problem::ValueType::f64 ? 1e-13 : 1e-5;
  if (error <= allowed) return "";
  return "relative error " + std::to_string(error) + "\n" + loop_ir::print(kernel);
}

}  // namespace

std::string check_tree(const std::string& tree, const RunCase& run, std::uint64_t seed,
                       const lower::PassList& passes) {
  const auto parsed = concrete_notation::parse(tree);
  if (!parsed.ok()) return support::render(parsed.error());
  const auto legal = concrete_notation::verify(*parsed, run.problem);
  if (!legal.ok()) return support::render(legal.error());
  const auto kernel = lower::lower(*parsed, run.problem, {.passes = passes, .verify = true});
  if (!kernel.ok()) return support::render(kernel.error());
  const auto verified = loop_ir::verify(*kernel);
  if (!verified.ok()) return support::render(verified.error()) + "\n" + loop_ir::print(*kernel);
  std::mt19937_64 random(seed);
  const auto failure = compile_and_check(*kernel, run, random);
  return failure.empty() ? "" : "seed " + std::to_string(seed) + ": " + failure;
}

}  // namespace schaas::testing
