#include "tests/unit/program_run.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "compiler/codegen/c_printer.h"
#include "compiler/concrete_notation/parser.h"
#include "compiler/concrete_notation/printer.h"
#include "compiler/concrete_notation/semantics.h"
#include "compiler/concrete_notation/verifier.h"
#include "compiler/index_notation/extent_classes.h"
#include "compiler/loop_ir/parser.h"
#include "compiler/loop_ir/printer.h"
#include "compiler/loop_ir/verifier.h"
#include "compiler/lower/lower.h"
#include "compiler/schedule/apply.h"
#include "compiler/toolchain/toolchain.h"
#include "tests/support/dense_oracle.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/packed_tensor.h"
#include "tests/support/random_tensor.h"

namespace schaas::testing {
namespace {

using index_notation::Expression;
using support::Result;
using test_support::DenseTensor;
using Point = std::map<std::string, std::int64_t>;
using Tensors = std::map<std::string, DenseTensor>;

Result<problem::Problem> built(const ProgramCase& run) {
  return problem::build({run.program, run.formats, {}, run.value_type, run.position_bits, "default"});
}

/// The program by definition.
class Definition {
 public:
  Definition(const problem::Problem& problem, const Point& extents, Tensors tensors)
      : problem_(problem), extents_(extents), tensors_(std::move(tensors)) {}

  DenseTensor result() {
    for (const auto& statement : problem_.statements()) compute(statement);
    return tensors_.at(problem_.statement.result.tensor);
  }

 private:
  void compute(const index_notation::Assignment& statement) {
    const Expression value = concrete_notation::explicit_value(statement, problem_);
    std::vector<std::int64_t> extents;
    for (const auto& index : statement.result.indices) extents.push_back(extents_.at(index));
    DenseTensor& out = tensors_.emplace(statement.result.tensor, test_support::zeros(extents)).first->second;
    std::size_t place = 0;
    over(statement.result.indices, {}, [&](const Point& point) {
      const double now = at(value, point);
      double& element = out.values[place++];
      element = statement.update ? fold(*statement.update, element, now) : now;
    });
  }

  static double fold(operators::Monoid monoid, double a, double b) {
    return operators::evaluate(operators::combine(monoid), {a, b});
  }

  template <class Function>
  void over(const std::vector<std::string>& indices, const Point& around, const Function& function) const {
    std::vector<std::int64_t> extents;
    std::size_t count = 1;
    for (const auto& index : indices) {
      extents.push_back(extents_.at(index));
      count *= static_cast<std::size_t>(extents.back());
    }
    for (std::size_t n = 0; n < count; ++n) {
      Point point = around;
      std::size_t rest = n;
      for (std::size_t mode = indices.size(); mode-- > 0;) {
        point[indices[mode]] = static_cast<std::int64_t>(rest % static_cast<std::size_t>(extents[mode]));
        rest /= static_cast<std::size_t>(extents[mode]);
      }
      function(point);
    }
  }

  double at(const Expression& expression, const Point& point) const {
    if (const auto* access = std::get_if<index_notation::Access>(&expression.node)) {
      const DenseTensor& tensor = tensors_.at(access->tensor);
      std::vector<std::int64_t> coordinates;
      for (const auto& index : access->indices) coordinates.push_back(point.at(index));
      return tensor.values.at(test_support::offset(tensor.extents, coordinates));
    }
    if (const auto* literal = std::get_if<index_notation::Literal>(&expression.node)) return literal->value;
    if (const auto* reduction = std::get_if<index_notation::Reduction>(&expression.node)) {
      double all = concrete_notation::start_value(reduction->monoid, problem_);
      over(reduction->indices, point, [&](const Point& inner) {
        all = fold(reduction->monoid, all, at(reduction->body.front(), inner));
      });
      return all;
    }
    std::vector<double> values;
    for (const auto& part : index_notation::parts(expression)) values.push_back(at(part, point));
    if (std::holds_alternative<index_notation::Product>(expression.node)) {
      const double zero = problem_.semiring->zero;
      if (std::find(values.begin(), values.end(), zero) != values.end()) return zero;
      double product = values.front();
      for (std::size_t n = 1; n < values.size(); ++n)
        product = operators::evaluate(problem_.semiring->product, {product, values[n]});
      return product;
    }
    const auto function = std::get<index_notation::Call>(expression.node).function;
    const bool plus = function == operators::Function::add;
    return operators::evaluate(plus ? operators::combine(problem_.semiring->sum) : function, values);
  }

