#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "compiler/problem/canonical.h"
#include "compiler/schedule/trace.h"
#include "schaas/gpu.h"
#include "schaas/tensor.h"
#include "tests/support/fake_device.h"
#include "tests/support/gpu_batch.h"
#include "tests/support/problem_of.h"
#include "tests/support/temporary_directory.h"

// The client's side of kernels for GPUs against a driver on the host (fake_driver.c), which runs the kernel's
// emulation; and, where there is one, a device.
namespace schaas::client {
namespace {

const char* const trace =
    "reorder(order={k,i,j}); threads(loop=k, each=2); pos(loop=j, from=i); threads(loop=i, each=1); "
    "group(loop=i, width=8, reduce=segment)";

/// The object of a schedule as the CUDA toolchain makes it, but that its device code is emulated and its
/// modules are texts.
std::string object_of(const std::string& expression, const std::map<std::string, std::string>& formats,
                      const char* directives, int position_bits = 64) {
  auto asked = test_support::problem_of(expression, formats);
  asked.position_bits = position_bits;
  const auto problem = problem::canonicalize(asked);
  schedule::NewNames names;
  for (const auto& [own, user] : problem.user_index) names.emplace_back(user, own);
  const auto canonical = schedule::rename(schedule::parse(directives).value(), names, {});
  return test_support::emulated_object(canonical, problem.problem, problem.text).value();
}

GpuKernel loaded(const std::string& bytes) {
  return GpuKernel::load(bytes, support::digest_of(bytes)).value();
}
GpuKernel kernel() {
  static const std::string bytes = object_of("C(i,k) = A(i,j) * B(j,k)", {{"A", "csr"}}, trace);
  return loaded(bytes);
}

class FakeGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    library_ = dlopen(SCHAAS_FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
    set<int>("fake_devices", 1);
    set<int>("fake_pools", 1);
    set<int>("fake_ordinal", 0);
    set<int>("fake_architecture", 90);
    set<std::size_t>("fake_free_bytes", std::size_t{1} << 30);
    set(
        "fake_launch", +[](const char* function, unsigned blocks, unsigned threads, void* parameters) {
          launched() +=
              std::string(function) + " " + std::to_string(blocks) + " " + std::to_string(threads) + "\n";
          return failing() ? 719 : launcher()(parameters, blocks, nullptr);
        });
    launched().clear();
    failing() = false;
  }
  void TearDown() override {
    EXPECT_EQ(*static_cast<std::int64_t*>(dlsym(library_, "fake_allocations")), 0)
        << "memory is not released";
    dlclose(library_);
  }
  template <class T>
  void set(const char* name, T value) {
    *static_cast<T*>(dlsym(library_, name)) = value;
  }
  std::string image() const {
    const auto* image = *static_cast<const void**>(dlsym(library_, "fake_image"));
    return static_cast<const char*>(image);
  }
  static support::Result<Gpu> open() { return Gpu::open({SCHAAS_FAKE_DRIVER, 0}); }
  static std::string& launched() {
    static std::string text;
    return text;
  }
  static bool& failing() {
    static bool fails = false;
    return fails;
  }
  using Launch = int32_t (*)(const void*, int64_t, void*);
  static Launch& launcher() {
    static Launch launch = nullptr;
    return launch;
  }

