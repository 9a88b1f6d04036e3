// What the passes of lowering do: a table, as Markdown, of what each needs and keeps, to how many random
// kernels it applies, and how fast kernels are without it. Random kernels are 500 products under random
// schedules and 500 programs as written; passes for GPUs are counted on 1,000 products with random thread
// mappings. Speeds are those of the cases below, one thread, the best of several runs by turns with and
// without the pass, where it applies; above 1: the pass gains.
//   quiet build/release/bin/passes_bench > docs/performance/passes.md
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "compiler/codegen/c_printer.h"
#include "compiler/concrete_notation/checks/verifier.h"
#include "compiler/concrete_notation/parser.h"
#include "compiler/lower/lower.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/toolchain/toolchain.h"
#include "schaas/fill.h"
#include "schaas/host.h"
#include "schaas/kernel.h"
#include "tests/support/random_problem.h"
#include "tests/support/random_program.h"
#include "tests/support/random_units.h"

using namespace schaas;
using support::Result;

namespace {

constexpr int random_kernels = 1000;

// ---- How often passes apply ----------------------------------------------------------------------------

using Counts = std::map<std::string, int>;

/// Counts the passes that apply to a schedule. Returns false for one that cannot be lowered.
bool count(const problem::Problem& problem, const schedule::Trace& trace, Counts& counts) {
  const auto tree = schedule::apply(trace, problem);
  const auto with_copies = schedule::problem_of(trace, problem);
  if (!tree.ok() || !with_copies.ok() || !concrete_notation::verify(*tree, *with_copies).ok()) return false;
  std::vector<lower::Remark> remarks;
  if (!lower::lower(*tree, *with_copies, {.remarks = &remarks}).ok()) return false;
  for (const auto& one : remarks) counts[one.pass] += one.applied ? 1 : 0;
  return true;
}

Counts counts_on_random_kernels(std::mt19937_64& random) {
  Counts counts;
  for (int lowered = 0; lowered < random_kernels;) {
    if (lowered % 2 == 0) {
      const auto problem =
          test_support::random_problem({.sparse_result = true, .lists = true, .repeats = true}, random);
      lowered += count(problem, test_support::random_trace(problem, 6, random), counts) ? 1 : 0;
    } else if (const auto problem = problem::build(test_support::random_program_text({}, random));
               problem.ok()) {
      lowered += count(*problem, {}, counts) ? 1 : 0;
    }
  }
  return counts;
}

Counts counts_on_random_gpu_kernels(std::mt19937_64& random) {
  Counts counts;
  for (int lowered = 0; lowered < random_kernels;) {
    const auto problem = test_support::random_problem({}, random);
    const auto trace = test_support::random_trace(problem, 6, random);
    const auto mapped = test_support::with_random_units(trace, problem, random);
    lowered += count(problem, mapped, counts) ? 1 : 0;
  }
  return counts;
}

// ---- Speed without a pass ------------------------------------------------------------------------------

/// Matrix or tensor B of a case: rows of as many random entries.
struct Shape {
  std::int64_t rows, columns, entries;
  int supernode = 1;  ///< adjacent rows with identical coordinates, near the diagonal; 1: anywhere
};
struct Case {
  const char* name;
  const char* expression;
  std::map<std::string, std::string> formats;
  const char* tree;
  Shape shape;
  std::map<std::string, std::int64_t> extents;  ///< of the indices that no sparse operand has
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"SpMM, 64 columns",
       "A(i,k) = B(i,j) * C(j,k)",
       {{"B", "csr"}},
       "forall(i, forall(j, forall(k, A(i,k) += B(i,j) * C(j,k))))",
       {20'000, 20'000, 16},
       {{"k", 64}}},
      {"K1, 16 columns",
       "A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)",
       {{"B", "csr"}},
       "forall(i, forall(j, where(forall(l, A(i,l) += t1 * E(j,l)), forall(k, t1 += B(i,j) * C(i,k) * "
       "D(j,k)))))",
       {20'000, 20'000, 16},
       {{"k", 16}, {"l", 16}}},
      {"K3, 48 columns",
       "A(i,l) = B(i,k) * C(k,j) * D(k,j) * E(j,l)",
       {{"B", "csr"}},
       "where(forall(i, forall(k, forall(l, A(i,l) += B(i,k) * t1(k,l)))), forall(k, forall(j, forall(l, "
       "t1(k,l) += C(k,j) * D(k,j) * E(j,l)))))",
       {8'000, 8'000, 16},
       {{"j", 48}, {"l", 48}}},
      {"K4, 64 columns",
       "A(i,l) = B(i,j) * C(j,k) * D(k,l)",
       {{"B", "csr"}},
       "forall(i, where(forall(k, forall(l, A(i,l) += t1(k) * D(k,l))), forall(j, forall(k, t1(k) += B(i,j) "
       "* "
       "C(j,k)))))",
       {20'000, 20'000, 16},
       {{"k", 64}, {"l", 64}}},
      {"SDDMM, rows of 4",
       "A(i,j) = B(i,j) * C(i,k) * D(j,k)",
       {{"A", "csr"}, {"B", "csr"}},
       "forall(i, forall(j, forall(k, A(i,j) += B(i,j) * C(i,k) * D(j,k))))",
       {100'000, 100'000, 4},
       {{"k", 16}}},
      {"SpGEMM, rows of 4",
       "A(i,k) = B(i,j) * C(j,k)",
       {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}},
       "forall(i, where(forall(k, A(i,k) += t1(k)), forall(j, forall(k, t1(k) += B(i,j) * C(j,k)))))",
       {50'000, 50'000, 4},
       {}},
      {"SpGEMM, supernodes of three rows of 48",
       "A(i,k) = B(i,j) * C(j,k)",
       {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}},
       "forall(i, where(forall(k, A(i,k) += t1(k)), forall(j, forall(k, t1(k) += B(i,j) * C(j,k)))))",
       {9'000, 9'000, 48, 3},
       {}},
      {"squared norm, rows of 5",
       "s = B(i,j) * B(i,j)",
       {{"B", "csr"}},
       "forall(i, forall(j, s += B(i,j) * B(i,j)))",
       {200'000, 200'000, 5},
       {}},
      {"coo times csr, rows of 4",
       "A(i,k) = B(i,j) * C(j,k)",
       {{"A", "csr"}, {"B", "coo"}, {"C", "csr"}},
       "forall(i, where(forall(k, A(i,k) += t1(k)), forall(j, forall(k, t1(k) += B(i,j) * C(j,k)))))",
       {50'000, 50'000, 4},
       {}},
      {"B + dense, rows of 5 of 2,000",
       "Z(i,j) = B(i,j) + D(i,j)",
       {{"B", "csr"}},
       "forall(i, forall(j, Z(i,j) += B(i,j) + D(i,j)))",
       {2'000, 2'000, 5},
       {}},
      {"logistic function of B x, rows of 5",
       "A(i) = sigmoid(sum(j)(B(i,j) * x(j)))",
       {{"B", "csr"}},
       "forall(i, where(A(i) += sigmoid(t1), forall(j, t1 += B(i,j) * x(j))))",
       {50'000, 50'000, 5},
       {}},
      {"B x + B' x, rows of 30",
       "A(i) = B(i,j) * x(j) + B(j,i) * x(j)",
       {{"B", "csr"}},
       "terms(forall(i, forall(j, A(i) += B(i,j) * x(j))), forall(j, forall(i, A(i) += B(j,i) * x(j))))",
       {200'000, 200'000, 30},
       {}},
      {"row maxima, rows of 5",
       "A(i) = max(j)(B(i,j))",
       {{"B", "csr"}},
       "forall(i, forall(j, A(i) max= B(i,j)))",
       {2'000, 2'000, 5},
       {}},
  };
  return all;
}

