#include "schaas/trial.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>

#include "client/cpp/runtime/kernel_problem.h"
#include "client/cpp/tensor/packed_tensor_builder.h"
#include "schaas/oracle.h"

// Trials of new kernels. Extents are 0, 1, few, wide, and those that kernels are specialised for; entries are
// full, empty, or ragged. One and three threads run each, with and without appending. Each result is compared
// with the oracle, which shares no code with lowering. Operands end at pages that nobody may touch, so reads
// behind their arrays are caught. Results are filled with NaN before each run, so an element that nobody
// writes is found.
// Numbers are drawn from one seed, which the message names: a failure can be repeated.
namespace schaas::client {
namespace {

constexpr std::int64_t max_trial_elements = std::int64_t{1} << 22;
/// One run of a schedule that fuses nothing: some 20 ms.
constexpr std::int64_t max_iterations = std::int64_t{1} << 24;
/// The oracle takes every point of all indices, some 0.3 us each: all runs of a trial stay below half of the
/// server's limit.
constexpr std::int64_t max_all_iterations = std::int64_t{1} << 24;
constexpr std::size_t many_indices = 7;
constexpr std::int64_t wide = 67;  ///< all of a cascade of registers: 64 + 2 + 1
/// Kernels have versions for some of them and for the registers that the others fill
/// (compiler/lower/passes/specialisation.h).
constexpr std::int64_t common_sizes[] = {3, 5, 8, 13, 16, 29, 32};

/// Distribution of the entries of sparse tensors.
enum class Pattern { full, empty, ragged };

struct Shape {
  std::map<std::string, std::int64_t> extents;
  Pattern pattern = Pattern::full;
};

std::string text_of(const Shape& shape) {
  std::string text;
  for (const auto& [index, extent] : shape.extents) text += index + "=" + std::to_string(extent) + " ";
  switch (shape.pattern) {
    case Pattern::full:
      return text + "full";
    case Pattern::empty:
      return text + "empty";
    case Pattern::ragged:
      return text + "ragged";
  }
  return text;
}

class Trying {
 public:
  Trying(const Kernel& kernel, const KernelProblem& problem, std::uint64_t seed)
      : kernel_(kernel), problem_(problem), seed_(seed), random_(seed) {}

  support::Result<Trial> run() {
    std::int64_t all = 0;
    for (const Shape& shape : shapes()) {
      const auto iterations = iterations_of(shape);
      if (!iterations) {
        trial_.not_tried = "a constraint fixes an extent that is too large for a trial";
        continue;
      }
      // Products of many indices are tried at the first of the shapes.
      if (all > 0 && all + *iterations > max_all_iterations) continue;
      all += *iterations;
      SCHAAS_RETURN_IF_ERROR(attempt(shape));
    }
    return trial_;
  }

 private:
  std::vector<Shape> shapes() {
    std::vector<Shape> shapes;
    const auto add = [&](Pattern pattern, const std::function<std::int64_t()>& extent) {
      Shape shape;
      shape.pattern = pattern;
      // Indices of one class agree in their extent: the first one of a class draws it.
      for (const auto& index : problem_.indices) {
        auto& common = shape.extents.emplace(problem_.extent_of.at(index), -1).first->second;
        if (common < 0) common = fixed(index).value_or(extent());
        shape.extents[index] = common;
      }
      shapes.push_back(shape);
    };
    // The others of many indices are two or three, so that each index still gets every size.
    const std::int64_t most = problem_.indices.size() > many_indices ? 3 : 5;
    const auto few = [&] { return std::uniform_int_distribution<std::int64_t>(2, most)(random_); };
    add(Pattern::full, few);
    add(Pattern::empty, few);
    add(Pattern::ragged, few);
    // Extents of 1 and 0: loops of one iteration, and of none.
    add(Pattern::ragged, [] { return 1; });
    add(Pattern::full, [] { return 0; });
    // One index after another gets an extent for all widths of registers; the others stay few.
    for (const auto& index : problem_.indices) {
      if (fixed(index) || problem_.extent_of.at(index) != index) continue;
      add(Pattern::ragged, few);
      for (auto& [other, extent] : shapes.back().extents) {
        if (problem_.extent_of.at(other) == index) extent = wide;
      }
    }
    const auto dense = dense_extents();
    const auto add_sized = [&](const std::set<std::string>& sized, std::int64_t size) {
      add(Pattern::ragged, few);
      for (auto& [other, extent] : shapes.back().extents) {
        if (sized.count(problem_.extent_of.at(other)) > 0) extent = size;
      }
    };
    for (const std::int64_t size : common_sizes) {
      if (dense.empty()) break;
      add_sized(dense, size);
      if (iterations_of(shapes.back())) continue;
      shapes.pop_back();  // one extent at a time instead
      for (const auto& index : dense) add_sized({index}, size);
    }
    return shapes;
  }