  void* library_ = nullptr;
};

/// A 3 by 4 matrix times 4 by 3.
struct Product {
  Product() {
    CooTensor sparse{{3, 4}, {{0, 0, 2, 2, 2}, {1, 3, 0, 1, 2}}, {1, 2, 3, 4, 5}};
    CooTensor dense{{4, 3}, {{}, {}}, {}};
    for (std::int64_t j = 0; j < 4; ++j) {
      for (std::int64_t k = 0; k < 3; ++k) {
        dense.coordinates[0].push_back(j);
        dense.coordinates[1].push_back(k);
        dense.values.push_back(static_cast<double>(10 * j + k + 1));
      }
    }
    PackOptions options;
    a = pack(sparse, format::parse("csr", 2, "A").value(), options).value();
    b = pack(dense, format::parse("dense", 2, "B").value(), options).value();
    c = zeros({3, 3}, format::parse("dense", 2, "B").value(), options).value();
  }
  std::vector<PackedTensor*> arguments() { return {&c, &a, &b}; }
  std::string result() const {
    std::string text;
    for (int at = 0; at < 9; ++at)
      text += (at == 0 ? "" : " ") + std::to_string(static_cast<int>(c.value(at)));
    return text;
  }
  PackedTensor a, b, c;
};

/// The times are those of the host, so that only their use is checked.
TEST_F(FakeGpu, RatesAreMeasuredStoredAndUsed) {
  const auto gpu = open();
  ASSERT_TRUE(gpu.ok()) << support::render(gpu.error());
  set<std::int64_t>("fake_to_device", 0);
  const auto rates = gpu->measure_rates();
  ASSERT_TRUE(rates.ok()) << support::render(rates.error());
  EXPECT_GT(*static_cast<std::int64_t*>(dlsym(library_, "fake_to_device")), 9 * (std::int64_t{64} << 20));
  EXPECT_GT(rates->bytes_per_second, 0);
  EXPECT_GT(rates->transferred_bytes_per_second, 0);
  EXPECT_GT(rates->transfer_seconds, 0);
  EXPECT_GE(rates->launch_seconds, 0);
  const test_support::TemporaryDirectory directory;
  const GpuRates known{2e12, 5e10, 3e-6, 4e-6};
  ASSERT_TRUE(store_gpu_rates(directory / "data", gpu->name(), known).ok());
  const auto again = Gpu::open({SCHAAS_FAKE_DRIVER, 0, directory / "data"});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->facts().bytes_per_second, 2e12);
  EXPECT_EQ(again->facts().transferred_bytes_per_second, 5e10);
  EXPECT_EQ(again->facts().transfer_seconds, 3e-6);
  EXPECT_EQ(again->facts().launch_seconds, 4e-6);
  EXPECT_EQ(gpu->facts().launch_seconds, GpuFacts().launch_seconds) << "without stored rates";
  EXPECT_FALSE(stored_gpu_rates(directory / "data", "Another GPU"));
  set<std::size_t>("fake_free_bytes", 1 << 20);
  EXPECT_TRUE(gpu->measure_rates().ok()) << "in the memory that is free";
}

TEST_F(FakeGpu, RunsAKernelAgainAndAgain) {
  const auto gpu = open();
  ASSERT_TRUE(gpu.ok()) << support::render(gpu.error());
  EXPECT_EQ(gpu->name(), "Fake GPU");
  EXPECT_EQ(gpu->architecture(), 90);
  const auto k = kernel();
  launcher() = k.descriptor().phases[0].launch;
  Product product;
  auto execution = GpuExecution::prepare(*gpu, k, product.arguments());
  ASSERT_TRUE(execution.ok()) << support::render(execution.error());
  EXPECT_EQ(image(), "module sm_90");
  for (int times = 0; times < 2; ++times) {
    const auto run = execution->run();
    ASSERT_TRUE(run.ok()) << support::render(run.error());
    EXPECT_EQ(product.result(), "73 76 79 0 0 0 152 164 176");
  }
  product.a.values().as<double>()[0] = 0;
  ASSERT_TRUE(execution->run().ok());
  EXPECT_EQ(product.result(), "62 64 66 0 0 0 152 164 176");
  // Five entries in a tile of 32, two pairs of columns: 64 threads.
  EXPECT_EQ(launched(), "schaas_phase_0 1 256\nschaas_phase_0 1 256\nschaas_phase_0 1 256\n");
}

TEST_F(FakeGpu, TakesTheModuleForTheDevice) {
  const auto k = kernel();
  Product product;
  const std::map<int, std::string> expected = {
      {80, "module sm_80"}, {86, "module sm_80"}, {100, "module compute_90"}};
  for (const auto& [architecture, module] : expected) {
    set<int>("fake_architecture", architecture);
    ASSERT_TRUE(GpuExecution::prepare(open().value(), k, product.arguments()).ok());
    EXPECT_EQ(image(), module);
  }
  set<int>("fake_architecture", 75);
  EXPECT_EQ(support::render(GpuExecution::prepare(open().value(), k, product.arguments()).error()),
            "unsupported [gpu-image]: the kernel has no module for Fake GPU (sm_75); kernels for the CPU "
            "(`--target cpu`) work");
}