/// Draws one column out of each stretch: distinct and ascending.
client::CooTensor rows_of(const Shape& shape) {
  std::mt19937_64 random(37);
  client::CooTensor tensor{{shape.rows, shape.columns}, {{}, {}}, {}};
  std::vector<std::int64_t> columns(static_cast<std::size_t>(shape.entries));
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    const std::int64_t width = shape.supernode > 1 ? 3 * shape.entries : shape.columns;
    const std::int64_t first =
        shape.supernode > 1 ? std::clamp<std::int64_t>(i - width / 2, 0, shape.columns - width) : 0;
    const std::int64_t stretch = width / shape.entries;
    for (std::size_t n = 0; n < columns.size() && i % shape.supernode == 0; ++n)
      columns[n] = first + static_cast<std::int64_t>(n) * stretch +
                   static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(stretch));
    for (const std::int64_t column : columns) {
      tensor.coordinates[0].push_back(i);
      tensor.coordinates[1].push_back(column);
      tensor.values.push_back(0.5);
    }
  }
  return tensor;
}

/// One kernel of a case with its own tensors.
class Bound {
 public:
  static Result<Bound> make(const Case& one, const lower::PassOptions& passes,
                            toolchain::Toolchain& toolchain) {
    problem::ProblemText text;
    text.expression = one.expression;
    text.formats = one.formats;
    SCHAAS_ASSIGN_OR_RETURN(const auto problem, problem::build(text));
    SCHAAS_ASSIGN_OR_RETURN(const auto tree, concrete_notation::parse(one.tree));
    SCHAAS_ASSIGN_OR_RETURN(const auto kernel, lower::lower(tree, problem, passes));
    const std::string isa = client::host_isa();
    const auto source = codegen::print_c(kernel, {"", "", isa, problem::print(problem)});
    SCHAAS_ASSIGN_OR_RETURN(const auto binary, toolchain.compile_c(source, {isa}, {}));
    Bound bound;
    SCHAAS_RETURN_IF_ERROR(bound.pack(one, problem));
    SCHAAS_ASSIGN_OR_RETURN(const auto loaded, client::Kernel::load(binary, support::digest_of(binary)));
    std::vector<client::PackedTensor*> arguments;
    for (auto& each : *bound.tensors_) arguments.push_back(&each);
    client::ExecutionOptions options;
    options.threads = 1;
    SCHAAS_ASSIGN_OR_RETURN(auto execution, client::Execution::prepare(loaded, arguments, options));
    bound.execution_.emplace(std::move(execution));
    return bound;
  }