  /// Those that are not fixed and that no sparse tensor has, by the index that stands for each.
  std::set<std::string> dense_extents() const {
    std::set<std::string> found;
    for (const auto& index : problem_.indices) {
      if (!fixed(index)) found.insert(problem_.extent_of.at(index));
    }
    for (std::size_t a = 0; a < problem_.tensors.size(); ++a) {
      const auto format = problem_.format_of(a);
      if (format.ok() && format->all_dense()) continue;
      for (const auto& index : problem_.indices_of(a)) found.erase(problem_.extent_of.at(index));
    }
    return found;
  }

  /// Returns the extent that a constraint fixes for this index or one that agrees with it.
  std::optional<std::int64_t> fixed(const std::string& index) const {
    for (const auto& [name, extent] : problem_.fixed) {
      if (problem_.extent_of.at(name) == problem_.extent_of.at(index)) return extent;
    }
    return std::nullopt;
  }

  std::vector<std::int64_t> extents_of(std::size_t argument, const Shape& shape) const {
    std::vector<std::int64_t> extents;
    for (const auto& index : problem_.indices_of(argument)) extents.push_back(shape.extents.at(index));
    return extents;
  }

  // Returns the iterations of the default nest; nothing where these or a tensor are too large for a trial.
  std::optional<std::int64_t> iterations_of(const Shape& shape) const {
    for (std::size_t a = 0; a < problem_.tensors.size(); ++a) {
      const auto size = checked_product(extents_of(a, shape));
      if (!size || *size > max_trial_elements) return std::nullopt;
    }
    std::vector<std::int64_t> extents;
    for (const auto& [index, extent] : shape.extents) extents.push_back(std::max<std::int64_t>(extent, 1));
    const auto iterations = checked_product(extents);
    return iterations && *iterations <= max_iterations ? iterations : std::nullopt;
  }

  /// Returns a value of the semiring's domain. Multiples of 2^-10, neither near 0 nor large: sums and
  /// quotients stay well conditioned.
  double value(ValueType stored) {
    const std::string name = problem_.program.semiring->name;
    if (is_integer(stored)) return whole_value(name, stored);
    const double size = 0.25 + static_cast<double>(random_() % 1024) / 1024;
    const bool minority = random_() % 4 == 0;
    // Boolean semirings have two values.
    if (name == "or-and") return minority ? 0 : 1;
    return minority && name != "max-times" ? -size : size;  // 0 is the least of max-times
  }

  /// Returns an integer of the semiring's domain, which double tells exactly. Some are large, so that
  /// products wrap around.
  double whole_value(const std::string& semiring, ValueType stored) {
    if (semiring == "or-and" || stored == ValueType::boolean) return random_() % 4 == 0 ? 0 : 1;
    const auto size = static_cast<double>(1 + random_() % 7);
    if (semiring == "max-times") return size;  // a product that wraps around is none of the semiring
    // Some are so large that products wrap around: 2^28 of 32 bits and more, 2^3 of bytes.
    const std::size_t bits = 8 * bytes_of(stored);
    const double large = std::ldexp(1.0, bits >= 32 ? 28 : static_cast<int>(bits) - 5);
    const double scale = semiring == "plus-times" && random_() % 8 == 0 ? large : 1;
    return !operators::is_unsigned(stored) && random_() % 4 == 0 ? -size * scale : size * scale;
  }

  CooTensor entries(std::vector<std::int64_t> extents, Pattern pattern, ValueType stored) {
    CooTensor tensor;
    if (is_complex(stored)) tensor.value_type = ValueType::c128;
    tensor.extents = std::move(extents);
    tensor.coordinates.resize(tensor.extents.size());
    // iterations_of has found that the product does not overflow.
    const std::int64_t size = *checked_product(tensor.extents);
    const std::int64_t rows = tensor.extents.empty() ? 1 : tensor.extents.front();
    const std::int64_t row = rows > 0 ? size / rows : 1;
    for (std::int64_t e = 0; e < size; ++e) {
      // Ragged: the first row empty, the last full, a third of the others.
      const std::int64_t at = e / row;
      const bool kept = at == rows - 1 || (at > 0 && random_() % 3 == 0);
      if (pattern == Pattern::empty || (pattern == Pattern::ragged && !kept)) continue;
      std::int64_t rest = e;
      for (std::size_t m = tensor.extents.size(); m-- > 0; rest /= tensor.extents[m])
        tensor.coordinates[m].push_back(rest % tensor.extents[m]);
      const double real = value(stored);
      tensor.add_value({real, is_complex(stored) ? value(stored) : 0});
    }
    return tensor;
  }

  PackOptions options_of(std::size_t argument) const {
    return {problem_.tensors[argument], problem_.value_type, problem_.position_bits,
            problem_.program.semiring->zero};
  }