TEST_F(FakeGpu, SaysWhatDoesNotFitBeforeItAllocates) {
  set<std::size_t>("fake_free_bytes", 100);
  Product product;
  const auto gpu = open().value();
  EXPECT_EQ(
      support::render(GpuExecution::prepare(gpu, kernel(), product.arguments()).error()),
      "exhausted [gpu-memory]: the kernel and its tensors need 1 MiB on Fake GPU, and 1 MiB are free there; "
      "kernels for the CPU (`--target cpu`) work");
}

TEST_F(FakeGpu, SaysWhatTheDriverSays) {
  const auto gpu = open().value();
  Product product;
  auto execution = GpuExecution::prepare(gpu, kernel(), product.arguments()).value();
  failing() = true;
  EXPECT_EQ(support::render(execution.run().error()),
            "internal [gpu-failed]: the GPU driver refused to launch `schaas_phase_0`: launch failed (719)");
}

TEST_F(FakeGpu, NoDriverAndNoDevice) {
  set<int>("fake_devices", 0);
  EXPECT_EQ(
      support::render(open().error()),
      "unsupported [no-gpu]: no GPU can be used: device 0 is asked for and the driver has 0; kernels for "
      "the CPU (`--target cpu`) work");
  EXPECT_EQ(support::render(Gpu::open({"libcuda-that-is-not-there.so.1", 0}).error()),
            "unsupported [no-gpu]: no GPU can be used: the NVIDIA driver's library "
            "`libcuda-that-is-not-there.so.1` is not installed; kernels for the CPU (`--target cpu`) work");
  EXPECT_EQ(
      support::render(Gpu::open({"libm.so.6", 0}).error()),
      "unsupported [no-gpu]: no GPU can be used: `libm.so.6` has no `cuInit`, so the driver is too old; "
      "kernels for the CPU (`--target cpu`) work");
}

/// Tensors that lie on the device: host code that touched them would end the test (fake_driver.c).
class OnDevice : public FakeGpu {
 protected:
  void SetUp() override {
    FakeGpu::SetUp();
    set<int (*)(const char*, unsigned, unsigned, void*)>("fake_launch", nullptr);  // of the emulation
    set<std::int64_t>("fake_launches", 0);
    device_ = std::make_unique<test_support::FakeDevice>(library_);
    a_ = device_->bring(product_.a);
    b_ = device_->bring(product_.b);
    c_ = device_->bring(product_.c);
  }
  void TearDown() override {
    EXPECT_FALSE(device_->has_current_context());
    EXPECT_EQ(device_->variable<std::int64_t>("fake_pending"), 0) << "nobody waited";
    device_.reset();
    FakeGpu::TearDown();
  }
  std::vector<PackedTensor*> arguments() { return {&c_, &a_, &b_}; }
  std::int64_t moved() const {
    return device_->variable<std::int64_t>("fake_to_device") +
           device_->variable<std::int64_t>("fake_to_host");
  }
  const std::vector<double> right_ = {73, 76, 79, 0, 0, 0, 152, 164, 176};
  Product product_;
  std::unique_ptr<test_support::FakeDevice> device_;
  PackedTensor a_, b_, c_;
};
using OnDeviceDeathTest = OnDevice;

TEST_F(OnDeviceDeathTest, TheHostCannotReadWhatLiesThere) {
  EXPECT_DEATH(std::fprintf(stderr, "%g", b_.value(0)), "");
}

TEST_F(OnDevice, IsReadAndWrittenWhereItLies) {
  const auto gpu = open().value();
  for (const PackedTensor* tensor : arguments()) EXPECT_TRUE(gpu.check_is_there(*tensor, "T").ok());
  const std::int64_t before = moved();
  auto execution = GpuExecution::prepare(gpu, kernel(), arguments()).value();
  ASSERT_TRUE(execution.run().ok());
  EXPECT_EQ(moved(), before) << "something was copied between host and device";
  EXPECT_EQ(execution.device_bytes(), execution.scratch_bytes());
  EXPECT_EQ(device_->values(c_), right_);
  // Values may change between runs.
  const double zero = 0;
  device_->copy(a_.values().data(), &zero, 8, nullptr);
  ASSERT_TRUE(execution.run().ok());
  EXPECT_EQ(device_->values(c_), (std::vector<double>{62, 64, 66, 0, 0, 0, 152, 164, 176}));
}

