// From the request to the verified result without a GPU: the server proposes schedules and makes kernels
// whose device code is emulated, the client chooses at the real sizes and runs them by a driver on the host
// (fake_driver.c).
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "schaas/choose.h"
#include "schaas/gpu.h"
#include "schaas/host.h"
#include "schaas/session.h"
#include "server/daemon.h"
#include "tests/support/gpu_batch.h"
#include "tests/support/temporary_directory.h"

namespace schaas {
namespace {

using client::Choice;
using client::ChoiceRequest;
using client::GpuTarget;
using client::PackedTensor;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A 40 by 30 matrix with a full row, empty ones and some of one entry, times 30 by 5.
struct Product {
  Product() {
    client::CooTensor sparse{{40, 30}, {{}, {}}, {}};
    const auto add = [&](std::int64_t i, std::int64_t j) {
      sparse.coordinates[0].push_back(i);
      sparse.coordinates[1].push_back(j);
      sparse.values.push_back(static_cast<double>((3 * i + j) % 7 - 3));
    };
    for (std::int64_t i = 0; i < 40; ++i) {
      if (i == 11) {
        for (std::int64_t j = 0; j < 30; ++j) add(i, j);
      } else if (i % 3 != 0) {
        add(i, (7 * i) % 30);
      }
    }
    client::CooTensor dense{{30, 5}, {{}, {}}, {}};
    for (std::int64_t j = 0; j < 30; ++j) {
      for (std::int64_t k = 0; k < 5; ++k) {
        dense.coordinates[0].push_back(j);
        dense.coordinates[1].push_back(k);
        dense.values.push_back(static_cast<double>((5 * j + k) % 11 - 5));
      }
    }
    const client::PackOptions options{"", client::ValueType::f64, 64, 0};
    const auto format = [](const char* text) { return format::parse(text, 2, "T").value(); };
    a = client::pack(sparse, format("csr"), options).value();
    b = client::pack(dense, format("dense"), options).value();
    c = client::zeros({40, 5}, format("dense"), options).value();
    wanted.assign(200, 0);
    for (std::size_t e = 0; e < sparse.values.size(); ++e)
      for (std::int64_t k = 0; k < 5; ++k)
        wanted[static_cast<std::size_t>(5 * sparse.coordinates[0][e] + k)] +=
            sparse.values[e] * static_cast<double>((5 * sparse.coordinates[1][e] + k) % 11 - 5);
  }
  client::Sizes sizes() const {
    client::Sizes out;
    out.extents = {{"i", 40}, {"j", 30}, {"k", 5}};
    out.entries = {{"A", client::entries_of(a)}, {"B", client::entries_of(b)}, {"C", client::entries_of(c)}};
    out.spreads = {{"A", client::spreads_of(a)}};
    return out;
  }
  void expect_right(const std::string& what) const {
    for (std::int64_t at = 0; at < 200; ++at)
      ASSERT_NEAR(c.value(at), wanted[static_cast<std::size_t>(at)], 1e-12) << what << " at " << at;
  }
  PackedTensor a, b, c;
  std::vector<double> wanted;
};

class GpuPath : public testing::Test {
 protected:
  void SetUp() override {
    driver_ = dlopen(SCHAAS_FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(driver_, nullptr) << dlerror();
    serve(test_support::make_emulating_toolchain(toolchain::make_c_toolchain({})));
  }
  void TearDown() override {
    session_.reset();
    daemon_.reset();
    EXPECT_EQ(*static_cast<std::int64_t*>(dlsym(driver_, "fake_allocations")), 0) << "memory is not released";
    dlclose(driver_);
  }
  void serve(std::unique_ptr<toolchain::Toolchain> toolchain) {
    session_.reset();
    daemon_.reset();
    server::DaemonOptions options;
    options.data_directory = directory_ / "data" + std::to_string(served_++);
    options.drain = std::chrono::seconds(1);
    options.toolchain = std::move(toolchain);
    auto daemon = server::Daemon::start(options, server::silent_log());
    ASSERT_TRUE(daemon.ok()) << support::render(daemon.error());
    daemon_ = std::move(daemon).value();
    client::ConnectOptions connect;
    connect.server = daemon_->addresses().front();
    connect.cache_bytes = 0;
    session_.emplace(client::Session::open(connect).value());
  }

  static ChoiceRequest request(const Product& product) {
    ChoiceRequest request;
    request.schedule.problem.expression = "C(i,k) = A(i,j) * B(j,k)";
    request.schedule.problem.formats = {{"A", "csr"}};
    request.schedule.problem.position_bits = "64";
    request.schedule.isa = client::host_isa();
    request.sizes = product.sizes();
    request.machine = client::this_machine(client::ValueType::f64, 1);
    request.patience = std::chrono::minutes(5);
    return request;
  }
  client::Gpu gpu() { return client::Gpu::open({SCHAAS_FAKE_DRIVER, 0}).value(); }
  GpuTarget alone() {
    GpuTarget target;
    target.device = gpu().facts();
    target.alone = true;
    return target;
  }
  support::Result<Choice> choose(const ChoiceRequest& request) {
    return client::choose(session_->source(), request);
  }
  void run(const client::KernelInfo& kernel, const std::vector<std::string>& arguments, Product& product) {
    const std::string bytes = session_->source().download(kernel).value();
    const auto loaded = client::GpuKernel::load(bytes, kernel.digest);
    ASSERT_TRUE(loaded.ok()) << support::render(loaded.error());
    EXPECT_EQ(arguments, (std::vector<std::string>{"C", "A", "B"}));
    auto execution = client::GpuExecution::prepare(gpu(), *loaded, {&product.c, &product.a, &product.b});
    ASSERT_TRUE(execution.ok()) << support::render(execution.error());
    const auto ran = execution->run();
    ASSERT_TRUE(ran.ok()) << support::render(ran.error());
  }

  test_support::TemporaryDirectory directory_;
  int served_ = 0;
  std::unique_ptr<server::Daemon> daemon_;
  std::optional<client::Session> session_;
  void* driver_ = nullptr;
};

TEST_F(GpuPath, AsksChoosesAndRuns) {
  Product product;
  auto asked = request(product);
  asked.gpu = alone();
  const auto choice = choose(asked);
  ASSERT_TRUE(choice.ok()) << support::render(choice.error());
  EXPECT_EQ(choice->kernel.isa, "cuda");
  EXPECT_EQ(choice->kernel.id.front(), 'g');
  EXPECT_THAT(choice->reason, HasSubstr("is predicted to take least time on Fake GPU"));
  EXPECT_LT(choice->select_seconds, 0.05);
  for (const auto& kernel : choice->answer.kernels) EXPECT_EQ(kernel.isa, "cuda");
  run(choice->kernel, choice->answer.frontier.arguments, product);
  product.expect_right(choice->kernel.trace);
}

TEST_F(GpuPath, BothKindsComeOnOneAnswer) {
  client::ScheduleRequest asked;
  asked.problem.expression = "C(i,k) = A(i,j) * B(j,k)";
  asked.problem.formats = {{"A", "csr"}};
  asked.kernels = 3;
  asked.gpu = true;
  const auto answer = session_->source().schedule(asked, {});
  ASSERT_TRUE(answer.ok()) << support::render(answer.error());
  std::size_t cpu = 0, gpu = 0;
  for (const auto& kernel : answer->kernels) {
    const auto& schedules = answer->frontier.gpu;
    const auto same = [&](const client::GpuSchedule& one) {
      return one.id == kernel.id && one.trace == kernel.trace;
    };
    const bool known = std::any_of(schedules.begin(), schedules.end(), same);
    EXPECT_EQ(known, kernel.isa == "cuda") << kernel.id;
    ++(kernel.isa == "cuda" ? gpu : cpu);
  }
  EXPECT_GE(cpu, 1u);
  EXPECT_EQ(gpu, 3u);
  for (const auto& schedule : answer->frontier.gpu) {
    EXPECT_EQ(schedule.entry.front(), 's');
    ASSERT_EQ(schedule.phases.size(), 1u);
    EXPECT_TRUE(schedule.phases[0].columns);
  }
  // Nobody who does not ask for them is told.
  asked.gpu = false;
  const auto plain = session_->source().schedule(asked, {});
  EXPECT_TRUE(plain->frontier.gpu.empty());
  for (const auto& kernel : plain->kernels) EXPECT_NE(kernel.isa, "cuda");
}

TEST_F(GpuPath, DeterministicRequestsLeaveChanceOut) {
  client::ScheduleRequest asked;
  asked.problem.expression = "C(i,k) = A(i,j) * B(j,k)";
  asked.problem.formats = {{"A", "csr"}};
  asked.isa = "cuda";
  asked.search_only = true;
  const auto all = session_->source().schedule(asked, {}).value().frontier.gpu;
  asked.deterministic = true;
  const auto some = session_->source().schedule(asked, {}).value().frontier.gpu;
  EXPECT_LT(some.size(), all.size());
  EXPECT_FALSE(some.empty());
  for (const auto& schedule : all) {
    const auto found = std::find(some.begin(), some.end(), schedule);
    EXPECT_EQ(found == some.end(), schedule.order_is_chance) << schedule.id << " " << schedule.point;
  }
  // By its name it is refused, too.
  const auto chance =
      std::find_if(all.begin(), all.end(), [](const auto& one) { return one.order_is_chance; });
  ASSERT_NE(chance, all.end());
  asked.search_only = false;
  asked.traces = {chance->id};
  asked.traces_only = true;
  const auto refused = session_->source().schedule(asked, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "`" + chance->id + "` is " + chance->point +
                                         ", whose threads write sums in the order in which they come: it is "
                                         "left out where an answer must be "
                                         "the same each time");
}

TEST_F(GpuPath, ASlowWayThereLeavesItToTheProcessor) {
  Product product;
  auto asked = request(product);
  asked.gpu = alone();
  asked.gpu->alone = false;
  asked.gpu->value_bytes = 1e9;
  const auto here = choose(asked);
  ASSERT_TRUE(here.ok()) << support::render(here.error());
  EXPECT_NE(here->kernel.isa, "cuda");
  EXPECT_THAT(here->reason,
              AllOf(HasSubstr("; on Fake GPU `g"), HasSubstr("the way there and back included")));
  // A processor that takes a second for each trip.
  asked.gpu->value_bytes = 0;
  asked.machine.rates.nanoseconds = 1e9;
  const auto there = choose(asked);
  ASSERT_TRUE(there.ok()) << support::render(there.error());
  EXPECT_EQ(there->kernel.isa, "cuda");
  EXPECT_THAT(there->reason, HasSubstr("; on the processor `s"));
}

TEST_F(GpuPath, MemoryThatIsNotThereLeavesItToTheProcessor) {
  Product product;
  auto asked = request(product);
  asked.gpu = alone();
  asked.gpu->device.free_bytes = 1000;
  asked.gpu->tensor_bytes = 5000;
  const auto refused = choose(asked);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(support::render(refused.error()),
            "exhausted [gpu-memory]: no schedule for a GPU fits its memory: the least needs 4.9 KiB, and "
            "1000 bytes are "
            "free on Fake GPU; kernels for the CPU (`--target cpu`) work");
  asked.gpu->alone = false;
  const auto here = choose(asked);
  ASSERT_TRUE(here.ok()) << support::render(here.error());
  EXPECT_NE(here->kernel.isa, "cuda");
  EXPECT_THAT(here->reason, HasSubstr("; not on Fake GPU: no schedule for a GPU fits its memory"));
}

TEST_F(GpuPath, AServerWithoutAToolkitServesTheProcessor) {
  toolchain::CudaToolchainOptions none;
  none.compiler = "nvcc-that-is-not-there";
  serve(toolchain::make_cuda_toolchain(toolchain::make_c_toolchain({}), none));
  Product product;
  auto asked = request(product);
  asked.machine.rates.nanoseconds = 1e9;
  asked.gpu = alone();
  asked.gpu->alone = false;
  const auto here = choose(asked);
  ASSERT_TRUE(here.ok()) << support::render(here.error());
  EXPECT_NE(here->kernel.isa, "cuda");
  EXPECT_THAT(here->reason, HasSubstr("; not on Fake GPU: no CUDA toolkit here"));
  asked.gpu->alone = true;
  const auto refused = choose(asked);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, "no-cuda");
}

TEST_F(GpuPath, TuningMeasuresBothKindsAndRemembers) {
  Product product;
  auto asked = request(product);
  asked.gpu = alone();
  asked.gpu->alone = false;
  std::vector<std::string> measured;
  asked.contend = [&](const client::ScheduleAnswer& answer,
                      const client::KernelInfo& kernel) -> support::Result<client::TimedRun> {
    measured.push_back(kernel.isa);
    const double seconds = kernel.isa == "cuda" ? 1e-3 / static_cast<double>(1 + measured.size()) : 1e-2;
    if (kernel.isa == "cuda") {
      run(kernel, answer.frontier.arguments, product);
      product.expect_right(kernel.trace);
    }
    return client::TimedRun([seconds] { return seconds; });
  };
  const auto tuned = choose(asked);
  ASSERT_TRUE(tuned.ok()) << support::render(tuned.error());
  EXPECT_EQ(tuned->kernel.isa, "cuda");
  EXPECT_GE(std::count(measured.begin(), measured.end(), "cuda"), 2);
  EXPECT_LT(std::count(measured.begin(), measured.end(), "cuda"),
            static_cast<std::ptrdiff_t>(measured.size()));
  // From then on it is taken without measuring, however slow the way there is said to be.
  asked.contend = nullptr;
  asked.gpu->value_bytes = 1e9;
  const auto later = choose(asked);
  ASSERT_TRUE(later.ok()) << support::render(later.error());
  EXPECT_EQ(later->kernel.trace, tuned->kernel.trace);
  EXPECT_THAT(later->reason, HasSubstr("that were measured at sizes like these"));
}

TEST_F(GpuPath, NothingOfTheFrontierRunsOnAGpu) {
  client::ScheduleRequest asked;
  asked.problem.expression = "C(i,k) = A(i,j) * B(j,k)";
  asked.problem.formats = {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}};
  asked.isa = "cuda";
  const auto answer = session_->source().schedule(asked, {});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(support::render(answer.error()),
            "unsupported [no-gpu-schedule]: none of the schedules of the frontier runs on a GPU: they append "
            "to a sparse "
            "result, read copies of operands, or walk lists side by side; `--target cpu` computes it");
}

/// The program itself, which finds the driver by its name.
class Program : public GpuPath {
 protected:
  std::string schaas(const std::string& arguments) {
    const std::string libraries = directory_ / "driver";
    std::filesystem::create_directories(libraries);
    std::error_code ignored;
    std::filesystem::create_symlink(SCHAAS_FAKE_DRIVER, libraries + "/libcuda.so.1", ignored);
    const std::string output = directory_ / "output";
    const std::string command = "LD_LIBRARY_PATH=" + libraries + " XDG_CACHE_HOME=" + (directory_ / "cache") +
                                " XDG_CONFIG_HOME=" + (directory_ / "config") +
                                " " SCHAAS_BINARY_DIR "/schaas " + arguments + " --server " +
                                daemon_->addresses().front() + " > " + output + " 2>&1";
    status_ = WEXITSTATUS(std::system(command.c_str()));
    std::ifstream file(output);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  int status_ = 0;
};

TEST_F(Program, RunsWhatItChoosesAndVerifies) {
  std::ofstream(directory_ / "A.mtx")
      << "%%MatrixMarket matrix coordinate real general\n4 5 6\n1 1 2\n1 2 3\n1 5 4\n3 3 "
         "1\n3 4 7\n4 1 5\n";
  const std::string spmm =
      "'C(i,k) = A(i,j) * B(j,k)' -t A=" + (directory_ / "A.mtx") + " -d k=6 --wait 300 --verify";
  const std::string run = schaas("run " + spmm + " --target cuda");
  EXPECT_EQ(status_, 0) << run;
  EXPECT_THAT(run, AllOf(HasSubstr("on Fake GPU, with the values' way there and back"),
                         HasSubstr("24 values compared with the oracle"),
                         HasSubstr("is predicted to take least time on Fake GPU")));
  const std::string tuned = schaas("run " + spmm + " --target auto --tune --deterministic");
  EXPECT_EQ(status_, 0) << tuned;
  EXPECT_THAT(tuned, AllOf(HasSubstr("measured  g"), HasSubstr("measured  s"), Not(HasSubstr("WRONG"))));
  const std::string named = schaas("run " + spmm + " --target cuda --schedule g2");
  EXPECT_EQ(status_, 0) << named;
  EXPECT_THAT(named, HasSubstr("group(path={}, loop=i, width=8, reduce=parallel)"));
  const std::string listed = schaas("schedule 'C(i,k) = A(i,j) * B(j,k)' -f A=csr --gpu");
  EXPECT_EQ(status_, 0) << listed;
  EXPECT_THAT(listed, AllOf(HasSubstr("{<1 nnz, 1 col>, 32 segment}"), HasSubstr("by chance"),
                            HasSubstr("the same way")));
}

}  // namespace
}  // namespace schaas
