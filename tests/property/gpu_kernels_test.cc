#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "compiler/frontier/frontier.h"
#include "compiler/pipeline/gpu_schedules.h"
#include "compiler/schedule/replay/apply.h"
#include "tests/support/gpu_batch.h"
#include "tests/support/kernel_queue.h"
#include "tests/support/problem_of.h"
#include "tests/support/random_problem.h"
#include "tests/support/random_units.h"
#include "tests/support/seed.h"

// Kernels for GPUs, their CUDA source run on the host with its threads in step, against the oracle: the
// points of Sgap's grid (minimal data x width x reduction x columns) for the sparse-dense kernels, and random
// schedules of random products. SCHAAS_SEED=n chooses another seed; it is in every failure. SCHAAS_CASE=sddmm
// runs every point of one case.
namespace schaas::test_support {
namespace {

#ifdef SCHAAS_WHOLE_GRID
constexpr std::size_t every = 1;
constexpr int random_kernels = 1500;
#else
constexpr std::size_t every = 101;
constexpr int random_kernels = 24;
#endif

std::uint64_t seed() { return test_support::seed_or(20260101); }

struct Case {
  std::string name, expression;
  std::map<std::string, std::string> formats;
  std::string before;   ///< directives that come first; ends with "; " unless empty
  std::string columns;  ///< loop; "": none
  std::string rows;     ///< the outermost loop, or the one inside the columns
  std::string entries;  ///< the last loop that walks entries
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"spmv", "y(i) = A(i,j) * x(j)", {{"A", "csr"}}, "", "", "i", "j"},
      {"spmv coo", "y(i) = A(i,j) * x(j)", {{"A", "coo"}}, "", "", "i", ""},
      {"spmm", "C(i,k) = A(i,j) * B(j,k)", {{"A", "csr"}}, "reorder(order={k,i,j}); ", "k", "i", "j"},
      {"spmm dcsr", "C(i,k) = A(i,j) * B(j,k)", {{"A", "dcsr"}}, "reorder(order={k,i,j}); ", "k", "i", "j"},
      {"spmm coo", "C(i,k) = A(i,j) * B(j,k)", {{"A", "coo"}}, "reorder(order={k,i,j}); ", "k", "i", ""},
      {"sddmm",
       "Y(i,j) = A(i,j) * C(i,k) * D(k,j)",
       {{"A", "csr"}},
       "reorder(order={i,j,k}); ",
       "",
       "i",
       "j"},
      {"sddmm at entries",
       "Y(i,j) = A(i,j) * C(i,k) * D(k,j)",
       {{"A", "csr"}, {"Y", "csr"}},
       "reorder(order={i,j,k}); ",
       "",
       "i",
       "j"},
      {"mttkrp",
       "Y(i,j) = A(i,k,l) * C(k,j) * D(l,j)",
       {{"A", "csf"}},
       "reorder(order={j,i,k,l}); ",
       "j",
       "i",
       "l"},
      {"mttkrp fibers",
       "Y(i,j) = A(i,k,l) * C(k,j) * D(l,j)",
       {{"A", "csf"}},
       "reorder(order={j,i,k,l}); ",
       "j",
       "i",
       "k"},
      {"mttkrp 4",
       "Y(i,j) = A(i,k,l,m) * C(k,j) * D(l,j) * E(m,j)",
       {{"A", "csf"}},
       "reorder(order={j,i,k,l,m}); ",
       "j",
       "i",
       "m"},
      {"ttm", "Y(i,j,l) = A(i,j,k) * X(k,l)", {{"A", "csf"}}, "reorder(order={l,i,j,k}); ", "l", "i", "k"},
      {"ttm fibers",
       "Y(i,j,l) = A(i,j,k) * X(k,l)",
       {{"A", "dense,compressed,compressed"}},
       "reorder(order={l,i,j,k}); ",
       "l",
       "i",
       "j"},
      {"ttmc",
       "Y(i,l,m) = A(i,j,k) * B(j,l) * C(k,m)",
       {{"A", "csf"}},
       "reorder(order={l,i,m,j,k}); ",
       "l",
       "i",
       ""},
      {"sddmm spmm",
       "Y(i,l) = A(i,j) * C(i,k) * D(j,k) * E(j,l)",
       {{"A", "csr"}},
       "reorder(order={i,j,k,l}); loopfuse(loc=3, pol=left); ",
       "",
       "i",
       "j"},
      {"spmm gemm",
       "Y(i,l) = A(i,j) * B(j,k) * D(k,l)",
       {{"A", "csr"}},
       "loopfuse(loc=2, pol=left); ",
       "",
       "i",
       ""},
      {"mttkrp gemm",
       "Y(i,m) = A(i,k,l) * C(k,j) * D(l,j) * E(j,m)",
       {{"A", "csf"}},
       "loopfuse(loc=3, pol=left); ",
       "",
       "i",
       ""},
  };
  return all;
}

