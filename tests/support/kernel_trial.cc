#include "tests/support/kernel_trial.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "compiler/codegen/c_printer.h"
#include "compiler/concrete_notation/checks/verifier.h"
#include "compiler/concrete_notation/printer.h"
#include "compiler/loop_ir/verifier.h"
#include "compiler/lower/lower.h"
#include "compiler/schedule/replay/apply.h"
#include "tests/support/kernel_batch.h"

// Schedules of one problem, each compiled and run on the same inputs, against the dense oracle. Elements that
// a kernel promises to write hold NaN before, so one that it leaves out is found. Errors are relative to the
// oracle's magnitudes, at most 1e-10 for f64 and 1e-4 for f32. A schedule fails as well when a verifier
// refuses it, when it does not compile, or when its sparse result is malformed. So does one that stores
// another number of entries than the first schedule did.
namespace schaas::test_support {
namespace {

using support::Result;

/// Returns the value of every entry of a result before it is updated; a truth value where truths are folded.
double initial_of(const problem::Problem& problem) {
  if (!problem.statement.update) return 0;
  const auto monoid = *problem.statement.update;
  const bool logical = monoid == operators::Monoid::logical_or || monoid == operators::Monoid::logical_and;
  return logical || operators::is_integer(problem.value_type) ? 1 : 0.75;
}

/// The least integer that is told from no other here: it wraps around, or double does not hold it.
double first_uncertain(problem::ValueType type) {
  if (!operators::is_integer(type)) return std::numeric_limits<double>::infinity();
  return std::min(static_cast<double>(operators::facts(type).largest), 0x1p53);
}

/// Returns the largest allowed error, relative to magnitudes.
double tolerance(problem::ValueType type) {
  if (operators::is_integer(type)) return 0;
  return operators::part_type(type) == problem::ValueType::f32 ? 1e-4 : 1e-10;
}

/// "1.5", "1.5+2i"
std::string written(std::complex<double> number) {
  if (number.imag() == 0) return std::to_string(number.real());
  return std::to_string(number.real()) + (number.imag() < 0 ? "" : "+") + std::to_string(number.imag()) + "i";
}

/// " at 3: 1.5 instead of 2"
std::string first_difference(const DenseTensor& found, const Evaluated& want) {
  for (std::size_t n = 0; n < found.values.size() && n < want.value.values.size(); ++n) {
    const auto got = found.number(n), right = want.value.number(n);
    const Evaluated one{{{1}, {right.real()}, {right.imag()}}, {{1}, {want.magnitude.values[n]}}};
    if (relative_error({{1}, {got.real()}, {got.imag()}}, one) > 1e-5) {
      return " at " + std::to_string(n) + ": " + written(got) + " instead of " + written(right);
    }
  }
  return "";
}

/// One index of many values, the others of few.
Extents long_and_thin(const problem::Problem& problem, std::mt19937_64& random) {
  Extents out;
  const auto indices = problem.indices();
  for (const auto& index : indices) out[index] = std::uniform_int_distribution<std::int64_t>(1, 3)(random);
  if (!indices.empty()) {
    out[indices[random() % indices.size()]] = std::uniform_int_distribution<std::int64_t>(20, 70)(random);
  }
  return out;
}

/// Indices of dense tensors only at one of the sizes that kernels have versions for (lower/specialisation.h),
/// the others of few values.
Extents common_and_few(const problem::Problem& problem, std::mt19937_64& random) {
  std::set<std::string> dense;
  for (const auto& index : problem.indices()) dense.insert(index);
  for (const auto& tensor : problem.tensors()) {
    if (problem.formats.at(tensor).all_dense()) continue;
    for (const auto& index : problem.indices_of(tensor)) dense.erase(index);
  }
  static constexpr std::int64_t sizes[] = {8, 16, 32};
  const auto size = sizes[random() % (dense.size() < 2 ? 3 : dense.size() < 3 ? 2 : 1)];
  Extents out;
  for (const auto& index : problem.indices()) {
    out[index] = dense.count(index) > 0 ? size : std::uniform_int_distribution<std::int64_t>(1, 5)(random);
  }
  return out;
}

}  // namespace

Result<loop_ir::Kernel> kernel_of(const schedule::Trace& trace, const problem::Problem& problem,
                                  const lower::PassList& passes) {
  SCHAAS_ASSIGN_OR_RETURN(const auto tree, schedule::apply(trace, problem));
  SCHAAS_ASSIGN_OR_RETURN(const auto with_copies, schedule::problem_of(trace, problem));
  SCHAAS_RETURN_IF_ERROR(concrete_notation::verify(tree, with_copies));
  SCHAAS_ASSIGN_OR_RETURN(auto kernel, lower::lower(tree, with_copies, {.passes = passes, .verify = true}));
  SCHAAS_RETURN_IF_ERROR(loop_ir::verify(kernel));
  return kernel;
}

Result<std::string> source_of(const schedule::Trace& trace, const problem::Problem& problem,
                              const lower::PassList& passes) {
  SCHAAS_ASSIGN_OR_RETURN(const auto kernel, kernel_of(trace, problem, passes));
  codegen::KernelLabel label;
  label.schedule = schedule::print(trace);
  label.isa = "x86-64-v3";
  if (passes == lower::baseline_passes()) label.blocks = codegen::Blocks::few;
  return codegen::print_c(kernel, label);
}

std::string described(const schedule::Trace& trace, const problem::Problem& problem,
                      const std::string& what) {
  std::string out =
      what + "\n  problem " + problem::print(problem) + "  trace " + schedule::print(trace) + "\n";
  const auto tree = schedule::apply(trace, problem);
  return tree.ok() ? out + "  tree " + concrete_notation::print(*tree) + "\n" : out;
}

struct Trials::Trial {
  RandomInput input;
  std::vector<PackedTensor> operands;             ///< in the order of the arguments, after the result
  std::vector<const schaas_tensor*> arguments{};  ///< the operands
  Evaluated want;
  mutable std::vector<std::int64_t> entries{};  ///< that the first schedule gave the result, by level

