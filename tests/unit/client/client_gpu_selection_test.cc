// What a client predicts for a GPU, and what it then takes: C(i,k) = A(i,j) * B(j,k), A csr, as the server
// describes its schedules.
#include "schaas/gpu_select.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>

namespace schaas::client {
namespace {

using testing::HasSubstr;

Variable extent(const std::string& index) { return {Variable::Kind::extent, index, "", 0}; }

/// Loops k, i, j.
GpuSchedule spmm(const std::string& id, int columns, int rows, int take, int share, int width,
                 bool segments) {
  GpuSchedule out;
  out.id = id;
  out.entry = "s1";
  out.trace = "trace " + id;
  out.tree = "kij";
  out.point = "{" + id + "}";
  GpuPhase phase;
  phase.columns = true;
  phase.columns_take = columns;
  phase.rows = rows;
  phase.take = take;
  phase.share = share;
  phase.width = width;
  phase.segments = segments;
  phase.side_by_side = std::max(1, (segments ? 32 : width) / share);
  phase.exclusive_writes = rows == 1;
  out.nondeterministic = !phase.exclusive_writes;
  out.phases = {phase};
  Nest nest;
  nest.loops = {
      {extent("k"), "k"}, {extent("i"), "i"}, {{Variable::Kind::fiber, "j", "A", 1}, "j", 0, false, 2}};
  nest.accesses = {{"C", false, 0b011, 0b001}, {"A", true, 0b110, 0b100}, {"B", false, 0b101, 0b001}};
  out.nests = {nest};
  return out;
}

const std::vector<GpuSchedule>& schedules() {
  static const std::vector<GpuSchedule> all = {
      spmm("row", 1, 1, 1, 1, 1, false),     spmm("row4", 4, 1, 1, 1, 1, false),
      spmm("shared8", 1, 1, 1, 8, 8, false), spmm("shared32", 1, 1, 1, 32, 32, false),
      spmm("segment", 1, 2, 1, 1, 32, true), spmm("chunk", 1, 2, 8, 1, 32, true),
  };
  return all;
}

/// A matrix of rows of about so many entries.
Sizes sizes(std::int64_t rows, double mean, double deviation, double largest, std::int64_t columns) {
  Sizes out;
  out.extents = {{"i", rows}, {"j", rows}, {"k", columns}};
  const auto entries = static_cast<std::int64_t>(static_cast<double>(rows) * mean);
  out.entries = {{"A", {rows, entries}}, {"B", {rows, rows * columns}}, {"C", {rows, rows * columns}}};
  out.spreads["A"] = {Spread{}, Spread{deviation, largest}};
  return out;
}

GpuSelection select(const Sizes& at, const GpuTarget& target = {}) {
  return GpuSelector(schedules()).select(at, ValueType::f32, target).value();
}
std::string taken(const Sizes& at, const GpuTarget& target = {}) {
  const auto selection = select(at, target);
  return selection.index < 0 ? "none" : schedules()[static_cast<std::size_t>(selection.index)].id;
}
double seconds(const Sizes& at, std::size_t which) { return select(at).evaluated[which].seconds; }

TEST(GpuSelection, StagingSuitsLongRowsAndWholeGroups) {
  auto staged = spmm("staged", 1, 1, 1, 1, 1, false);
  staged.phases.front().stage = 32;
  const GpuSelector both({spmm("row", 1, 1, 1, 1, 1, false), staged});
  const auto gain = [&](const Sizes& at) {
    const auto found = both.select(at, ValueType::f32, {}).value().evaluated;
    return found[0].seconds / found[1].seconds;
  };
  // Measured on an H200: 0.9 to 1.3 for 64 columns, less for short rows.
  const double long_rows = gain(sizes(100, 500, 0, 500, 64)), short_rows = gain(sizes(100'000, 3, 1, 9, 64));
  EXPECT_GT(long_rows, 0.9) << "threads wait for their entries";
  EXPECT_GT(long_rows, short_rows);
  EXPECT_LT(short_rows, 1);
  EXPECT_LT(gain(sizes(100'000, 30, 1, 35, 8)), 1) << "24 of 32 threads have no column";
}

TEST(GpuSelection, ARowWithMostOfTheEntriesIsShared) {
  // One thread would walk two million entries.
  const auto skewed = sizes(200'000, 20, 4'500, 2'000'000, 4);
  const std::string id = taken(skewed);
  EXPECT_TRUE(id == "segment" || id == "chunk") << id;
  EXPECT_GT(seconds(skewed, 0), 10 * seconds(skewed, 4));
  EXPECT_GT(seconds(skewed, 0), 5 * seconds(skewed, 3))
      << "32 threads for the row are as many times faster, about";
}

TEST(GpuSelection, EvenRowsNeedNoIndivisibleWrites) {
  for (const std::int64_t columns : {1, 4, 64}) {
    const auto even = sizes(1'000'000, 16, 0, 16, columns);
    const std::string id = taken(even);
    EXPECT_TRUE(id == "row" || id == "row4" || id == "shared8" || id == "shared32") << columns << " " << id;
  }
}

TEST(GpuSelection, LanesAlongWideRowsReadNeighbours) {
  const auto wide = sizes(1'000'000, 16, 0, 16, 128);
  EXPECT_LT(seconds(wide, 0), seconds(wide, 3)) << "32 threads of a row read 32 rows of B";
  const auto one = sizes(1'000'000, 16, 0, 16, 1);
  EXPECT_LT(seconds(one, 2), seconds(one, 0)) << "neighbours along a row read neighbouring entries";
}

/// Y(i,j) = A(i,j) * C(i,k) * D(j,k) at the entries of A, loops i, j, k: `share` threads have those of a row.
GpuSchedule sddmm(int share) {
  GpuSchedule out = spmm("shared" + std::to_string(share), 1, 1, 1, share, 1, false);
  out.phases.front().columns = false;
  out.phases.front().side_by_side = 32 / share;
  Nest& nest = out.nests.front();
  nest.loops = {
      {extent("i"), "i"}, {{Variable::Kind::fiber, "j", "A", 1}, "j", 0, false, 2}, {extent("k"), "k"}};
  nest.accesses = {{"Y", false, 0b011, 0b010},
                   {"A", true, 0b011, 0b010},
                   {"C", false, 0b101, 0b100},
                   {"D", false, 0b110, 0b100}};
  return out;
}

TEST(GpuSelection, ThreadsThatShareTheEntriesOfARowWriteEachOnce) {
  const GpuSelector selector({sddmm(1), sddmm(8), sddmm(32)});
  const auto even = selector.select(sizes(1'000'000, 32, 0, 32, 16), ValueType::f32, {}).value();
  EXPECT_NE(even.index, 0) << "neighbours read and write neighbouring entries";
  EXPECT_LT(even.evaluated[2].seconds, even.evaluated[0].seconds);
  const auto skewed = selector.select(sizes(200'000, 20, 4'500, 100'000, 16), ValueType::f32, {}).value();
  EXPECT_GT(skewed.evaluated[0].seconds, 10 * skewed.evaluated[2].seconds) << "the longest row is shared";
}

/// Y(i,l) = A(i,j) * C(i,k) * D(j,k) * E(j,l) as ij<k,l>: `share` threads have a row.
GpuSchedule fused(int share) {
  GpuSchedule out = sddmm(share);
  Nest& sum = out.nests.front();
  sum.accesses = {
      {"t1", false, 0, 0}, {"A", true, 0b011, 0b010}, {"C", false, 0b101, 0b100}, {"D", false, 0b110, 0b100}};
  Nest elements = sum;
  elements.loops[2] = {extent("l"), "l"};
  elements.accesses = {{"Y", false, 0b101, 0b100}, {"t1", false, 0, 0}, {"E", false, 0b110, 0b100}};
  elements.shared = 2;
  out.nests.push_back(elements);
  return out;
}

TEST(GpuSelection, ThreadsThatShareARowAroundABranchReadNeighbours) {
  const GpuSelector selector({fused(1), fused(8), fused(32)});
  for (const std::int64_t wide : {64, 128}) {
    auto at = sizes(500'000, 16, 0, 16, wide);
    at.extents["l"] = wide;
    const auto selection = selector.select(at, ValueType::f32, {}).value();
    EXPECT_NE(selection.index, 0) << wide;
    EXPECT_LT(2 * selection.evaluated[1].seconds, selection.evaluated[0].seconds) << wide;
  }
}

TEST(GpuSelection, MoreWorkTakesMoreTime) {
  for (std::size_t s = 0; s < schedules().size(); ++s) {
    const double small = seconds(sizes(1'000'000, 8, 2, 20, 16), s);
    EXPECT_LT(small, seconds(sizes(1'000'000, 16, 2, 20, 16), s)) << schedules()[s].id;
    EXPECT_LT(small, seconds(sizes(1'000'000, 8, 2, 20, 64), s)) << schedules()[s].id;
    EXPECT_LT(small, seconds(sizes(4'000'000, 8, 2, 20, 16), s)) << schedules()[s].id;
    EXPECT_LE(small, seconds(sizes(1'000'000, 8, 200, 90'000, 16), s)) << schedules()[s].id;
    EXPECT_GE(seconds(sizes(0, 0, 0, 0, 0), s), GpuFacts().launch_seconds);
    EXPECT_TRUE(std::isfinite(seconds(sizes(0, 0, 0, 0, 0), s)));
  }
}

TEST(GpuSelection, WhatDoesNotFitIsPassedOverAndTheReasonTold) {
  GpuTarget target;
  target.device.name = "Fake";
  target.device.free_bytes = 1 << 20;
  target.tensor_bytes = 1 << 19;
  auto with_workspace = schedules();
  for (std::size_t s = 0; s < 5; ++s)
    with_workspace[s].memory_terms = {{1, {extent("k")}, false, Scope::thread}};
  const GpuSelector selector(with_workspace);
  const auto at = sizes(200'000, 20, 4'500, 2'000'000, 4);
  const auto some = selector.select(at, ValueType::f32, target).value();
  EXPECT_EQ(some.index, 5);
  EXPECT_THAT(some.reason,
              HasSubstr("; 5 that need more memory than the 1.0 MiB are free on Fake are passed over"));
  target.tensor_bytes = 1 << 21;
  const auto none = selector.select(at, ValueType::f32, target).value();
  EXPECT_EQ(none.index, -1);
  EXPECT_EQ(none.reason,
            "no schedule for a GPU fits its memory: the least needs 2.0 MiB, and 1.0 MiB are free on Fake");
}

TEST(GpuSelection, DeterministicLeavesChanceOut) {
  GpuTarget target;
  target.deterministic = true;
  const auto skewed = sizes(200'000, 20, 4'500, 2'000'000, 4);
  EXPECT_EQ(taken(skewed, target), "shared32");
  EXPECT_THAT(select(skewed, target).reason, HasSubstr("; 2 nondeterministic ones are left out"));
}

TEST(GpuSelection, TheWayThereAndBackCounts) {
  GpuTarget target;
  target.level_bytes = 12e9;
  target.value_bytes = 1.2e9;
  target.result_bytes = 1.2e9;
  const auto even = sizes(1'000, 16, 0, 16, 4);
  EXPECT_NEAR(select(even, target).copy_seconds, 1.2, 1e-9);
  target.runs = 100;
  EXPECT_NEAR(select(even, target).copy_seconds, 0.21, 1e-9) << "levels go once";
  EXPECT_THAT(select(even, target).reason, HasSubstr(" and 210 ms for the way there and back"));
  EXPECT_EQ(select(even).copy_seconds, 0) << "tensors that lie there";
}

TEST(GpuSelection, NothingToSelectFrom) {
  const auto selection = GpuSelector({}).select(sizes(10, 1, 0, 1, 1), ValueType::f32, {}).value();
  EXPECT_EQ(selection.index, -1);
  EXPECT_EQ(selection.reason, "no schedule of the frontier runs on a GPU");
  Sizes unknown;
  EXPECT_EQ(GpuSelector(schedules()).select(unknown, ValueType::f32, {}).error().code, "unknown-size");
}

TEST(Spreads, AreOfTheEntriesOfEachParent) {
  CooTensor entries{{4, 9}, {{0, 0, 0, 0, 2, 2}, {0, 1, 2, 3, 0, 8}}, {1, 2, 3, 4, 5, 6}};
  const auto packed = pack(entries, format::parse("csr", 2, "A").value(), {}).value();
  const auto spreads = spreads_of(packed);
  ASSERT_EQ(spreads.size(), 2u);
  EXPECT_EQ(spreads[0], Spread{});
  EXPECT_EQ(spreads[1].largest, 4);
  EXPECT_NEAR(spreads[1].deviation, std::sqrt(20.0 / 4 - 1.5 * 1.5), 1e-12);
}

}  // namespace
}  // namespace schaas::client