/// The points of the grid as directives, legal or not.
std::vector<std::string> grid_of(const Case& one) {
  const auto text = [](int number) { return std::to_string(number); };
  std::vector<std::string> out;
  std::vector<std::string> columns = {""};
  if (!one.columns.empty()) {
    for (const int c : {1, 2, 4})
      columns.push_back("threads(loop=" + one.columns + ", each=" + text(c) + "); ");
    columns.erase(columns.begin());
  }
  const std::string loop = "loop=" + one.rows;
  for (const auto& column : columns) {
    for (const std::string& entries : {std::string(), one.entries}) {
      const std::string first = column.empty() ? "threads(loop=" + one.rows + ", each=1); " : "";
      const std::string pos =
          entries.empty() ? "" : first + "pos(loop=" + entries + ", from=" + one.rows + "); ";
      for (const std::string each : {"1", "3", "1/2", "1/4", "1/8", "1/16", "1/32"}) {
        const std::string threads = one.before + column + pos + "threads(" + loop + ", each=" + each + ")";
        out.push_back(threads);
        for (const int width : {2, 4, 8, 16, 32}) {
          for (const std::string how : {"atomic", "parallel", "segment"})
            out.push_back(threads + "; group(" + loop + ", width=" + text(width) + ", reduce=" + how + ")");
        }
      }
      if (one.entries.empty()) break;
    }
  }
  return out;
}

/// Nothing stored but in one row, which is full, and a few entries here and there.
void make_giant_row(RandomTensor& tensor, std::mt19937_64& random) {
  if (tensor.dense.values.empty() || tensor.dense.extents.size() < 2) return;
  const auto rows = static_cast<std::size_t>(tensor.dense.extents[0]);
  const std::size_t row = tensor.dense.values.size() / rows;
  const std::size_t giant = random() % rows;
  for (std::size_t n = 0; n < tensor.dense.values.size(); ++n) {
    const bool stored = n / row == giant || random() % 40 == 0;
    tensor.stored[n] = stored;
    if (!stored) tensor.dense.values[n] = 0;
    if (stored && tensor.dense.values[n] == 0) tensor.dense.values[n] = 0.5;
  }
}

/// Few rows and many, columns 1, 3, 4 and 33, none, empty rows, one giant row.
std::shared_ptr<Trials> trials_of(const Case& one, const problem::Problem& problem, std::mt19937_64& random) {
  std::vector<RandomInput> inputs;
  const auto indices = problem.indices();
  const std::int64_t columns[] = {1, 3, 4, 33, 2, 5};
  for (int n = 0; n < 6; ++n) {
    Extents extents;
    for (std::size_t index = 0; index < indices.size(); ++index)
      extents[indices[index]] = std::uniform_int_distribution<std::int64_t>(n == 4 ? 0 : 1, 4)(random);
    const std::string wide = one.columns.empty() ? indices.back() : one.columns;
    extents[wide] = columns[n];
    const bool giant = n % 2 == 1;
    extents[one.rows] = giant ? 5 : n == 2 ? 70 : 9;
    const std::string inner = one.entries.empty() ? "j" : one.entries;
    if (extents.count(inner) > 0 && inner != wide) extents[inner] = giant ? 37 : 11;
    auto input = random_input(problem, extents, random);
    if (giant) make_giant_row(input.operands.at("A"), random);
    inputs.push_back(std::move(input));
  }
  return std::make_shared<Trials>(problem, std::move(inputs));
}

