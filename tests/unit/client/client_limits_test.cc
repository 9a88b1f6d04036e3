// Limits of the client library that no tensor of a test is large enough to reach.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cpp/runtime/privatised_reduction.h"
#include "client/cpp/tensor/tensor_checks.h"
#include "client/cpp/tensor_io/line_reader.h"
#include "schaas/oracle.h"

namespace schaas::client {
namespace {

// ---- positions ----

TEST(Positions, Of32BitsHoldUpTo2147483647Entries) {
  constexpr std::int64_t largest = 2'147'483'647;
  EXPECT_TRUE(check_positions_fit(32, 10, largest, 0, "B").ok());
  EXPECT_EQ(
      support::render(check_positions_fit(32, 10, largest + 1, 1, "B").error()),
      "invalid [position-overflow]: level 2 of `B` has 2147483648 entries, too many for 32-bit positions: "
      "use 64-bit positions");
  EXPECT_TRUE(check_positions_fit(64, 10, largest + 1, 0, "B").ok());
  EXPECT_FALSE(check_positions_fit(32, largest + 1, 1, 0, "B").ok()) << "coordinates have the same width";
}

// ---- tolerances ----

TEST(Tolerance, IsThatOfRoundingAlone) {
  EXPECT_EQ(tolerance(ValueType::f64), 1e-10);
  EXPECT_EQ(tolerance(ValueType::f32), 1e-4);
}

// ---- privatised reduction ----

class Folding : public testing::Test {
 protected:
  std::int64_t pieces(std::int64_t elements) {
    const auto count = PrivatisedReduction::pieces(phase_, nullptr, elements, 8, 4, options_);
    EXPECT_LE((count - 1) * elements * 8, options_.folding_bytes) << elements << " elements";
    return count;
  }
  schaas_phase phase_ = [] {
    schaas_phase phase{};
    phase.work = [](const schaas_tensor* const*) { return 1e9; };
    return phase;
  }();
  ExecutionOptions options_;
};

TEST_F(Folding, StaysWithinItsMemory) {
  using Mode = ExecutionOptions::Folding;
  for (const Mode mode : {Mode::when_it_pays, Mode::always}) {
    for (const bool deterministic : {false, true}) {
      options_.folding = mode;
      options_.deterministic = deterministic;
      options_.folding_bytes = 800'000;
      EXPECT_GT(pieces(1000), 1);
      EXPECT_GT(pieces(10'000), 1);
      EXPECT_EQ(pieces(1'000'000), 1);
    }
  }
}

TEST_F(Folding, IsTheSameForAnyNumberOfThreadsOfADeterministicRun) {
  options_.deterministic = true;
  options_.folding_bytes = 800'000;
  for (const std::int64_t elements : {10, 10'000, 50'000}) {
    const auto alone = PrivatisedReduction::pieces(phase_, nullptr, elements, 8, 1, options_);
    EXPECT_EQ(PrivatisedReduction::pieces(phase_, nullptr, elements, 8, 16, options_), alone);
  }
}

// ---- lines ----

std::vector<std::string> lines_of(std::string bytes) {
  LineReader reader(FileSource::of_bytes("text", std::move(bytes)), {});
  std::vector<std::string> lines;
  for (;;) {
    std::string_view line;
    const auto more = reader.next(line);
    EXPECT_TRUE(more.ok());
    if (!more.ok() || !*more) return lines;
    lines.emplace_back(line);
  }
}

TEST(Lines, EndWithCarriageReturnsOrWithout) {
  EXPECT_THAT(lines_of("a\r\n\r\nb\nc\r\n"), testing::ElementsAre("a", "", "b", "c"));
  EXPECT_THAT(lines_of("a\r\nlast\r"), testing::ElementsAre("a", "last"));
  EXPECT_THAT(lines_of("a\rb\r\n"), testing::ElementsAre("a\rb"));
}

/// The buffer holds a mebibyte: ends of lines fall on both sides of its border, and between the two bytes.
TEST(Lines, EndWithCarriageReturnsAtTheBorderOfTheBuffer) {
  constexpr std::size_t buffer = std::size_t{1} << 20, width = 1000;
  for (std::size_t shift = 0; shift < 6; ++shift) {
    std::string bytes = std::string(buffer % width + shift, 'x') + "\r\n";
    std::size_t count = 1;
    while (bytes.size() < 3 * buffer) {
      bytes += std::string(width - 2, 'y') + "\r\n";
      ++count;
    }
    const auto lines = lines_of(bytes);
    ASSERT_EQ(lines.size(), count);
    for (const std::string& line : lines) ASSERT_EQ(line.find('\r'), std::string::npos);
  }
}

}  // namespace
}  // namespace schaas::client
