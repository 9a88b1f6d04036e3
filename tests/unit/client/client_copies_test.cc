// Operands that a kernel reads from copies in another storage: made once, up to date at every run.
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <random>
#include <sstream>

#include "client/cpp/api/converted_result.h"
#include "client/cpp/tensor/overlap.h"
#include "client/cpp/tensor/stored_copy.h"
#include "compiler/format/assembled_format.h"
#include "schaas/convert.h"
#include "schaas/kernel.h"
#include "schaas/trial.h"

namespace schaas::client {
namespace {

support::Result<Kernel> load(const std::string& variant) {
  std::ifstream file(std::string(SCHAAS_FIXTURE_DIR) + "/libclient_copies_" + variant + ".so",
                     std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  EXPECT_FALSE(bytes.str().empty()) << variant;
  return Kernel::load(bytes.str(), support::digest_of(bytes.str()));
}

format::TensorFormat format_of(const std::string& text, int order) {
  return *format::parse(text, order, "B");
}

CooTensor random_tensor(std::vector<std::int64_t> extents, int entries, std::mt19937_64& random) {
  CooTensor tensor;
  tensor.extents = std::move(extents);
  tensor.coordinates.resize(tensor.extents.size());
  for (int e = 0; e < entries; ++e) {
    for (std::size_t m = 0; m < tensor.extents.size(); ++m)
      tensor.coordinates[m].push_back(
          static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(tensor.extents[m])));
    tensor.values.push_back(static_cast<double>(random() % 64) / 8 + 0.125);
  }
  return tensor;
}

std::vector<double> values_of(const PackedTensor& tensor) {
  std::vector<double> values;
  for (std::int64_t p = 0; p < tensor.stored(); ++p) values.push_back(tensor.value(p));
  return values;
}

// The copy is what convert() makes, and follows every stored value of the original, zeros of dense levels
// too.
TEST(OperandCopies, follow_the_values_of_the_original) {
  constexpr std::uint64_t seed = 11;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const std::vector<std::pair<std::string, std::string>> matrices{
      {"csr", "csc"},     {"csc", "csr"},         {"dcsr", "dcsc"},
      {"coo", "coo:1,0"}, {"dense", "dense:1,0"}, {"compressed,dense:0,1", "compressed,dense:1,0"}};
  for (const auto& [from, to] : matrices) {
    for (const auto type : {ValueType::f64, ValueType::f32}) {
      const CooTensor entries = random_tensor({17, 23}, 60, random);
      PackedTensor original = *pack(entries, format_of(from, 2), {"B", type, 32});
      StoredCopy copy = *StoredCopy::make(original, format_of(to, 2), {"B", 2});
      for (int round = 0; round < 2; ++round) {
        for (int thread = 0; thread < 3; ++thread) copy.refresh(thread, 3);
        const PackedTensor wanted = *convert(original, format_of(to, 2), {"B"});
        EXPECT_EQ(values_of(*convert(copy.tensor(), format::dense(2), {"B"})),
                  values_of(*convert(wanted, format::dense(2), {"B"})))
            << from << " to " << to << ", round " << round;
        for (std::int64_t p = 0; p < original.stored(); ++p) {
          const double value = static_cast<double>(random() % 5);
          if (type == ValueType::f64) original.values().as<double>()[p] = value;
          if (type == ValueType::f32) original.values().as<float>()[p] = static_cast<float>(value);
        }
      }
    }
  }
  const CooTensor cube = random_tensor({5, 7, 6}, 40, random);
  const PackedTensor original = *pack(cube, format_of("csf", 3), {"B", ValueType::f64, 64});
  StoredCopy copy = *StoredCopy::make(original, format_of("csf:2,0,1", 3), {"B"});
  copy.refresh(0, 1);
  EXPECT_EQ(values_of(copy.tensor()), values_of(*pack(cube, format_of("csf:2,0,1", 3), {"B"})));
  EXPECT_EQ(copy.bytes(), static_cast<std::int64_t>(copy.tensor().bytes()) + 8 * original.stored());
}

// Results that kernels write as lists: what convert() makes of them, in every run, whoever took the last one.
TEST(ConvertedResults, follow_what_is_written) {
  constexpr std::uint64_t seed = 12;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const double infinity = std::numeric_limits<double>::infinity();
  for (const std::string to : {"bitmap", "banded", "hashed", "hashed,hashed", "banded:1,0"}) {
    for (const auto type : {ValueType::f64, ValueType::f32}) {
      const format::TensorFormat format = format_of(to, 2);
      PackedTensor written = *pack(random_tensor({17, 23}, 60, random), format::assembled_format(format),
                                   {"A", type, 32, infinity});
      PackedTensor place;
      ConvertedResult own(format, "A", nullptr), given(format, "A", &place);
      for (int round = 0; round < 6; ++round) {
        SCOPED_TRACE(to + ", round " + std::to_string(round));
        ASSERT_TRUE(own.bring(written, 1 + round % 3).ok());
        ASSERT_TRUE(given.bring(written, 2).ok());
        EXPECT_EQ(&given.tensor(), &place);
        const PackedTensor wanted = *convert(written, format, {"A"});
        for (PackedTensor* found : {&own.tensor(), &place}) {
          ASSERT_TRUE(validate(found->view(), "A").ok());
          EXPECT_EQ(found->format(), format);
          EXPECT_EQ(found->fill_value(), infinity);
          EXPECT_EQ(values_of(*convert(*found, format::dense(2), {"A"})),
                    values_of(*convert(wanted, format::dense(2), {"A"})));
        }
        if (round == 0 || round == 3) const PackedTensor taken = std::move(own.tensor());
        for (std::int64_t p = 0; p < written.stored(); ++p) {
          const double value = static_cast<double>(random() % 5);
          if (type == ValueType::f64) written.values().as<double>()[p] = value;
          if (type == ValueType::f32) written.values().as<float>()[p] = static_cast<float>(value);
        }
      }
    }
  }
}

TEST(ConvertedResults, AreCopiedToMemoryOfAnOperand) {
  std::vector<double> memory = {7, 7, 7, 7};
  const PackedTensor written = *pack(CooTensor{{3}, {{0, 2}}, {1, 2}}, format::dense(1), {"y"});
  schaas_tensor view = written.view();
  view.values = memory.data() + 1;
  PackedTensor place = *borrow(view, "y", 0);
  ConvertedResult result(format::dense(1), "y", &place);
  ASSERT_TRUE(result.bring(written, 1).ok());
  EXPECT_EQ(&result.tensor(), &place);
  EXPECT_EQ(memory, (std::vector<double>{7, 1, 0, 2}));
}

/// A vector of three elements at an address.
PackedTensor vector_at(double* values) {
  static const std::int64_t extents[] = {3};
  static const std::int32_t order[] = {0};
  static const schaas_level levels[] = {{SCHAAS_LEVEL_DENSE, 0, nullptr, nullptr, 3}};
  return *borrow({1, SCHAAS_F64, extents, order, levels, values}, "x", 0);
}

TEST(Overlap, IsOfBytesThatBothHave) {
  std::vector<double> memory(10);
  const PackedTensor result = vector_at(&memory[3]);
  for (int at = 0; at < 8; ++at) {
    PackedTensor x = vector_at(&memory[static_cast<std::size_t>(at)]);
    const std::map<std::string, PackedTensor*> operands = {{"x", &x}};
    const std::string* const shared = overlapping_operand(result, operands, nullptr);
    EXPECT_EQ(shared != nullptr, at > 0 && at < 6) << at;
    if (shared != nullptr) {
      EXPECT_EQ(*shared, "x");
    }
    const bool updated_in_place = at == 3;  // it is read before it is written
    EXPECT_EQ(overlapping_operand(result, operands, &x) == nullptr, shared == nullptr || updated_in_place)
        << at;
  }
}

TEST(Overlap, GivesOperandsLevelsOfTheirOwn) {
  PackedTensor b = *pack(CooTensor{{2, 3}, {{0, 0, 1}, {0, 2, 2}}, {1, 2, 4}}, format_of("csr", 2),
                         {"B", ValueType::f64, 64});
  const std::map<std::string, PackedTensor*> operands = {{"B", &b}};
  EXPECT_TRUE(KeptLevels::of(operands, vector_at(b.values().as<double>()))->own.empty());
  auto* const positions = b.view().levels[1].pos;
  const auto kept = KeptLevels::of(operands, vector_at(static_cast<double*>(const_cast<void*>(positions))));
  ASSERT_EQ(kept->own.size(), 1);
  const PackedTensor& own = *kept->operands.at("B");
  EXPECT_NE(own.levels()[1].pos.data(), positions);
  EXPECT_EQ(own.values().data(), b.values().data());
  EXPECT_EQ(values_of(own), values_of(b));
}

struct Columns {
  PackedTensor b = *pack(CooTensor{{2, 3}, {{0, 0, 1}, {0, 2, 2}}, {1, 2, 4}}, format_of("csr", 2),
                         {"B", ValueType::f64, 32});
  PackedTensor y = *zeros({3}, format::dense(1), {"y", ValueType::f64, 32});
};

TEST(OperandCopies, are_up_to_date_at_every_run) {
  const auto kernel = load("good");
  ASSERT_TRUE(kernel.ok()) << support::render(kernel.error());
  for (const int threads : {1, 3}) {
    Columns tensors;
    ExecutionOptions options;
    options.threads = threads;
    auto execution = Execution::prepare(*kernel, {&tensors.y, &tensors.b}, options);
    ASSERT_TRUE(execution.ok()) << support::render(execution.error());
    ASSERT_EQ(execution->copies().size(), 1U);
    EXPECT_EQ(execution->copies()[0].argument, 1);
    EXPECT_EQ(execution->copies()[0].format, "dense,compressed:1,0");
    EXPECT_EQ(execution->copies()[0].bytes, 4 * 4 + 3 * 4 + 3 * 8 + 3 * 8);
    ASSERT_TRUE(execution->run().ok());
    EXPECT_EQ(values_of(tensors.y), (std::vector<double>{1, 0, 6}));
    tensors.b.values().as<double>()[1] = 10;
    ASSERT_TRUE(execution->run().ok());
    EXPECT_EQ(values_of(tensors.y), (std::vector<double>{1, 0, 14}));
    ASSERT_TRUE(execution->rerun_values().ok());
    EXPECT_EQ(values_of(tensors.y), (std::vector<double>{1, 0, 14}));
  }
}

TEST(OperandCopies, stay_as_they_are_when_the_caller_promises_that_operands_do) {
  Columns tensors;
  ExecutionOptions options;
  options.operands_change = false;
  auto execution = Execution::prepare(*load("good"), {&tensors.y, &tensors.b}, options);
  ASSERT_TRUE(execution.ok()) << support::render(execution.error());
  tensors.b.values().as<double>()[1] = 10;
  ASSERT_TRUE(execution->run().ok());
  EXPECT_EQ(values_of(tensors.y), (std::vector<double>{1, 0, 6}));
}

TEST(OperandCopies, are_made_in_trials_too) {
  const auto trial = try_kernel(*load("good"), 5);
  ASSERT_TRUE(trial.ok()) << support::render(trial.error());
  EXPECT_EQ(trial->runs, 28);  // seven shapes, two numbers of threads, twice
}

TEST(OperandCopies, of_no_operand_are_refused) {
  const auto kernel = load("of_itself");
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(
      support::render(kernel.error()),
      "invalid [kernel-binary]: the kernel binary cannot be used: a copy of an argument that is no operand");
  Columns tensors;
  const auto execution = Execution::prepare(*load("twice_a_mode"), {&tensors.y, &tensors.b}, {});
  ASSERT_FALSE(execution.ok());
  EXPECT_EQ(support::render(execution.error()),
            "invalid [kernel-binary]: the kernel binary cannot be used: it wants a copy whose modes are no "
            "permutation");
}

}  // namespace
}  // namespace schaas::client