  const problem::Problem& problem_;
  const Point& extents_;
  Tensors tensors_;
};

/// A result whose arrays are made while the kernel runs, as proto/kernel_abi.h says.
class MadeResult {
 public:
  MadeResult(const problem::Problem& problem, const Point& extents, double fill)
      : bits_(problem.position_bits),
        fill_(fill),
        is_float_(problem.value_type == problem::ValueType::f32),
        format_(problem.formats.at(problem.statement.result.tensor)) {
    for (const auto& index : problem.statement.result.indices) extents_.push_back(extents.at(index));
    for (const int mode : format_.mode_order) modes_.push_back(mode);
    levels_.resize(format_.levels.size());
    pos_.resize(levels_.size());
    crd_.resize(levels_.size());
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      const bool dense = format_.levels[l] == format::LevelFormat::dense;
      levels_[l] = {dense ? SCHAAS_LEVEL_DENSE : SCHAAS_LEVEL_COMPRESSED, dense ? 0 : bits_, nullptr, nullptr,
                    0};
    }
    abi_.order = static_cast<std::int32_t>(levels_.size());
    abi_.value_type = is_float_ ? SCHAAS_F32 : SCHAAS_F64;
    abi_.extents = extents_.data();
    abi_.mode_order = modes_.data();
    abi_.levels = levels_.data();
  }

  const schaas_tensor* abi() const { return &abi_; }

  /// `totals`: the entries of each compressed level, in order.
  void allocate(const std::vector<std::int64_t>& totals) {
    std::int64_t entries = 1;
    std::size_t compressed = 0;
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      if (levels_[l].format == SCHAAS_LEVEL_DENSE) {
        entries *= extents_[static_cast<std::size_t>(modes_[l])];
      } else {
        const std::int64_t total = totals.at(compressed++);
        pos_[l].assign(static_cast<std::size_t>(entries + 1) * 8, 0xFF);
        crd_[l].assign(static_cast<std::size_t>(total) * 8 + 8, 0xFF);
        set(pos_[l], 0, 0);
        set(pos_[l], entries, total);
        levels_[l].pos = pos_[l].data();
        levels_[l].crd = crd_[l].data();
        entries = total;
      }
      levels_[l].entries = entries;
    }
    values_.assign(static_cast<std::size_t>(entries) * 8 + 8, 0);
    for (std::int64_t n = 0; n < entries; ++n) set_value(n, fill_);
    abi_.values = values_.data();
  }

  void set_value(std::int64_t n, double value) {
    const auto narrow = static_cast<float>(value);
    if (is_float_) {
      std::memcpy(values_.data() + n * 4, &narrow, 4);
    } else {
      std::memcpy(values_.data() + n * 8, &value, 8);
    }
  }
  double value(std::int64_t n) const {
    double wide = 0;
    float narrow = 0;
    std::memcpy(&narrow, values_.data() + n * (is_float_ ? 4 : 8), 4);
    if (is_float_) return static_cast<double>(narrow);
    std::memcpy(&wide, values_.data() + n * 8, 8);
    return wide;
  }

  /// Everything; what is not stored is `zero`. `error`: an array that is not what the ABI demands.
  DenseTensor unpack(double zero, std::string& error) const {
    DenseTensor out = test_support::zeros(extents_);
    std::fill(out.values.begin(), out.values.end(), zero);
    std::vector<std::int64_t> at(extents_.size());
    unpack(0, 0, at, out, error);
    return out;
  }

  std::vector<std::int64_t> entries() const {
    std::vector<std::int64_t> out;
    for (const auto& level : levels_) out.push_back(level.format == SCHAAS_LEVEL_DENSE ? -1 : level.entries);
    return out;
  }

 private:
  void set(std::vector<unsigned char>& array, std::int64_t n, std::int64_t value) const {
    const auto narrow = static_cast<std::int32_t>(value);
    if (bits_ == 32) {
      std::memcpy(array.data() + n * 4, &narrow, 4);
    } else {
      std::memcpy(array.data() + n * 8, &value, 8);
    }
  }
  std::int64_t get(const std::vector<unsigned char>& array, std::int64_t n) const {
    std::int64_t wide = 0;
    std::int32_t narrow = 0;
    if (bits_ == 64) {
      std::memcpy(&wide, array.data() + n * 8, 8);
      return wide;
    }
    std::memcpy(&narrow, array.data() + n * 4, 4);
    return narrow;
  }