  /// Returns the seconds of a run; of one that keeps the structure of the result every other time.
  Result<double> seconds(bool keeps_structure) {
    timespec start{}, end{};
    clock_gettime(CLOCK_MONOTONIC, &start);
    SCHAAS_RETURN_IF_ERROR(keeps_structure ? execution_->rerun_values() : execution_->run());
    clock_gettime(CLOCK_MONOTONIC, &end);
    return static_cast<double>(end.tv_sec - start.tv_sec) +
           1e-9 * static_cast<double>(end.tv_nsec - start.tv_nsec);
  }

 private:
  Result<void> pack(const Case& one, const problem::Problem& problem) {
    const auto entries = rows_of(one.shape);
    const auto extents_of = [&](const index_notation::Access& access) {
      std::vector<std::int64_t> extents;
      for (const auto& index : access.indices) {
        const auto found = one.extents.find(index);
        extents.push_back(found == one.extents.end() ? one.shape.rows : found->second);
      }
      return extents;
    };
    const auto& result = problem.statement.result;
    SCHAAS_ASSIGN_OR_RETURN(auto zero,
                            client::zeros(extents_of(result), problem.formats.at(result.tensor),
                                          {result.tensor, client::ValueType::f64, problem.position_bits}));
    tensors_->push_back(std::move(zero));
    std::set<std::string> packed_once;
    for (const auto& operand : problem.operands()) {
      if (!packed_once.insert(operand.tensor).second) continue;
      const auto& format = problem.formats.at(operand.tensor);
      const client::PackOptions options{operand.tensor, client::ValueType::f64, problem.position_bits};
      if (format.all_dense()) {
        SCHAAS_ASSIGN_OR_RETURN(const auto dense,
                                client::fill(operand.tensor, extents_of(operand), 1, client::ValueType::f64));
        SCHAAS_ASSIGN_OR_RETURN(auto packed, client::pack(dense, format, options));
        tensors_->push_back(std::move(packed));
      } else {
        SCHAAS_ASSIGN_OR_RETURN(auto packed, client::pack(entries, format, options));
        tensors_->push_back(std::move(packed));
      }
    }
    return {};
  }