TEST_F(OnDevice, WhatLiesOnTheHostIsBrought) {
  const auto gpu = open().value();
  auto there = GpuExecution::prepare(gpu, kernel(), {&c_, &a_, &product_.b}).value();
  const std::int64_t before = moved();
  ASSERT_TRUE(there.run().ok());
  EXPECT_EQ(moved() - before, 12 * 8) << "the values of B";
  EXPECT_EQ(device_->values(c_), right_);
  auto back = GpuExecution::prepare(gpu, kernel(), {&product_.c, &a_, &b_}).value();
  ASSERT_TRUE(back.run().ok());
  EXPECT_EQ(product_.result(), "73 76 79 0 0 0 152 164 176");
}

TEST_F(OnDevice, RunsInTheOrderOfTheStreamAndReturnsBefore) {
  const auto gpu = open().value();
  void* const stream = device_->make_stream();
  const auto& pending = device_->variable<std::int64_t>("fake_pending");
  const auto k = kernel();  // its module goes with the last that has it, and waits then
  {
    auto execution = GpuExecution::prepare(gpu, k, arguments(), {}, stream).value();
    const double zero = 0;
    device_->copy(a_.values().data(), &zero, 8, stream);  // comes first
    ASSERT_TRUE(execution.run().ok());
    EXPECT_GE(pending, 2);
    EXPECT_EQ(device_->variable<std::int64_t>("fake_launches"), 0);
  }  // its memory is given back after the launch, not before
  EXPECT_EQ(device_->variable<std::int64_t>("fake_launches"), 0);
  device_->wait_for(stream);
  EXPECT_EQ(pending, 0);
  EXPECT_EQ(device_->variable<std::int64_t>("fake_launches"), 1);
  EXPECT_EQ(device_->values(c_), (std::vector<double>{62, 64, 66, 0, 0, 0, 152, 164, 176}));
  // A result on the host is there when the run returns.
  auto here = GpuExecution::prepare(gpu, k, {&product_.c, &a_, &b_}, {}, stream).value();
  ASSERT_TRUE(here.run().ok());
  EXPECT_EQ(pending, 0);
  EXPECT_EQ(product_.result(), "62 64 66 0 0 0 152 164 176");
  auto waited = GpuExecution::prepare(gpu, k, arguments(), {}, stream).value();
  ASSERT_TRUE(waited.run().ok());
  ASSERT_TRUE(waited.wait().ok());
  EXPECT_EQ(pending, 0);
  waited = std::move(here);  // the moved one gives its memory back
  device_->wait_for(stream);
  EXPECT_EQ(pending, 0);
}

TEST_F(OnDevice, WithoutPoolsGivingBackWaits) {
  set<int>("fake_pools", 0);
  const auto gpu = open().value();
  void* const stream = device_->make_stream();
  {
    auto execution = GpuExecution::prepare(gpu, kernel(), {&c_, &a_, &product_.b}, {}, stream).value();
    ASSERT_TRUE(execution.run().ok());
    EXPECT_GE(device_->variable<std::int64_t>("fake_pending"), 1);
  }
  EXPECT_EQ(device_->variable<std::int64_t>("fake_pending"), 0);
  EXPECT_EQ(device_->values(c_), right_);
  device_->end_stream(stream);
}

TEST_F(OnDevice, AStreamThatIsNoneIsToldByTheDriver) {
  int no_stream = 0;
  auto execution = GpuExecution::prepare(open().value(), kernel(), arguments(), {}, &no_stream).value();
  EXPECT_EQ(support::render(execution.run().error()),
            "internal [gpu-failed]: the GPU driver refused zeros on the device: other (400)");
}