  void unpack(std::size_t level, std::int64_t position, std::vector<std::int64_t>& at, DenseTensor& out,
              std::string& error) const {
    if (level == levels_.size()) {
      out.values[test_support::offset(extents_, at)] = value(position);
      return;
    }
    const auto mode = static_cast<std::size_t>(modes_[level]);
    if (levels_[level].format == SCHAAS_LEVEL_DENSE) {
      for (std::int64_t c = 0; c < extents_[mode]; ++c) {
        at[mode] = c;
        unpack(level + 1, position * extents_[mode] + c, at, out, error);
      }
      return;
    }
    const std::int64_t begin = get(pos_[level], position);
    const std::int64_t end = get(pos_[level], position + 1);
    std::int64_t last = -1;
    for (std::int64_t p = begin; p < end && error.empty(); ++p) {
      at[mode] = p < levels_[level].entries ? get(crd_[level], p) : -1;
      if (at[mode] <= last || at[mode] >= extents_[mode])
        error = "level " + std::to_string(level) + " holds coordinate " + std::to_string(at[mode]) +
                " after " + std::to_string(last);
      last = at[mode];
      if (error.empty()) unpack(level + 1, p, at, out, error);
    }
    if (begin < 0 || begin > end || end > levels_[level].entries)
      error = "level " + std::to_string(level) + " has positions " + std::to_string(begin) + " .. " +
              std::to_string(end);
  }

  int bits_;
  double fill_;
  bool is_float_;
  format::TensorFormat format_;
  std::vector<std::int64_t> extents_;
  std::vector<std::int32_t> modes_;
  std::vector<schaas_level> levels_;
  std::vector<std::vector<unsigned char>> pos_, crd_;
  std::vector<unsigned char> values_;
  schaas_tensor abi_{};
};

std::string run_kernel(const schaas_kernel_descriptor& kernel, const std::vector<const schaas_tensor*>& args,
                       MadeResult& result, bool in_pieces, std::mt19937_64& random) {
  const auto aligned = [](std::int64_t bytes) {
    const auto size = (static_cast<std::size_t>(bytes) / 64 + 1) * 64;
    void* data = std::aligned_alloc(64, size);
    std::memset(data, 0, size);
    return std::unique_ptr<void, void (*)(void*)>(data, std::free);
  };
  std::vector<std::unique_ptr<void, void (*)(void*)>> owned;
  std::vector<void*> shared;
  for (std::int32_t n = 0; n < kernel.shared_count; ++n) {
    owned.push_back(aligned(kernel.shared_bytes(args.data(), n)));
    shared.push_back(owned.back().get());
  }
  const auto workspace = aligned(kernel.workspace_bytes ? kernel.workspace_bytes(args.data()) : 0);
  std::int64_t units = 0;
  bool counted = false;
  if (kernel.counter_count == 0) result.allocate({});
  for (std::int32_t n = 0; n < kernel.phase_count; ++n) {
    const auto& phase = kernel.phases[n];
    const std::int64_t range = phase.range(args.data());
    if (phase.step == SCHAAS_STEP_COUNT) {
      counted = true;
      units = range;
    } else if (counted) {
      counted = false;
      std::vector<std::int64_t> totals;
      for (std::int32_t c = 0; c < kernel.counter_count; ++c) {
        auto* counts =
            static_cast<std::int64_t*>(shared[static_cast<std::size_t>(kernel.counters[c].shared_slot)]);
        std::int64_t sum = 0;
        for (std::int64_t u = 0; u <= units; ++u) {
          const std::int64_t mine = u < units ? counts[u] : 0;
          counts[u] = sum;
          sum += mine;
        }
        totals.push_back(sum);
      }
      result.allocate(totals);
    }
    std::vector<std::int64_t> bounds{0, range};
    for (int c = 0; in_pieces && c < 4; ++c)
      bounds.push_back(std::uniform_int_distribution<std::int64_t>(0, range)(random));
    std::sort(bounds.begin(), bounds.end());
    for (std::size_t b = 0; b + 1 < bounds.size(); ++b) {
      const auto status = phase.run(args.data(), shared.data(), workspace.get(), bounds[b], bounds[b + 1]);
      if (status != SCHAAS_OK) return "phase " + std::to_string(n) + " returned " + std::to_string(status);
    }
  }
  return "";
}