/// Kernels are emulated; the first few failures are told, all are counted.
KernelQueue emulated(std::mt19937_64& random, std::size_t& failures, std::size_t inputs = 6) {
  return KernelQueue(
      inputs, random,
      [&failures](const std::string& what) {
        if (++failures <= 5) ADD_FAILURE() << what;
      },
      KernelQueue::Machine::emulated_gpu);
}

TEST(GpuKernels, EveryLegalPointOfTheGridIsRight) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  std::mt19937_64 random(seed());
  std::size_t failures = 0, legal = 0, illegal = 0, at = 0;
  KernelQueue queue = emulated(random, failures);
  const char* const only = std::getenv("SCHAAS_CASE");
  for (const auto& one : cases()) {
    if (only != nullptr && one.name != only) continue;
    for (const std::string type : {"f64", "f32", "bf16"}) {
      problem::ProblemText text;
      text.expression = one.expression;
      text.formats = one.formats;
      text.value_type = type;
      const auto problem = problem::build(text).value();
      std::shared_ptr<Trials> trials;
      std::size_t of_case = 0;
      for (const auto& point : grid_of(one)) {
        const auto trace = schedule::parse(point);
        ASSERT_TRUE(trace.ok()) << support::render(trace.error());
        if (!schedule::apply(*trace, problem).ok()) {
          ++illegal;
          continue;
        }
        ++legal;
        ++of_case;
        if (only == nullptr && at++ % every != 0) continue;
        if (!trials) trials = trials_of(one, problem, random);
        const auto added = queue.add(*trace, problem, trials);
        EXPECT_TRUE(added.ok()) << point << "\n" << support::render(added.error());
      }
      EXPECT_GT(of_case, 0u) << one.name << " has no legal point";
    }
  }
  queue.finish();
  RecordProperty("legal_points", static_cast<int>(legal));
  std::printf("legal points %zu, illegal %zu; kernels times inputs %zu, failures %zu\n", legal, illegal,
              queue.combinations(), failures);
  EXPECT_GT(illegal, 0u);
  EXPECT_EQ(failures, 0u);
}

/// Runs the GPU schedules that the search proposes for each case; a sample in the fast test.
TEST(GpuKernels, ProposedSchedulesAreRight) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  std::mt19937_64 random(seed());
  std::size_t failures = 0, proposed = 0, at = 0;
  KernelQueue queue = emulated(random, failures);
  const char* const only = std::getenv("SCHAAS_CASE");
  std::string last;
  for (const auto& one : cases()) {
    if ((only != nullptr && one.name != only) || one.expression + one.formats.begin()->second == last)
      continue;
    last = one.expression + one.formats.begin()->second;
    problem::ProblemText text;
    text.expression = one.expression;
    text.formats = one.formats;
    text.value_type = "f32";
    const auto problem = problem::build(text).value();
    const auto frontier = frontier::compute(problem, frontier::options_for(problem.profile), {}, {});
    ASSERT_TRUE(frontier.ok()) << support::render(frontier.error());
    const auto schedules = pipeline::gpu_schedules(*frontier, problem);
    EXPECT_FALSE(schedules.empty()) << one.name;
    EXPECT_LE(schedules.size(), pipeline::max_gpu_schedules);
    const auto trials = trials_of(one, problem, random);
    for (const auto& schedule : schedules) {
      ++proposed;
      if (only == nullptr && at++ % (every == 1 ? 1 : 13) != 0) continue;
      const auto added = queue.add(schedule.point.trace, problem, trials);
      EXPECT_TRUE(added.ok()) << schedule::print(schedule.point.trace) << "\n"
                              << support::render(added.error());
    }
  }
  queue.finish();
  std::printf("proposed %zu; kernels times inputs %zu, failures %zu\n", proposed, queue.combinations(),
              failures);
  EXPECT_GT(proposed, 100u);
  EXPECT_EQ(failures, 0u);
}

