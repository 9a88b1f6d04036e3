// What one trip of an innermost loop costs in the code we generate, by access class (compiler/cost/access.h),
// with what the loop reaches in the second-level cache and out of the last one. The weights of cost::weight
// follow from this table (docs/performance/model.md). One thread; the best of several runs, in processor time
// of the thread.
//   build/release/bin/trip_costs [--f32]
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "compiler/pipeline/pipeline.h"
#include "schaas/fill.h"
#include "schaas/host.h"
#include "schaas/kernel.h"

using namespace schaas;
using support::Result;

namespace {

using Extents = std::map<std::string, std::int64_t>;

/// A kernel whose time is trips * (cost of one trip), and at what sizes.
struct Loop {
  const char* access;
  const char* what;
  const char* expression;
  std::map<std::string, std::string> formats;
  const char* trace;
  std::vector<std::string> trip;  ///< indices whose extents multiply the entries of B
  std::int64_t width;             ///< extent of every index but i and j
  std::int64_t minus = -1;        ///< number of the loop whose time is taken off first (-1: none)
};

constexpr const char* by_rows = "reorder(path={}, order={i,j,k})";

const std::vector<Loop> loops = {
    {"row",
     "one gathered row, result in registers",
     "A(i,k) = B(i,j) * C(j,k)",
     {{"B", "csr"}},
     "linear",
     {"k"},
     64},
    {"row", "the same, rows of 16", "A(i,k) = B(i,j) * C(j,k)", {{"B", "csr"}}, "linear", {"k"}, 16},
    {"row",
     "dot product of a gathered row and a kept one",
     "a(i) = B(i,j) * C(i,k) * D(j,k)",
     {{"B", "csr"}},
     "linear",
     {"k"},
     64},
    {"rows",
     "two gathered rows, result in registers",
     "A(i,k) = B(i,j) * C(j,k) * D(j,k)",
     {{"B", "csr"}},
     "linear",
     {"k"},
     64},
    {"rows",
     "dot product of two gathered rows",
     "a(i) = B(i,j) * C(j,k) * D(j,k)",
     {{"B", "csr"}},
     "linear",
     {"k"},
     64},
    {"updated",
     "a row of the result read and written",
     "A(i,k,l) = B(i,j) * C(j,k) * D(j,l)",
     {{"B", "csr"}},
     "reorder(path={}, order={i,j,k,l})",
     {"k", "l"},
     64},
    {"updated",
     "the same, 16 rows of 16",
     "A(i,k,l) = B(i,j) * C(j,k) * D(j,l)",
     {{"B", "csr"}},
     "reorder(path={}, order={i,j,k,l})",
     {"k", "l"},
     16},
    {"updated",
     "a gathered row of the result read and written",
     "A(j,k) = B(i,j) * C(i,k)",
     {{"B", "csr"}},
     "reorder(path={}, order={i,j,k})",
     {"k"},
     64},
    {"updated",
     "the same, rows of 16",
     "A(j,k) = B(i,j) * C(i,k)",
     {{"B", "csr"}},
     "reorder(path={}, order={i,j,k})",
     {"k"},
     16},
    {"updated",
     "the same, and a gathered operand row",
     "A(j,k) = B(i,j) * C(i,k) * D(j,k)",
     {{"B", "csr"}},
     "reorder(path={}, order={i,j,k})",
     {"k"},
     64},
    {"updated",
     "three gathered rows",
     "A(i,k) = B(i,j) * C(j,k) * D(j,k) * E(j,k)",
     {{"B", "csr"}},
     "linear",
     {"k"},
     64},
    {"gathered", "elements of a gathered vector", "a(i) = B(i,j) * c(j)", {{"B", "csr"}}, "linear", {}, 1},
    {"gathered",
     "elements of two gathered vectors",
     "a(i) = B(i,j) * c(j) * d(j)",
     {{"B", "csr"}},
     "linear",
     {},
     1},
    {"gathered",
     "elements of a kept row, through coordinates",
     "A(i,l) = B(i,j) * C(k,j) * D(k,l)",
     {{"B", "csr"}},
     "reorder(path={}, order={i,k,j,l}); loopfuse(path={}, loc=2, pol=left)",
     {"k"},
     16},
    {"strided",
     "a column of gathered rows",
     "A(i,l) = B(i,j) * C(j,k) * D(k,l)",
     {{"B", "csr"}},
     "reorder(path={}, order={i,k,j,l}); loopfuse(path={}, loc=2, pol=left)",
     {"k"},
     16},
    {"strided",
     "the same, rows of 64",
     "A(i,l) = B(i,j) * C(j,k) * D(k,l)",
     {{"B", "csr"}},
     "reorder(path={}, order={i,k,j,l}); loopfuse(path={}, loc=2, pol=left)",
     {"k"},
     64},
    {"merged",
     "a step of the merge of two rows",
     "a(i) = B(i,j) * C(i,j)",
     {{"B", "csr"}, {"C", "csr"}},
     "linear",
     {},
     1},
    {"merged",
     "a step of the merge of three rows",
     "a(i) = B(i,j) * C(i,j) * D(i,j)",
     {{"B", "csr"}, {"C", "csr"}, {"D", "csr"}},
     "linear",
     {},
     1},
    {"function",
     "exp of a gathered row",
     "A(i,k) = sum(j)(B(i,j) * exp(C(j,k)))",
     {{"B", "csr"}},
     by_rows,
     {"k"},
     64,
     0},
    {"function", "tanh", "A(i,k) = sum(j)(B(i,j) * tanh(C(j,k)))", {{"B", "csr"}}, by_rows, {"k"}, 64, 0},
    {"function", "log", "A(i,k) = sum(j)(B(i,j) * log(C(j,k)))", {{"B", "csr"}}, by_rows, {"k"}, 64, 0},
    {"function",
     "sqrt, not charged",
     "A(i,k) = sum(j)(B(i,j) * sqrt(C(j,k)))",
     {{"B", "csr"}},
     by_rows,
     {"k"},
     64,
     0},
    {"function",
     "division, not charged",
     "A(i,k) = sum(j)(B(i,j) / C(j,k))",
     {{"B", "csr"}},
     by_rows,
     {"k"},
     64,
     0},
};

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

client::CooTensor rows_of(std::int64_t rows, std::int64_t columns, std::int64_t entries, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  client::CooTensor tensor{{rows, columns}, {{}, {}}, {}};
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t n = 0; n < entries; ++n) {
      // One column out of each of `entries` stretches: distinct, ascending, without a pattern.
      const std::int64_t stretch = columns / entries;
      tensor.coordinates[0].push_back(i);
      tensor.coordinates[1].push_back(
          n * stretch + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(stretch)));
      tensor.values.push_back(0.5);
    }
  }
  return tensor;
}