  std::unique_ptr<std::vector<client::PackedTensor>> tensors_ =
      std::make_unique<std::vector<client::PackedTensor>>();
  std::optional<client::Execution> execution_;
};

/// Returns the time without over the time with, runs by turns.
Result<double> ratio(Bound& with, Bound& without, bool keeps_structure) {
  double best_with = 1e9, best_without = 1e9, spent = 0;
  for (int run = 0; run < 60 && (run < 5 || spent < 0.5); ++run) {
    SCHAAS_ASSIGN_OR_RETURN(const double a, with.seconds(keeps_structure));
    SCHAAS_ASSIGN_OR_RETURN(const double b, without.seconds(keeps_structure));
    best_with = std::min(best_with, a);
    best_without = std::min(best_without, b);
    spent += a + b;
  }
  return best_without / best_with;
}

/// Ratios of the cases to which each pass applies, as cells of the table.
using Speeds = std::map<std::string, std::string>;

Result<void> add_speeds(const Case& one, toolchain::Toolchain& toolchain, Speeds& speeds) {
  std::vector<lower::Remark> remarks;
  SCHAAS_ASSIGN_OR_RETURN(auto with, Bound::make(one, {.remarks = &remarks}, toolchain));
  for (const auto& remark : remarks) {
    if (!remark.applied) continue;
    SCHAAS_ASSIGN_OR_RETURN(const auto others, lower::parse_passes("-" + remark.pass));
    SCHAAS_ASSIGN_OR_RETURN(auto without, Bound::make(one, {.passes = others}, toolchain));
    // Numeric phases serve runs that keep the structure of a sparse result.
    const bool is_numeric = remark.pass == "numeric-phases" || remark.pass == "flatten-loops";
    SCHAAS_ASSIGN_OR_RETURN(const double found, ratio(with, without, is_numeric));
    char cell[128];
    std::snprintf(cell, sizeof cell, "%s %.2f", one.name, found);
    auto& all = speeds[remark.pass];
    all += (all.empty() ? "" : "; ") + std::string(cell);
  }
  return {};
}

// ---- The table -----------------------------------------------------------------------------------------

std::string joined(const std::vector<std::string_view>& names) {
  std::string all;
  for (const auto name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  return all;
}

void print_row(const lower::Pass& pass, const Counts& cpu, const Counts& gpu, const Speeds& speeds) {
  const std::string name(pass.name);
  const auto& counts = pass.machine == lower::Machine::gpu ? gpu : cpu;
  const auto speed = speeds.find(name);
  std::printf("| `%s` | %s | %s | %s | %d | %s |\n", name.c_str(), std::string(pass.rewrites).c_str(),
              joined(pass.needs).c_str(), std::string(pass.keeps).c_str(), counts.at(name),
              speed == speeds.end() ? "" : speed->second.c_str());
}

}  // namespace

int main() {
  std::mt19937_64 random(37);
  const auto cpu = counts_on_random_kernels(random);
  const auto gpu = counts_on_random_gpu_kernels(random);
  const auto toolchain = toolchain::make_c_toolchain({});
  Speeds speeds;
  for (const auto& one : cases()) {
    std::fprintf(stderr, "%s\n", one.name);
    const auto added = add_speeds(one, *toolchain, speeds);
    if (!added.ok()) {
      std::fprintf(stderr, "%s: %s\n", one.name, support::render(added.error()).c_str());
      return 1;
    }
  }
  std::printf(
      "# Passes of lowering\n\n"
      "Written by `passes_bench` (tests/bench). Applied: to how many of 1,000 random kernels; of passes for "
      "GPUs, of "
      "1,000 kernels with random thread\nmappings. Without: time without the pass over the time with all, "
      "one "
      "thread, by turns; above 1 the pass gains.\n\n"
      "| pass | rewrites | needs | keeps | applied | without |\n| --- | --- | --- | --- | --- | --- |\n");
  for (const auto* pass : lower::all_passes()) print_row(*pass, cpu, gpu, speeds);
  return 0;
}
