#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/format/assembled_format.h"
#include "compiler/format/tensor_format.h"

// Tensor formats as text: names, levels, mode orders, and what they imply. Every mix of dense and compressed
// levels of up to four modes, in every mode order, is printed and read back. Access orders, from which legal
// loop orders follow, are compared with lists written by hand.
namespace schaas::format {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr auto D = LevelFormat::dense;
constexpr auto C = LevelFormat::compressed;

TensorFormat read(const std::string& text, int order) { return parse(text, order, "B").value(); }

TEST(Format, NamesStandForLevelsAndModeOrder) {
  EXPECT_EQ(read("dense", 3), (TensorFormat{{D, D, D}, {0, 1, 2}}));
  EXPECT_EQ(read("csr", 2), (TensorFormat{{D, C}, {0, 1}}));
  EXPECT_EQ(read("csc", 2), (TensorFormat{{D, C}, {1, 0}}));
  EXPECT_EQ(read("dcsr", 2), (TensorFormat{{C, C}, {0, 1}}));
  EXPECT_EQ(read("dcsc", 2), (TensorFormat{{C, C}, {1, 0}}));
  EXPECT_EQ(read("csf", 1), (TensorFormat{{C}, {0}}));
  EXPECT_EQ(read("csf", 4), (TensorFormat{{C, C, C, C}, {0, 1, 2, 3}}));
  EXPECT_EQ(read("compressed", 1), (TensorFormat{{C}, {0}}));
  EXPECT_EQ(read("dense", 0), (TensorFormat{{}, {}}));
  EXPECT_EQ(read("bcsr", 4), (TensorFormat{{D, C, D, D}, {0, 1, 2, 3}}));
  EXPECT_EQ(print(read("coo", 1)), "compressed:0");
  EXPECT_EQ(print(read("coo:1,0", 2)), "compressed(nonunique),singleton:1,0");
  EXPECT_EQ(print(read("coo", 3)), "compressed(nonunique),singleton(nonunique),singleton:0,1,2");
}

TEST(Format, LevelsMayCarryAModeOrder) {
  EXPECT_EQ(read("dense,compressed", 2), (TensorFormat{{D, C}, {0, 1}}));
  EXPECT_EQ(read("dense,compressed:1,0", 2), read("csc", 2));
  EXPECT_EQ(read("csf:2,0,1", 3), (TensorFormat{{C, C, C}, {2, 0, 1}}));
  EXPECT_EQ(read("dense:1,0", 2), (TensorFormat{{D, D}, {1, 0}}));
}

TEST(Format, CaseAndWhiteSpaceAreFree) {
  EXPECT_EQ(read(" CSR ", 2), read("csr", 2));
  EXPECT_EQ(read("Dense , compressed : 1 , 0", 2), read("csc", 2));
}

TEST(Format, PrintsLevelsAndModeOrder) {
  EXPECT_EQ(print(read("csc", 2)), "dense,compressed:1,0");
  EXPECT_EQ(print(read("csf", 3)), "compressed,compressed,compressed:0,1,2");
  EXPECT_EQ(print(read("dense", 1)), "dense:0");
  EXPECT_EQ(print(read("dense", 0)), "dense");
}

// Every format of up to four modes.
TEST(Format, PrintedFormatsReadBack) {
  int formats = 0;
  for (int order = 0; order <= 4; ++order) {
    std::vector<int> modes = dense(order).mode_order;
    do {
      for (int bits = 0; bits < 1 << order; ++bits) {
        TensorFormat format{{}, modes};
        for (int level = 0; level < order; ++level) format.levels.push_back((bits >> level & 1) != 0 ? C : D);
        const auto again = parse(print(format), order, "B");
        ASSERT_TRUE(again.ok()) << print(format);
        EXPECT_EQ(*again, format) << print(format);
        ++formats;
      }
    } while (std::next_permutation(modes.begin(), modes.end()));
  }
  EXPECT_EQ(formats, 1 + 2 + 2 * 4 + 6 * 8 + 24 * 16);
}

TEST(Format, ChainsOfSingletonsReadBack) {
  for (const char* text :
       {"coo", "dense,compressed(nonunique),singleton", "compressed(nonunique),singleton,dense"}) {
    const TensorFormat format = read(text, 3);
    EXPECT_EQ(parse(print(format), 3, "B").value(), format);
  }
}

TEST(Format, OneWordPutsALocatedLevelBelowDenseOnes) {
  EXPECT_EQ(print(read("bitmap", 1)), "bitmap:0");
  EXPECT_EQ(print(read("bitmap", 3)), "dense,dense,bitmap:0,1,2");
  EXPECT_EQ(print(read("Bitmap:1,0", 2)), "dense,bitmap:1,0");
  EXPECT_EQ(print(read("banded", 2)), "dense,banded:0,1");
  EXPECT_EQ(print(read("hashed:1,0", 2)), "dense,hashed:1,0");
  EXPECT_THAT(access_order(read("bitmap", 2)), ElementsAre(Pair(0, 1)));
}

TEST(Format, EveryLevelHasAName) {
  for (const LevelProperties& level : all_levels()) {
    EXPECT_EQ(&properties(level.format), &level);
    EXPECT_EQ(is_sparse(level.format), level.format != D) << level.name;
  }
}

TEST(Format, AssemblesLocatingLevelsAsLists) {
  for (const auto& [stored, written] : std::vector<std::pair<std::string, std::string>>{
           {"dense", "dense,dense:0,1"},
           {"csc", "dense,compressed:1,0"},
           {"coo", "compressed(nonunique),singleton:0,1"},
           {"dense,compressed(unordered)", "dense,compressed(unordered):0,1"},
           {"bitmap:1,0", "dense,compressed:1,0"},
           {"banded,hashed", "compressed,compressed:0,1"},
           {"hashed,dense", "compressed,dense:0,1"}}) {
    const TensorFormat found = assembled_format(read(stored, 2));
    EXPECT_EQ(print(found), written);
    EXPECT_EQ(assembled_format(found), found);
  }
}

TEST(Format, AllDenseSeesEveryLevel) {
  EXPECT_TRUE(dense(3).all_dense());
  EXPECT_TRUE(dense(0).all_dense());
  EXPECT_FALSE(read("csr", 2).all_dense());
  EXPECT_FALSE(read("compressed,dense", 2).all_dense());
}

TEST(Format, AccessOrderFollowsPositions) {
  EXPECT_THAT(access_order(dense(3)), IsEmpty());
  EXPECT_THAT(access_order(read("csf", 1)), IsEmpty());
  EXPECT_THAT(access_order(read("csr", 2)), ElementsAre(Pair(0, 1)));
  EXPECT_THAT(access_order(read("csf", 3)), ElementsAre(Pair(0, 1), Pair(0, 2), Pair(1, 2)));
  EXPECT_THAT(access_order(read("coo", 3)), ElementsAre(Pair(0, 1), Pair(0, 2), Pair(1, 2)));
  // Two dense levels may be bound in any order, but both before the compressed one below them.
  EXPECT_THAT(access_order(read("dense,dense,compressed", 3)), ElementsAre(Pair(0, 2), Pair(1, 2)));
  // Dense levels below a compressed one wait for its position, not for each other.
  EXPECT_THAT(access_order(read("compressed,dense,dense", 3)), ElementsAre(Pair(0, 1), Pair(0, 2)));
  EXPECT_THAT(access_order(read("dense,compressed,dense,dense", 4)),
              ElementsAre(Pair(0, 1), Pair(0, 2), Pair(1, 2), Pair(0, 3), Pair(1, 3)));
}

}  // namespace
}  // namespace schaas::format