  /// Entries of a sparse result do not depend on the schedule, where every sum has values. Explicit zeros
  /// count. A sum over no values is zero at entries of others, and schedules that append inside of it append
  /// nothing.
  std::string other_entries(const std::vector<std::int64_t>& counted,
                            const std::vector<std::string>& result) const {
    for (const auto& [index, extent] : input.extents)
      if (extent == 0 && std::find(result.begin(), result.end(), index) == result.end()) return "";
    if (entries.empty()) entries = counted;
    if (entries == counted) return "";
    return "the result has " + std::to_string(counted.back()) + " entries, by another schedule " +
           std::to_string(entries.back());
  }
};

Trials::Trials(const problem::Problem& problem, std::size_t count, std::uint64_t seed) : problem_(problem) {
  std::mt19937_64 random(seed);
  for (std::size_t n = 0; n < count; ++n) {
    add(n % 3 == 2   ? random_input(problem, long_and_thin(problem, random), random)
        : n % 3 == 1 ? random_input(problem, common_and_few(problem, random), random)
                     : random_input(problem, 6, random));
  }
}

Trials::Trials(const problem::Problem& problem, std::vector<RandomInput> inputs) : problem_(problem) {
  for (auto& input : inputs) add(std::move(input));
}

void Trials::add(RandomInput input) {
  Trial trial{std::move(input), {}, {}, {}};
  const auto tensors = problem_.tensors();
  for (std::size_t t = 1; t < tensors.size(); ++t) {
    trial.operands.push_back(
        pack(trial.input.operands.at(tensors[t]), problem_.formats.at(tensors[t]), problem_));
    trial.arguments.push_back(trial.operands.back().abi());
  }
  DenseTensor before = zero_result(problem_, trial.input.extents).unpack();
  before.values.assign(before.values.size(), initial_of(problem_));
  trial.want = evaluate(problem_.program(), trial.input.dense_operands(), trial.input.extents, &before,
                        first_uncertain(problem_.value_type));
  trials_.push_back(std::move(trial));
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
    const std::string error = error_of((*kernels)[k].descriptor(), k, runs, random);
    if (!error.empty()) failed.push_back(described(*compiled[k], problem_, error));
  }
  return failed;
}