struct Sizes {
  std::int64_t rows, columns, entries;
};

Result<double> seconds_of(const Loop& loop, const Sizes& sizes, client::ValueType type,
                          toolchain::Toolchain& toolchain) {
  problem::ProblemText text;
  text.expression = loop.expression;
  text.formats = loop.formats;
  text.value_type = client::name(type);
  SCHAAS_ASSIGN_OR_RETURN(const problem::Problem problem, problem::build(text));
  SCHAAS_ASSIGN_OR_RETURN(const schedule::Trace trace, schedule::parse(loop.trace));
  const problem::Canonical as_written{problem, problem::print(problem), "", {}, {}, {}, ""};
  SCHAAS_ASSIGN_OR_RETURN(const std::string binary,
                          pipeline::compile(as_written, trace, {client::host_isa()}, toolchain, {}));
  SCHAAS_ASSIGN_OR_RETURN(const client::Kernel kernel,
                          client::Kernel::load(binary, support::digest_of(binary)));

  const auto extents_of = [&](const index_notation::Access& access) {
    std::vector<std::int64_t> extents;
    for (const std::string& index : access.indices) {
      extents.push_back(index == "i" ? sizes.rows : index == "j" ? sizes.columns : loop.width);
    }
    return extents;
  };
  std::vector<client::PackedTensor> tensors;
  const auto& result = problem.statement.result;
  SCHAAS_ASSIGN_OR_RETURN(auto zero, client::zeros(extents_of(result), problem.formats.at(result.tensor),
                                                   {result.tensor, type, problem.position_bits}));
  tensors.push_back(std::move(zero));
  for (const index_notation::Access& operand : problem.operands()) {
    const auto& format = problem.formats.at(operand.tensor);
    const client::PackOptions options{operand.tensor, type, problem.position_bits};
    if (format.all_dense()) {
      SCHAAS_ASSIGN_OR_RETURN(const auto dense, client::fill(operand.tensor, extents_of(operand), 1, type));
      SCHAAS_ASSIGN_OR_RETURN(auto packed, client::pack(dense, format, options));
      tensors.push_back(std::move(packed));
    } else {
      SCHAAS_ASSIGN_OR_RETURN(
          auto packed,
          client::pack(rows_of(sizes.rows, sizes.columns, sizes.entries, tensors.size()), format, options));
      tensors.push_back(std::move(packed));
    }
  }
  std::deque<schaas_tensor> views;
  std::vector<const schaas_tensor*> arguments;
  for (const auto& tensor : tensors) arguments.push_back(&views.emplace_back(tensor.view()));
  const schaas_kernel_descriptor& d = kernel.descriptor();
  const auto* args = arguments.data();
  std::vector<double> workspace(
      static_cast<std::size_t>(d.workspace_bytes == nullptr ? 0 : d.workspace_bytes(args)) / 8 + 8);
  std::vector<std::vector<double>> shared;
  std::vector<void*> shared_pointers;
  for (std::int32_t n = 0; n < d.shared_count; ++n) {
    shared.emplace_back(static_cast<std::size_t>(d.shared_bytes(args, n)) / 8 + 8);
    shared_pointers.push_back(shared.back().data());
  }
  std::int32_t past_the_caches = 0;
  shared_pointers.push_back(&past_the_caches);
  double best = 1e9;
  double spent = 0;
  for (int run = 0; run < 200 && (run < 4 || spent < 0.6); ++run) {
    const double start = processor_seconds();
    for (std::int32_t phase = 0; phase < d.phase_count; ++phase)
      d.phases[phase].run(args, shared_pointers.data(), workspace.data(), 0, d.phases[phase].range(args));
    const double took = processor_seconds() - start;
    best = std::min(best, took);
    spent += took;
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const bool f32 = argc > 1 && std::strcmp(argv[1], "--f32") == 0;
  const auto type = f32 ? client::ValueType::f32 : client::ValueType::f64;
  const auto toolchain = toolchain::make_c_toolchain({});
  std::printf("%-9s %-48s %12s %12s\n", "class", "innermost loop", "ns in cache", "ns out");
  for (const Loop& loop : loops) {
    std::printf("%-9s %-48s", loop.access, loop.what);
    for (const Sizes& sizes : {Sizes{512, 1024, 32}, Sizes{6'000, 150'000, 8}}) {
      const auto seconds = seconds_of(loop, sizes, type, *toolchain);
      if (!seconds.ok()) {
        std::printf("\n%s\n", support::render(seconds.error()).c_str());
        return 1;
      }
      double trips = static_cast<double>(sizes.rows * sizes.entries);
      for (std::size_t n = 0; n < loop.trip.size(); ++n) trips *= static_cast<double>(loop.width);
      // Lists of other patterns: nearly each entry of each is a step of its own.
      trips *= static_cast<double>(loop.formats.size());
      std::printf(" %12.3f", *seconds / trips * 1e9);
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
}
