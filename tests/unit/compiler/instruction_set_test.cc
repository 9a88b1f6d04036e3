#include "compiler/support/instruction_set.h"

#include <gtest/gtest.h>

#include <set>

#include "compiler/support/schedule_id.h"

namespace schaas::support {
namespace {

TEST(InstructionSets, HaveDifferentNamesAndRanksOnEachDevice) {
  std::set<std::string> names;
  std::set<int> ranks;
  for (const InstructionSet& one : instruction_sets()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_EQ(find_instruction_set(one.name), &one);
    if (one.device == Device::processor) {
      EXPECT_TRUE(ranks.insert(one.rank).second) << one.name;
    }
  }
}

TEST(InstructionSets, KnowProcessorsGpusAndNothingElse) {
  EXPECT_EQ(find_instruction_set("x86-64-v9"), nullptr);
  EXPECT_EQ(find_instruction_set(native_isa())->name, "native");
  EXPECT_TRUE(is_for_gpu(gpu_isa));
  for (const std::string& isa : {default_isa, native_isa(), std::string("generic"), std::string("cuda2")})
    EXPECT_FALSE(is_for_gpu(isa)) << isa;
}

TEST(InstructionSets, OfHigherRankRunWhereLowerOnesDo) {
  EXPECT_TRUE(runs_here("generic"));
  EXPECT_TRUE(runs_here(native_isa()));
  EXPECT_FALSE(runs_here("native:00000000"));
  EXPECT_FALSE(runs_here(gpu_isa));
  for (const InstructionSet& high : instruction_sets()) {
    if (!runs_here(high.name)) continue;
    for (const InstructionSet& low : instruction_sets()) {
      if (low.device == Device::processor && low.rank < high.rank) {
        EXPECT_TRUE(runs_here(low.name)) << high.name << " runs, " << low.name << " does not";
      }
    }
  }
}

TEST(ScheduleIds, ArePrintedAndRead) {
  for (const std::string text : {"s1", "g20", "r300"}) {
    const auto id = parse_schedule_id(text);
    ASSERT_TRUE(id.has_value()) << text;
    EXPECT_EQ(print(*id), text);
  }
  EXPECT_EQ(parse_schedule_id("g20")->kind, ScheduleId::Kind::gpu);
  EXPECT_EQ(parse_schedule_id("g20")->number, 20U);
  EXPECT_TRUE(is_entry_id("s7"));
  EXPECT_TRUE(is_gpu_id("g7"));
}

TEST(ScheduleIds, AreNoOtherTexts) {
  for (const std::string text :
       {"", "s", "s1x", "p1.1", "linear", "s-1", "s 1", "reorder(order={i})", "s1234567890123456789", "S1"})
    EXPECT_FALSE(parse_schedule_id(text).has_value()) << text;
}

}  // namespace
}  // namespace schaas::support