std::string compare(const DenseTensor& got, const DenseTensor& want, double allowed) {
  for (std::size_t n = 0; n < want.values.size(); ++n) {
    const double a = got.values[n];
    const double b = want.values[n];
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (std::abs(a - b) <= allowed * std::max(1.0, std::abs(b))) continue;
    return "element " + std::to_string(n) + " is " + std::to_string(a) + " instead of " + std::to_string(b);
  }
  return "";
}

}  // namespace

std::string tree_of(const ProgramCase& run) {
  const auto problem = built(run);
  if (!problem.ok()) return support::render(problem.error());
  const auto trace = schedule::parse(run.trace);
  if (!trace.ok()) return support::render(trace.error());
  const auto tree = schedule::apply(*trace, *problem);
  return tree.ok() ? concrete_notation::print(*tree) : support::render(tree.error());
}

std::string check_program(const ProgramCase& run, std::uint64_t seed) {
  Stored stored;
  return check_program(run, seed, stored);
}

std::string check_program(const ProgramCase& run, std::uint64_t seed, Stored& stored) {
  const auto problem = built(run);
  if (!problem.ok()) return support::render(problem.error());
  const auto tree = concrete_notation::parse(tree_of(run));
  if (!tree.ok()) return tree_of(run) + "\n" + support::render(tree.error());
  const auto legal = concrete_notation::verify(*tree, *problem);
  if (!legal.ok()) return tree_of(run) + "\n" + support::render(legal.error());
  const auto kernel = lower::lower(*tree, *problem);
  if (!kernel.ok()) return support::render(kernel.error());
  const std::string about =
      "\nseed " + std::to_string(seed) + "\n" + tree_of(run) + "\n" + loop_ir::print(*kernel);
  const auto verified = loop_ir::verify(*kernel);
  if (!verified.ok()) return support::render(verified.error()) + about;

  static const auto toolchain = toolchain::make_c_toolchain({});
  const auto binary = toolchain->compile_c(
      codegen::print_c(*kernel, {"key", "schedule", "x86-64-v3", "problem"}), {}, support::Cancellation());
  if (!binary.ok()) return support::render(binary.error()) + about;
  const auto loaded = test_support::LoadedKernel::load(*binary);
  if (!loaded.ok()) return support::render(loaded.error()) + about;

  std::mt19937_64 random(seed);
  const std::string& name = problem->statement.result.tensor;
  Tensors dense;
  std::vector<test_support::PackedTensor> packed;
  for (const auto& tensor : problem->tensors()) {
    if (tensor == name) continue;
    std::vector<std::int64_t> extents;
    for (const auto& index : problem->indices_of(tensor)) extents.push_back(run.extents.at(index));
    const bool all = problem->formats.at(tensor).all_dense();
    auto drawn = test_support::random_tensor(extents, {all ? 1.0 : run.density, 0.1}, random);
    for (std::size_t n = 0; n < drawn.stored.size(); ++n) {
      if (!drawn.stored[n]) drawn.dense.values[n] = problem->semiring->zero;
    }
    dense.emplace(tensor, drawn.dense);
    packed.push_back(test_support::pack(drawn, problem->formats.at(tensor), *problem));
  }
  const double fill = loaded->descriptor().result_fill;
  const bool updates = problem->statement.update.has_value();
  if (updates) {
    std::vector<std::int64_t> extents;
    for (const auto& index : problem->statement.result.indices) extents.push_back(run.extents.at(index));
    dense.emplace(name, test_support::zeros(extents));
    for (auto& value : dense.at(name).values) value = 0.25;
  }
  const DenseTensor want = Definition(*problem, run.extents, dense).result();
  for (const bool in_pieces : {false, true}) {
    MadeResult result(*problem, run.extents, updates ? 0.25 : fill);
    std::vector<const schaas_tensor*> args{result.abi()};
    for (const auto& tensor : packed) args.push_back(tensor.abi());
    auto failure = run_kernel(loaded->descriptor(), args, result, in_pieces, random);
    DenseTensor got;
    if (failure.empty()) got = result.unpack(problem->semiring->zero, failure);
    if (failure.empty()) failure = compare(got, want, run.value_type == "f64" ? 1e-12 : 1e-4);
    if (!failure.empty()) return failure + (in_pieces ? " (in pieces)" : " (whole)") + about;
    stored.entries = result.entries();
  }
  return "";
}

}  // namespace schaas::testing