TEST_F(OnDevice, AddressesAreLookedAt) {
  const auto gpu = open().value();
  const auto said = [&](const PackedTensor& tensor) {
    return support::render(gpu.check_is_there(tensor, "B").error());
  };
  const auto host = borrow_on_device(product_.b.view(), "B", 0).value();
  EXPECT_EQ(
      said(host),
      "invalid [not-on-device]: `B` is said to lie on Fake GPU, but its values lie in the host's memory");
  set<int>("fake_ordinal", 1);
  EXPECT_EQ(said(a_),
            "invalid [not-on-device]: `B` is said to lie on Fake GPU, but its positions lie on device 1, "
            "and the kernels run on device 0");
}

TEST_F(OnDevice, CountsAreLookedAtBeforeAnythingRuns) {
  schaas_tensor view = a_.view();
  std::vector<schaas_level> levels(view.levels, view.levels + 2);
  view.levels = levels.data();
  levels[0].entries = 4;
  EXPECT_EQ(support::render(borrow_on_device(view, "A", 0).error()),
            "invalid [tensor-structure]: `A` level 1: 4 entries, but 1 parents of extent 3");
  levels[0].entries = 3;
  levels[1].crd = nullptr;
  EXPECT_EQ(support::render(borrow_on_device(view, "A", 0).error()),
            "invalid [tensor-structure]: `A` level 2: arrays are missing");
}

TEST_F(OnDevice, RoomIsNeededForWhatIsNotThereYet) {
  const auto gpu = open().value();
  set<std::size_t>("fake_free_bytes", 15);
  auto there = GpuExecution::prepare(gpu, kernel(), arguments());
  ASSERT_TRUE(there.ok()) << support::render(there.error());
  EXPECT_EQ(
      support::render(GpuExecution::prepare(gpu, kernel(), {&c_, &a_, &product_.b}).error()),
      "exhausted [gpu-memory]: the kernel and its tensors need 1 MiB on Fake GPU besides those that lie "
      "there, and 1 MiB are free there; kernels for the CPU (`--target cpu`) work");
}

TEST_F(OnDevice, ASampledProductTakesTheArraysOfItsOperand) {
  // Y(i,j) = A(i,j) * C(i,k) * D(j,k), with C = 1 and D = B: sums of the rows of B at the entries of A.
  const std::string bytes = object_of("Y(i,j) = A(i,j) * C(i,k) * D(j,k)", {{"A", "csr"}, {"Y", "csr"}},
                                      "reorder(order={i,j,k}); threads(loop=i, each=1)");
  PackOptions options;
  auto ones = zeros({3, 3}, format::parse("dense", 2, "C").value(), options).value();
  for (int at = 0; at < 9; ++at) ones.values().as<double>()[at] = 1;
  const auto c = device_->bring(ones);
  auto result = pack(CooTensor{{3, 4}, {{}, {}}, {}}, format::parse("csr", 2, "Y").value(), options).value();
  const std::vector<double> wanted = {36, 2 * 96, 3 * 6, 4 * 36, 5 * 66};
  // The library makes the result: with the operand's entries, on the host.
  std::vector<PackedTensor*> here = {&result, &a_, const_cast<PackedTensor*>(&c), &b_};
  auto execution = GpuExecution::prepare(open().value(), loaded(bytes), here).value();
  ASSERT_TRUE(execution.run().ok());
  ASSERT_EQ(result.stored(), 5);
  for (std::size_t e = 0; e < 5; ++e) EXPECT_EQ(result.value(static_cast<std::int64_t>(e)), wanted[e]);
  EXPECT_EQ(result.levels()[1].crd.as<std::int64_t>()[1], 3);
  // Or the caller has it there: with the operand's own arrays.
  schaas_tensor view = a_.view();
  view.values = device_->bring(result.values());
  auto own = borrow_on_device(view, "Y", 0).value();
  here[0] = &own;
  auto there = GpuExecution::prepare(open().value(), loaded(bytes), here).value();
  const std::int64_t before = moved();
  ASSERT_TRUE(there.run().ok());
  EXPECT_EQ(moved(), before);
  EXPECT_EQ(device_->values(own), wanted);
  auto other = device_->bring(result);
  here[0] = &other;
  EXPECT_EQ(
      support::render(
          GpuExecution::prepare(open().value(), loaded(bytes), here, {"Y", "A", "C", "D"}).error()),
      "invalid [result-entries]: `Y` gets the entries of `A`: on the device its positions and coordinates "
      "must be those arrays");
}