  // Packs random operands, evaluates the oracle once, and runs the kernel in all ways.
  support::Result<void> attempt(const Shape& shape) {
    std::map<std::string, CooTensor> data;
    std::map<std::string, OracleOperand> operands;
    std::vector<PackedTensor> packed;
    std::map<std::string, ValueType> stored;
    if (!updates()) {
      SCHAAS_ASSIGN_OR_RETURN(const auto format, problem_.format_of(0));
      SCHAAS_ASSIGN_OR_RETURN(PackedTensor result, zeros(extents_of(0, shape), format, options_of(0)));
      packed.push_back(std::move(result));
    }
    for (std::size_t a = updates() ? 0 : 1; a < problem_.tensors.size(); ++a) {
      SCHAAS_ASSIGN_OR_RETURN(const auto format, problem_.format_of(a));
      auto& tensor = data[problem_.tensors[a]] =
          entries(extents_of(a, shape), format.all_dense() ? Pattern::full : shape.pattern,
                  format.values.value_or(problem_.value_type));
      operands[problem_.tensors[a]] = &tensor;
      SCHAAS_ASSIGN_OR_RETURN(const PackedTensor plain, pack(tensor, format, options_of(a)));
      // The oracle must see what the kernel sees: entries that cancelled, and stored zeros.
      if (!format.all_dense()) tensor = all_stored(plain);  // stored zeros are entries
      packed.push_back(guarded(plain));
      stored.emplace(problem_.tensors[a], plain.value_type());
    }
    OracleOptions options;
    options.extents = shape.extents;
    options.type = problem_.value_type;
    options.stored = std::move(stored);
    SCHAAS_ASSIGN_OR_RETURN(const Expected expected, evaluate(problem_.program, operands, options));
    const Buffer before = packed.front().values().copy();
    // One thread runs phases whole; three have pieces, parts, and folds, always.
    for (const int threads : {1, 3}) {
      SCHAAS_RETURN_IF_ERROR(run_again(shape, packed, before, expected, threads, false));
      if (kernel_.descriptor().appends != 0)
        SCHAAS_RETURN_IF_ERROR(run_again(shape, packed, before, expected, threads, true));
    }
    return {};
  }

  /// An update starts from what the result holds.
  bool updates() const { return problem_.program.statements.back().update.has_value(); }

  /// The kernel has other code for results that keep their structure.
  bool has_numeric_phase() const {
    const schaas_kernel_descriptor& d = kernel_.descriptor();
    return std::any_of(d.phases, d.phases + d.phase_count,
                       [](const schaas_phase& phase) { return phase.values != nullptr; });
  }

  /// The second run finds what the first left in its scratch, a third one the structure of its result.
  /// `before`: what an update starts from.
  support::Result<void> run_again(const Shape& shape, std::vector<PackedTensor>& tensors,
                                  const Buffer& before, const Expected& expected, int threads, bool append) {
    std::vector<PackedTensor*> arguments;
    for (auto& tensor : tensors) arguments.push_back(&tensor);
    ExecutionOptions options;
    options.threads = threads;
    using Folding = ExecutionOptions::Folding;
    options.folding = threads == 1 ? Folding::never : Folding::always;
    options.guard_copies = true;
    options.may_append = append;
    SCHAAS_ASSIGN_OR_RETURN(Execution execution, Execution::prepare(kernel_, arguments, options));
    const int runs = has_numeric_phase() ? 3 : 2;
    for (int run = 0; run < runs; ++run) {
      Buffer& values = tensors.front().values();
      if (updates() && before.bytes() > 0) {
        std::memcpy(values.data(), before.data(), before.bytes());
      } else if (values.bytes() > 0) {
        // All bits set is a NaN in both types.
        std::memset(values.data(), 0xff, values.bytes());  // no numbers: whoever reads them is found out
      }
      SCHAAS_RETURN_IF_ERROR(run == 2 ? execution.rerun_values() : execution.run());
      SCHAAS_ASSIGN_OR_RETURN(const DenseTensor actual, to_dense(tensors.front()));
      SCHAAS_ASSIGN_OR_RETURN(const Comparison found, compare(actual, expected));
      const double allowed = tolerance(tensors.front().value_type());
      if (found.max_relative_error > allowed) {
        std::ostringstream text;
        text << "wrong at " << text_of(shape) << ", seed " << seed_ << ", " << threads
             << (threads == 1 ? " thread" : " threads") << (append ? ", appended" : "") << ", run " << run + 1
             << ": element " << found.worst << " is " << actual.at(found.worst);
        if (!expected.entries) text << ", expected " << expected.values.at(found.worst);
        text << " (relative error " << found.max_relative_error << ", allowed " << allowed << ")";
        return support::internal("kernel-wrong", text.str());
      }
      ++trial_.runs;
    }
    return {};
  }

  const Kernel& kernel_;
  const KernelProblem& problem_;
  const std::uint64_t seed_;
  std::mt19937_64 random_;
  Trial trial_;
};

}  // namespace

support::Result<Trial> try_kernel(const Kernel& kernel, std::uint64_t seed) {
  const auto& problem = problem_of(kernel);
  if (!problem.ok()) return problem.error();
  return Trying(kernel, *problem, seed).run();
}

}  // namespace schaas::client
