// From the request to the verified result without a GPU: the server proposes schedules and makes kernels
// whose device code is emulated, the client chooses at the real sizes and runs them by a driver on the host
// (fake_driver.c).
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "schaas/choose.h"
#include "schaas/gpu.h"
#include "schaas/host.h"
#include "schaas/kernel_set.h"
#include "schaas/session.h"
#include "server/daemon/daemon.h"
#include "tests/support/fake_device.h"
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
    request.leave_after = std::chrono::minutes(5);
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
    EXPECT_EQ(found == some.end(), schedule.nondeterministic) << schedule.id << " " << schedule.point;
  }
  // By its name it is refused, too.
  const auto chance =
      std::find_if(all.begin(), all.end(), [](const auto& one) { return one.nondeterministic; });
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
  asked.timed_run = [&](const client::ScheduleAnswer& answer,
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
  asked.timed_run = nullptr;
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

/// Tensors in memory and on the device, by the entrance for programs (KernelSet).
class Bound : public GpuPath {
 protected:
  void SetUp() override {
    GpuPath::SetUp();
    device_ = std::make_unique<test_support::FakeDevice>(driver_);
    client::ProblemText text;
    text.expression = "C(i,k) = A(i,j) * B(j,k)";
    text.formats = {{"A", "csr"}};
    text.position_bits = "64";
    client::KernelSetOptions options;
    options.leave_after = std::chrono::minutes(5);
    kernels_.emplace(client::KernelSet::open(*session_, text, options).value());
    a_ = device_->bring(product_.a);
    b_ = device_->bring(product_.b);
    c_ = device_->bring(product_.c);
  }
  void TearDown() override {
    EXPECT_FALSE(device_->has_current_context());
    device_.reset();
    kernels_.reset();
    GpuPath::TearDown();
  }
  client::BindOptions options(PackedTensor* result, bool alone = false) {
    client::BindOptions options;
    options.gpu = client::GpuUse{gpu(), alone, nullptr};
    options.result = result;
    return options;
  }
  std::int64_t moved() const {
    return device_->variable<std::int64_t>("fake_to_device") +
           device_->variable<std::int64_t>("fake_to_host");
  }
  void expect_right_there() const {
    const auto values = device_->values(c_);
    for (std::size_t at = 0; at < 200; ++at) ASSERT_NEAR(values[at], product_.wanted[at], 1e-12) << at;
  }

  Product product_;
  std::unique_ptr<test_support::FakeDevice> device_;
  std::optional<client::KernelSet> kernels_;
  PackedTensor a_, b_, c_;
};

TEST_F(Bound, WhatLiesOnTheDeviceIsComputedThereWithoutCopies) {
  auto first = kernels_->bind({{"A", &a_}, {"B", &b_}}, options(&c_));
  ASSERT_TRUE(first.ok()) << support::render(first.error());
  EXPECT_EQ(first->kernel().isa, "cuda") << first->reason();
  EXPECT_EQ(first->device(), "Fake GPU");
  EXPECT_THAT(first->reason(), AllOf(HasSubstr("least time on Fake GPU"), HasSubstr("on the processor `"),
                                     Not(HasSubstr("way there")), Not(HasSubstr("brought"))));
  // Known sizes: nothing at all is copied any more.
  const std::int64_t before = moved();
  auto again = kernels_->bind({{"A", &a_}, {"B", &b_}}, options(&c_)).value();
  ASSERT_TRUE(again.run().ok());
  EXPECT_EQ(moved(), before);
  expect_right_there();
}

TEST_F(Bound, ComputesAResultInMemoryOfAnOperandApart) {
  for (const bool alone : {false, true}) {
    client::PackedTensor both =
        client::zeros({40, 5}, c_.format(), {"C", client::ValueType::f64, 64}).value();
    std::memcpy(both.values().data(), product_.b.values().data(), product_.b.values().bytes());
    c_ = device_->bring(both);
    schaas_tensor view = product_.b.view();
    view.values = c_.values().data();
    PackedTensor b = client::borrow_on_device(view, "B", 0).value();
    auto bound = kernels_->bind({{"A", &a_}, {"B", &b}}, options(&c_, alone));
    ASSERT_TRUE(bound.ok()) << support::render(bound.error());
    ASSERT_TRUE(bound->run().ok());
    EXPECT_EQ(&bound->result(), &c_);
    expect_right_there();
  }
}

TEST_F(Bound, RefusesASparseResultInMemoryOfAnOperand) {
  client::ProblemText text;
  text.expression = "C(i,j) = 2 * A(i,j)";
  text.formats = {{"A", "csr"}, {"C", "csr"}};
  text.position_bits = "64";
  const auto kernels = client::KernelSet::open(*session_, text).value();
  client::BindOptions given;
  given.result = &product_.a;
  const auto bound = kernels.bind({{"A", &product_.a}}, given);
  ASSERT_FALSE(bound.ok());
  EXPECT_EQ(
      support::render(bound.error()),
      "invalid [result-overlap]: the tensor given for the result `C(i,j)` has memory of the operand `A`: "
      "a result stored as dense,compressed:0,1 needs memory of its own");
}

TEST_F(Bound, MixedOperandsAreBroughtAndTheReasonSaysSo) {
  auto there = kernels_->bind({{"A", &a_}, {"B", &product_.b}}, options(&c_, true)).value();
  EXPECT_THAT(there.reason(), HasSubstr("for the way there and back; `B` is brought to Fake GPU"));
  ASSERT_TRUE(there.run().ok());
  expect_right_there();
  auto back = kernels_->bind({{"A", &a_}, {"B", &b_}}, options(nullptr, true)).value();
  ASSERT_TRUE(back.run().ok());
  for (std::int64_t at = 0; at < 200; ++at)
    ASSERT_NEAR(back.result().value(at), product_.wanted[static_cast<std::size_t>(at)], 1e-12);
}

TEST_F(Bound, TheProcessorComputesWhatTheDeviceHasNoRoomFor) {
  device_->variable<std::size_t>("fake_free_bytes") = 8;  // not even for B
  const auto bound = kernels_->bind({{"A", &a_}, {"B", &product_.b}}, options(&c_));
  device_->variable<std::size_t>("fake_free_bytes") = std::size_t{1} << 30;
  ASSERT_TRUE(bound.ok()) << support::render(bound.error());
  EXPECT_NE(bound->kernel().isa, "cuda");
  EXPECT_EQ(bound->device(), "");
  EXPECT_THAT(bound->reason(), AllOf(HasSubstr("for the way to the processor and back"),
                                     HasSubstr("not on Fake GPU: no schedule for a GPU fits its memory"),
                                     HasSubstr("; `A` is brought to the processor")));
}

TEST_F(Bound, AServerWithoutAToolkitComputesWhatLiesThereOnTheProcessor) {
  toolchain::CudaToolchainOptions none;
  none.compiler = "nvcc-that-is-not-there";
  const client::ProblemText text = kernels_->problem();
  kernels_.reset();
  serve(toolchain::make_cuda_toolchain(toolchain::make_c_toolchain({}), none));
  client::KernelSetOptions patient;
  patient.leave_after = std::chrono::minutes(5);
  kernels_.emplace(client::KernelSet::open(*session_, text, patient).value());
  auto bound = kernels_->bind({{"A", &a_}, {"B", &b_}}, options(&c_)).value();
  EXPECT_THAT(bound.reason(), AllOf(HasSubstr("; not on Fake GPU: no CUDA toolkit here"),
                                    HasSubstr("; `A`, `B` are brought to the processor")));
  ASSERT_TRUE(bound.run().ok());
  expect_right_there();
}

TEST_F(Bound, OnTheProcessorValuesComeAndGoWithEachRun) {
  client::BindOptions named = options(&c_);
  named.schedule = "linear";
  auto bound = kernels_->bind({{"A", &a_}, {"B", &b_}}, named).value();
  EXPECT_NE(bound.kernel().isa, "cuda");
  EXPECT_THAT(bound.reason(), HasSubstr("; `A`, `B` are brought to the processor"));
  ASSERT_TRUE(bound.run().ok());
  expect_right_there();
  for (std::int64_t at = 0; at < 150; ++at) product_.b.values().as<double>()[at] *= 2;
  for (double& wanted : product_.wanted) wanted *= 2;
  device_->copy(b_.values().data(), product_.b.values().data(), product_.b.values().bytes(), nullptr);
  ASSERT_TRUE(bound.run().ok());
  expect_right_there();
}

TEST_F(Bound, TheStreamOfTheCallerIsHonoured) {
  void* const stream = device_->make_stream();
  client::BindOptions ordered = options(&c_, true);
  ordered.gpu->stream = stream;
  {
    auto bound = kernels_->bind({{"A", &a_}, {"B", &b_}}, ordered).value();
    ASSERT_TRUE(bound.run().ok());
    EXPECT_GT(device_->variable<std::int64_t>("fake_pending"), 0);
  }
  device_->wait_for(stream);
  expect_right_there();
  device_->end_stream(stream);
}

TEST_F(Bound, TuningWithTensorsThereIsRememberedForThatDevice) {
  const auto tuning = kernels_->tune({{"A", &a_}, {"B", &b_}}, options(&c_));
  ASSERT_TRUE(tuning.ok()) << support::render(tuning.error());
  ASSERT_GE(tuning->measured.size(), 2u);
  EXPECT_EQ(tuning->fastest.front(), 'g');
  auto later = kernels_->bind({{"A", &a_}, {"B", &b_}}, options(&c_)).value();
  EXPECT_EQ(later.kernel().id, tuning->fastest);
  EXPECT_THAT(later.reason(), HasSubstr("the fastest of"));
  const auto frontier = kernels_->frontier().value();
  ASSERT_FALSE(frontier.measurements.empty());
  for (const auto& one : frontier.measurements)
    EXPECT_THAT(one.sizes, HasSubstr(" @ Fake GPU, all tensors there"));
}

/// Programs that find the driver by its name.
class Program : public GpuPath {
 protected:
  /// Settings of their environment.
  std::string environment() {
    const std::string libraries = directory_ / "driver";
    std::filesystem::create_directories(libraries);
    std::error_code ignored;
    std::filesystem::create_symlink(SCHAAS_FAKE_DRIVER, libraries + "/libcuda.so.1", ignored);
    return "LD_LIBRARY_PATH=" + libraries + " XDG_CACHE_HOME=" + (directory_ / "cache") +
           " XDG_CONFIG_HOME=" + (directory_ / "config") + " ";
  }
  std::string schaas(const std::string& arguments) {
    return run_program(environment() + SCHAAS_BINARY_DIR "/schaas " + arguments + " --server " +
                       daemon_->addresses().front());
  }
  std::string run_program(const std::string& line) {
    const std::string output = directory_ / "output";
    const std::string command = line + " > " + output + " 2>&1";
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
  EXPECT_THAT(listed, AllOf(HasSubstr("{<1 nnz, 1 col>, 32 segment}"), HasSubstr("nondeterministically"),
                            HasSubstr("the same way")));
}

TEST_F(Program, PythonComputesWithArraysOfTheDevice) {
  const std::string python = SCHAAS_PYTHON " ";
  if (run_program(python + "-c 'import numpy, scipy.sparse'"), status_ != 0)
    GTEST_SKIP() << "numpy and scipy are not installed";
  const std::string said =
      run_program(environment() + "SCHAAS_SERVER=" + daemon_->addresses().front() +
                  " SCHAAS_LIBRARY=" SCHAAS_C_LIBRARY " PYTHONPATH=" SCHAAS_SOURCE_DIR "/client/python " +
                  python + SCHAAS_SOURCE_DIR "/tests/gpu/device_arrays_test.py");
  EXPECT_EQ(status_, 0) << said;
}

/// The sanitizer itself needs a device: what stands in for it runs the program, or says what it was given.
TEST_F(Program, EveryFamilyGoesUnderTheSanitizer) {
  const std::string stand_in = directory_ / "compute-sanitizer";
  const auto sanitized = [&](const std::string& script, const std::string& arguments) {
    std::ofstream(stand_in) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(stand_in, std::filesystem::perms::owner_all);
    return run_program(environment() + "SCHAAS_SERVER=" + daemon_->addresses().front() +
                       " python3 " SCHAAS_SOURCE_DIR "/tests/gpu/sanitize.py " SCHAAS_BINARY_DIR
                       " --sanitizer " +
                       stand_in + arguments);
  };
  const std::string all = sanitized("shift 4; exec \"$@\"\n", " --most 1");
  EXPECT_EQ(status_, 0) << all;
  EXPECT_THAT(all, HasSubstr("24 runs, 0 bad"));
  const std::string found = sanitized("echo \"$@\"; exit 9\n", " --most 1 --only spmv");
  EXPECT_EQ(status_, 1);
  EXPECT_THAT(found, AllOf(HasSubstr("--tool racecheck --error-exitcode 9 "), HasSubstr("2 runs, 2 bad")));
  EXPECT_EQ(sanitized("", " --sanitizer /nowhere"), "SKIP: no /nowhere\n");
  EXPECT_EQ(status_, 77);
}

TEST_F(Program, CComputesWithArraysOfTheDevice) {
  const std::string said = run_program(environment() + "SCHAAS_SERVER=" + daemon_->addresses().front() +
                                       " " SCHAAS_BINARY_DIR "/device_program");
  EXPECT_EQ(status_, 0);
  EXPECT_EQ(
      said,
      "old options: cuda is not asked for\n"
      "on Fake GPU: 201 0 30\n"
      "on a stream: before 0, after 402 0 30\n"
      "error 2 not-on-device: `x` is said to lie on Fake GPU, but its values lie in the host's memory\n"
      "error 3 no-gpu: no GPU can be used: device 3 is asked for and the driver has 1; kernels for the CPU "
      "(`--target cpu`) work\n");
}

}  // namespace
}  // namespace schaas