TEST_F(OnDevice, AnUpdateStartsFromWhereverItsValuesLie) {
  const std::string bytes = object_of("C(i,k) += A(i,j) * B(j,k)", {{"A", "csr"}}, trace);
  for (int at = 0; at < 9; ++at) product_.c.values().as<double>()[at] = 1000;
  auto there = GpuExecution::prepare(open().value(), loaded(bytes), arguments()).value();
  ASSERT_TRUE(there.run(&product_.c).ok());  // of the host
  EXPECT_EQ(device_->values(c_)[0], 1073);
  ASSERT_TRUE(there.run().ok());  // of what it holds
  EXPECT_EQ(device_->values(c_)[0], 1146);
  auto here = GpuExecution::prepare(open().value(), loaded(bytes), {&product_.c, &a_, &b_}).value();
  ASSERT_TRUE(here.run(&c_).ok());  // of the device
  EXPECT_EQ(product_.c.value(0), 1219);
}

TEST_F(OnDevice, RowsAreMeasuredByTheirPositionsAlone) {
  const auto gpu = open().value();
  const std::int64_t before = moved();
  EXPECT_EQ(gpu.spreads(a_, nullptr).value(), spreads_of(product_.a));
  EXPECT_EQ(moved() - before, 4 * 8);
  EXPECT_EQ(entries_of(a_), entries_of(product_.a));
}

TEST(GpuKernels, ArgumentsAndBinariesAreChecked) {
  const std::string text = "no object";
  EXPECT_EQ(GpuKernel::load(text, support::digest_of(text)).error().code, "kernel-binary");
  EXPECT_EQ(GpuKernel::load(text, support::digest_of("another")).error().code, "kernel-digest");
}

TEST(GpuKernels, MoreThan32BitsCountIsRefused) {
  const GpuKernel one = loaded(object_of("C(i,k) = A(i,j) * B(j,k)", {{"A", "csr"}}, trace, 32));
  const auto blocks = [&](std::int64_t rows, std::int64_t entries) {
    const std::int32_t modes[] = {0, 1};
    const schaas_level dense[2] = {};
    schaas_level csr[2] = {};
    csr[0].entries = rows;
    csr[1] = {SCHAAS_LEVEL_COMPRESSED, 32, nullptr, nullptr, entries};
    const std::int64_t result[] = {rows, 4}, sparse[] = {rows, 30}, operand[] = {30, 4};
    const schaas_tensor tensors[] = {{2, SCHAAS_F64, result, modes, dense, nullptr},
                                     {2, SCHAAS_F64, sparse, modes, csr, nullptr},
                                     {2, SCHAAS_F64, operand, modes, dense, nullptr}};
    const schaas_tensor* const arguments[] = {&tensors[0], &tensors[1], &tensors[2]};
    const auto& phase = one.descriptor().phases[0];
    std::vector<std::max_align_t> parameters(static_cast<std::size_t>(phase.parameter_bytes));
    return phase.prepare(arguments, nullptr, nullptr, 0, parameters.data());
  };
  EXPECT_GT(blocks(40, 100), 0);
  EXPECT_GT(blocks(40, SCHAAS_GPU_MOST_ITERATIONS), 0);
  EXPECT_EQ(blocks(40, std::int64_t{SCHAAS_GPU_MOST_ITERATIONS} + 1), -1);
  EXPECT_EQ(blocks(std::int64_t{SCHAAS_GPU_MOST_ITERATIONS} + 1, 100), -1);
}

/// Compiled for a device and run on it, where there is one.
TEST(Device, IsThere) {
  const auto gpu = Gpu::open();
  if (!gpu.ok()) GTEST_SKIP() << support::render(gpu.error());
  EXPECT_GE(gpu->architecture(), 50);
  EXPECT_GT(gpu->memory_bytes(), 0);
}

}  // namespace
}  // namespace schaas::client