/// Every row has as many entries as `lengths` say, in turn.
void set_row_lengths(RandomTensor& tensor, const std::vector<std::size_t>& lengths) {
  const auto rows = static_cast<std::size_t>(tensor.dense.extents[0]);
  const std::size_t row = tensor.dense.values.size() / rows;
  for (std::size_t n = 0; n < tensor.dense.values.size(); ++n) {
    const bool stored = n % row < lengths[n / row % lengths.size()];
    tensor.stored[n] = stored;
    tensor.dense.values[n] = stored ? 0.25 * static_cast<double>(n % 7 + 1) : 0;
  }
}

/// Rows of no, 1, 31, 32, 33 and 70 entries, and columns on both sides of what groups of threads have.
std::shared_ptr<Trials> trials_of_staging(const problem::Problem& problem, std::mt19937_64& random) {
  std::vector<RandomInput> inputs;
  const auto indices = problem.indices();
  for (const std::int64_t columns : {1, 3, 31, 32, 33, 64, 100}) {
    Extents extents;
    for (const auto& index : indices) extents[index] = 3;
    for (const auto& index : indices) {
      if (index == "i") extents[index] = 13;
      if (index == "k") extents[index] = columns;
      if (index == "j") extents[index] = 70;
    }
    auto input = random_input(problem, extents, random);
    set_row_lengths(input.operands.at("A"), columns == 64 ? std::vector<std::size_t>{0, 0, 70, 0, 0, 0, 1}
                                                          : std::vector<std::size_t>{31, 0, 32, 33, 1, 70});
    inputs.push_back(std::move(input));
  }
  return std::make_shared<Trials>(problem, std::move(inputs));
}

TEST(GpuKernels, StagedEntriesAreRight) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  std::mt19937_64 random(seed());
  std::size_t failures = 0, staged = 0;
  KernelQueue queue = emulated(random, failures, 7);
  for (const std::string format : {"csr", "dcsr"}) {
    for (const std::string type : {"f64", "f32", "bf16"}) {
      problem::ProblemText text;
      text.expression = "C(i,k) = A(i,j) * B(j,k)";
      text.formats = {{"A", format}};
      text.value_type = type;
      const auto problem = problem::build(text).value();
      const auto trials = trials_of_staging(problem, random);
      for (const std::string columns : {"1", "2", "3", "4"}) {
        for (const std::string rows : {"threads(loop=i, each=1)", "threads(loop=i, each=3)",
                                       "pos(loop=j, from=i); threads(loop=i, each=32)"}) {
          const std::string width = staged % 3 == 0 ? "32" : staged % 3 == 1 ? "16" : "8";
          const auto trace = schedule::parse("reorder(order={k,i,j}); threads(loop=k, each=" + columns +
                                             "); " + rows + "; stage(loop=i, width=" + width + ")");
          const auto source = cuda_source_of(trace.value(), problem);
          ASSERT_TRUE(source.ok()) << support::render(source.error());
          EXPECT_NE(source->find("stage_entries<" + width + ">("), std::string::npos);
          const auto added = queue.add(*trace, problem, trials);
          EXPECT_TRUE(added.ok()) << support::render(added.error());
          ++staged;
        }
      }
    }
  }
  queue.finish();
  std::printf("staged %zu; kernels times inputs %zu, failures %zu\n", staged, queue.combinations(), failures);
  EXPECT_EQ(failures, 0u);
}

