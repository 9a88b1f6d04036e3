#include "tests/support/threaded_kernel.h"

#include <cstring>
#include <random>

#include "compiler/pipeline/pipeline.h"
#include "tests/support/kernel_batch.h"
#include "tests/support/remembering_toolchain.h"

// One schedule under the client's own runtime, with its threads, chunks and privatised reductions. The kernel
// is emitted by the product's pipeline and compiled at -O1. Operands have a full row in the middle and an
// empty one in five, so the lengths of rows differ much. The reference is the client's oracle, which sees the
// user's tensors; matrices in blocks are split and joined by the client. Errors beyond the client's tolerance
// are reported with the element that is furthest off.
namespace schaas::test_support {
namespace {

using client::CooTensor;

/// Draws entries: of a sparse tensor one full slice, every fifth empty, the others at the density.
CooTensor random_entries(const std::vector<std::int64_t>& extents, bool dense,
                         const ThreadedKernel::Shape& shape, std::mt19937_64& random) {
  CooTensor out;
  out.extents = extents;
  out.coordinates.resize(extents.size());
  std::int64_t size = 1;
  for (const auto extent : extents) size *= extent;
  const std::int64_t row = extents.empty() || extents.front() == 0 ? 1 : size / extents.front();
  for (std::int64_t e = 0; e < size; ++e) {
    const std::int64_t at = e / row;
    const double chance = std::uniform_real_distribution<double>(0, 1)(random);
    const double value = std::uniform_real_distribution<double>(0.5, 1.5)(random);
    const bool negative = shape.signs && random() % 2 == 0;
    const bool full = dense || at == extents.front() / 2;
    if (!full && (at % 5 == 0 || chance > shape.density)) continue;
    std::int64_t rest = e;
    for (std::size_t mode = extents.size(); mode-- > 0; rest /= extents[mode])
      out.coordinates[mode].push_back(rest % extents[mode]);
    out.values.push_back(negative ? -value : value);
  }
  return out;
}

/// By mode of a tensor, as the user's program accesses it.
std::vector<std::int64_t> extents_of(const std::string& tensor, const client::Program& program,
                                     const std::map<std::string, std::int64_t>& extents) {
  std::vector<client::Access> accesses{program.result()};
  for (auto& access : client::operands(program)) accesses.push_back(std::move(access));
  for (const auto& access : accesses) {
    if (access.tensor != tensor) continue;
    std::vector<std::int64_t> out;
    for (const auto& index : access.indices) out.push_back(extents.at(index));
    return out;
  }
  return {};
}

}  // namespace

ThreadedKernel::ThreadedKernel(const problem::ProblemText& text, const std::string& trace, const Shape& shape,
                               std::uint64_t seed) {
  const auto problem = problem::build(text).value();
  static QuickToolchain quick;
  static RememberingToolchain compiler(*quick);
  const toolchain::Target target;
  const auto source =
      pipeline::emit(problem, schedule::parse(trace).value(), pipeline::Language::c, target.isa).value();
  const auto bytes = compiler.compile_c(source, target, support::Cancellation()).value();
  kernel_ = std::make_unique<client::Kernel>(client::Kernel::load(bytes, support::digest_of(bytes)).value());
  const auto program = client::parse_program(text.expression).value();
  blocks_ = client::Blocks::of(program, text.formats).value();
  result_ = program.result().tensor;
  result_extents_ = extents_of(result_, program, shape.extents);
  const auto wished = text.formats.find(result_);
  result_format_ =
      format::parse(wished == text.formats.end() ? "dense" : format::without_blocks(wished->second),
                    static_cast<int>(result_extents_.size()), result_)
          .value();
  std::mt19937_64 random(seed);
  std::map<std::string, CooTensor> data;
  std::map<std::string, client::OracleOperand> operands;
  for (const auto& tensor : problem.tensors()) {
    const auto extents = extents_of(tensor, program, shape.extents);
    client::PackOptions options;
    options.name = tensor;
    options.value_type = problem.value_type;
    options.position_bits = problem.position_bits;
    options.fill_value = problem.semiring->zero;
    const auto& format = problem.formats.at(tensor);
    const bool result = tensor == problem.statement.result.tensor;
    if (result && !problem.statement.update) {
      tensors_.push_back(client::zeros(blocks_.extents(tensor, extents), format, options).value());
      continue;
    }
    auto& entries = data[tensor] = random_entries(extents, format.all_dense(), shape, random);
    operands[tensor] = &entries;
    tensors_.push_back(client::pack(blocks_.split(tensor, entries), format, options).value());
  }
  client::OracleOptions options;
  options.extents = shape.extents;
  options.type = tensors_.front().value_type();
  expected_ = client::evaluate(program, operands, options).value();
  before_ = tensors_.front().values().copy();
}

ThreadedKernel::Outcome ThreadedKernel::run(const client::ExecutionOptions& options) {
  Outcome out;
  std::vector<client::PackedTensor*> arguments;
  for (auto& tensor : tensors_) arguments.push_back(&tensor);
  auto execution = client::Execution::prepare(*kernel_, arguments, options);
  if (!execution.ok()) return {support::render(execution.error()), {}, 0};
  out.folding_bytes = execution->folding_bytes();
  auto& values = tensors_.front().values();
  if (before_.bytes() > 0 && before_.bytes() == values.bytes())
    std::memcpy(values.data(), before_.data(), before_.bytes());
  const auto ran = execution->run();
  if (!ran.ok()) return {support::render(ran.error()), {}, 0};
  const auto joined = blocks_.joined(result_, tensors_.front(), result_extents_, result_format_).value();
  out.result = client::to_dense(joined).value();
  const auto found = client::compare(out.result, expected_).value();
  if (found.max_relative_error > client::tolerance(out.result.value_type))
    out.error = "element " + std::to_string(found.worst) + " is " +
                std::to_string(out.result.at(found.worst)) + ", off by " +
                std::to_string(found.max_relative_error);
  return out;
}

}  // namespace schaas::test_support