std::string Trials::error_of(const schaas_kernel_descriptor& kernel, std::size_t first, std::size_t runs,
                             std::mt19937_64& random) const {
  for (std::size_t n = 0; n < runs; ++n) {
    const std::string error =
        error_of(kernel, (first + n * 7) % trials_.size(), n % 2 == 0 ? Cuts::random : Cuts::none, random);
    if (!error.empty()) return error;
  }
  return "";
}

std::string Trials::error_of(const schaas_kernel_descriptor& kernel, std::size_t input, Cuts cuts,
                             std::mt19937_64& random) const {
  const Trial& trial = trials_[input];
  PackedTensor result = empty_result(problem_, trial.input.extents);
  const bool made = kernel.counter_count > 0;
  // "emulated entries 1": the result has the entries of argument 1 (proto/gpu_abi.h).
  const std::string isa = kernel.isa, like = "emulated entries ";
  if (isa.rfind(like, 0) == 0) {
    const std::string operand =
        problem_.tensors().at(static_cast<std::size_t>(std::stoi(isa.substr(like.size()))));
    const RandomTensor& entries = trial.input.operands.at(operand);
    result = pack(entries, problem_.formats.at(problem_.statement.result.tensor), problem_);
  }
  auto arguments = trial.arguments;
  std::vector<PackedTensor> shifted;
  if (isa.rfind("emulated", 0) == 0 && cuts == Cuts::random) {
    for (std::size_t n = 0; n < arguments.size(); ++n)
      arguments[n] = shifted.emplace_back(trial.operands[n].shifted()).abi();
  }
  arguments.insert(arguments.begin(), result.abi());
  std::vector<PackedTensor> copies;
  for (std::int32_t c = 0; c < kernel.copy_count; ++c) {
    const std::string tensor = problem_.tensors().at(static_cast<std::size_t>(kernel.copies[c].argument));
    const format::TensorFormat& original = problem_.formats.at(tensor);
    const format::TensorFormat format = format::copy_format(
        original, {kernel.copies[c].mode_order, kernel.copies[c].mode_order + original.order()},
        kernel.copies[c].locates != 0);
    copies.push_back(pack(trial.input.operands.at(tensor), format, problem_));
    arguments.push_back(copies.back().abi());
  }
  // Elements that the kernel must write are NaN before.
  const auto has_units = [&](const schaas_phase& phase) { return phase.range(arguments.data()) > 0; };
  const bool writes_all = kernel.writes_all != 0 &&
                          (made || std::all_of(kernel.phases, kernel.phases + kernel.phase_count, has_units));
  const double start = writes_all ? std::nan("") : kernel.result_fill;
  if (!made) result.fill(problem_.statement.update ? initial_of(problem_) : start);
  Allocate allocate;
  std::vector<std::int64_t> counted;
  if (made) {
    allocate = [&](const std::vector<std::int64_t>& entries) {
      counted = entries;
      result.allocate(entries, start);
    };
  }
  std::string error = run(kernel, arguments, cuts, random, allocate);
  if (error.empty()) error = result.structure_error();
  if (error.empty() && made) error = trial.other_entries(counted, problem_.statement.result.indices);
  if (error.empty()) {
    const DenseTensor found = result.unpack(problem_.semiring->zero);
    const double distance = relative_error(found, trial.want);
    if (!(distance <= tolerance(problem_.value_type))) {
      error = "relative error " + std::to_string(distance) + first_difference(found, trial.want);
    }
  }
  if (error.empty()) return "";
  error += cuts == Cuts::random ? " (in pieces), extents" : " (whole), extents";
  for (const auto& [index, extent] : trial.input.extents) error += " " + index + "=" + std::to_string(extent);
  return error;
}

std::size_t Trials::elements() const {
  std::size_t count = 0;
  for (const auto& trial : trials_) count += trial.want.value.values.size();
  return count;
}

std::size_t Trials::determined_elements() const {
  std::size_t count = 0;
  for (const auto& trial : trials_) count += determined(trial.want);
  return count;
}

}  // namespace schaas::test_support