TEST(GpuKernels, MergePathsAreRight) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  std::mt19937_64 random(seed());
  std::size_t failures = 0;
  KernelQueue queue = emulated(random, failures, 7);
  for (const std::string type : {"f64", "f32", "bf16"}) {
    problem::ProblemText text;
    text.expression = "C(i,k) = A(i,j) * B(j,k)";
    text.formats = {{"A", "csr"}};
    text.value_type = type;
    const auto problem = problem::build(text).value();
    const auto trials = trials_of_staging(problem, random);
    for (const std::string how :
         {"1); pos(loop=j, from=i); threads(loop=i, each=1",
          "1); pos(loop=j, from=i); threads(loop=i, each=3",
          "2); pos(loop=j, from=i); threads(loop=i, each=32",
          "4); pos(loop=j, from=i); threads(loop=i, each=100",
          "1); pos(loop=j, from=i); threads(loop=i, each=8); group(loop=i, width=8, reduce=segment",
          "3); pos(loop=j, from=i); threads(loop=i, each=32); stage(loop=i, width=16"}) {
      const auto trace =
          schedule::parse("reorder(order={k,i,j}); threads(loop=k, each=" + how + "); merge_path(loop=i)");
      const auto added = queue.add(trace.value(), problem, trials);
      EXPECT_TRUE(added.ok()) << support::render(added.error());
    }
  }
  queue.finish();
  std::printf("kernels times inputs %zu, failures %zu\n", queue.combinations(), failures);
  EXPECT_EQ(failures, 0u);
}

TEST(GpuKernels, RandomSchedulesOfRandomProductsAreRight) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  std::mt19937_64 random(seed());
  std::size_t failures = 0, grouped = 0;
  KernelQueue queue(
      4, random,
      [&](const std::string& what) {
        if (++failures <= 5) ADD_FAILURE() << what;
      },
      KernelQueue::Machine::emulated_gpu);
  for (int kernels = 0, tries = 0; kernels < random_kernels && tries < 20 * random_kernels; ++tries) {
    const auto problem = random_problem({}, random);
    const auto trace = with_random_units(random_trace(problem, 3, random), problem, random);
    if (!queue.add(trace, problem).ok()) continue;
    ++kernels;
    grouped += schedule::print(trace).find("group(") != std::string::npos ? 1 : 0;
  }
  queue.finish();
  std::printf("kernels times inputs %zu, with groups %zu\n", queue.combinations(), grouped);
  EXPECT_GT(grouped, 0u);
  EXPECT_GT(queue.combinations(), 4u * random_kernels / 2);
  EXPECT_EQ(failures, 0u);
}

/// Compiles the kernels, which cannot run without a GPU.
TEST(GpuKernels, NvccCompilesThem) {
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) GTEST_SKIP() << "no nvcc is installed";
  std::vector<std::string> sources;
  for (const auto& one : cases()) {
    for (const std::string type : {"f32", "f16", "f64"}) {
      if (type == "f64" && every > 1) continue;
      problem::ProblemText text;
      text.expression = one.expression;
      text.formats = one.formats;
      text.value_type = type;
      const auto problem = problem::build(text).value();
      std::size_t at = 0;
      for (const auto& point : grid_of(one)) {
        const auto trace = schedule::parse(point).value();
        if (!schedule::apply(trace, problem).ok() || at++ % (every + 40) != 0) continue;
        sources.push_back(cuda_source_of(trace, problem).value());
      }
    }
  }
  EXPECT_GT(sources.size(), cases().size());
  EXPECT_EQ(nvcc_error(nvcc, sources), "");
}

TEST(GpuKernels, NvrtcCompilesThem) {
  if (!has_nvrtc()) GTEST_SKIP() << "the library NVRTC is not installed";
  for (const auto& one : cases()) {
    problem::ProblemText text;
    text.expression = one.expression;
    text.formats = one.formats;
    text.value_type = "f32";
    const auto problem = problem::build(text).value();
    const auto points = grid_of(one);
    const auto legal = std::find_if(points.rbegin(), points.rend(), [&](const std::string& point) {
      return schedule::apply(schedule::parse(point).value(), problem).ok();
    });
    ASSERT_NE(legal, points.rend()) << one.name;
    const std::string source = cuda_source_of(schedule::parse(*legal).value(), problem).value();
    for (const char* const architecture : {"sm_80", "compute_90"})
      EXPECT_EQ(nvrtc_error(source, architecture), "") << one.name << ": " << *legal;
  }
}

}  // namespace
}  // namespace schaas::test_support
