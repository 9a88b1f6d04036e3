// The checks of whole arrays against plain loops, on arrays damaged in one place.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "client/cpp/tensor/entry_order.h"
#include "schaas/tensor.h"

namespace schaas::client {
namespace {

template <class Position>
struct Lists {
  std::vector<Position> pos{0};
  std::vector<std::vector<Position>> crd;
  std::vector<std::int64_t> extents;

  EntryLists<Position> view() const {
    EntryLists<Position> view;
    view.pos = pos.data();
    view.parents = static_cast<std::int64_t>(pos.size()) - 1;
    view.entries = static_cast<std::int64_t>(crd[0].size());
    for (const auto& level : crd) view.crd.push_back(level.data());
    view.extents = extents;
    return view;
  }
};

// Entries in order, by parent; some parents are empty.
template <class Position>
Lists<Position> random_lists(std::mt19937_64& random, std::size_t levels, int parents, int most) {
  Lists<Position> lists;
  lists.crd.resize(levels);
  lists.extents.assign(levels, 4 * most + 4);
  for (int p = 0; p < parents; ++p) {
    std::vector<std::vector<Position>> entries;
    for (int n = static_cast<int>(random() % static_cast<unsigned>(most + 1)); n > 0; --n) {
      std::vector<Position> entry;
      for (std::size_t l = 0; l < levels; ++l) {
        const std::int64_t some = l + 1 < levels ? 5 : lists.extents[l];
        entry.push_back(static_cast<Position>(random() % static_cast<std::uint64_t>(some)));
      }
      entries.push_back(entry);
    }
    std::sort(entries.begin(), entries.end());
    entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
    for (const auto& entry : entries)
      for (std::size_t l = 0; l < levels; ++l) lists.crd[l].push_back(entry[l]);
    lists.pos.push_back(static_cast<Position>(lists.crd[0].size()));
  }
  return lists;
}

template <class Position>
bool plain_in_order(const Lists<Position>& lists) {
  for (std::size_t p = 0; p + 1 < lists.pos.size(); ++p) {
    for (auto q = static_cast<std::size_t>(lists.pos[p]); q < static_cast<std::size_t>(lists.pos[p + 1]);
         ++q) {
      std::vector<Position> before, here;
      for (std::size_t l = 0; l < lists.crd.size(); ++l) {
        here.push_back(lists.crd[l][q]);
        if (here[l] < 0 || here[l] >= lists.extents[l]) return false;
        if (q > static_cast<std::size_t>(lists.pos[p])) before.push_back(lists.crd[l][q - 1]);
      }
      if (!before.empty() && !(before < here)) return false;
    }
  }
  return true;
}

template <class Position>
class EntryOrder : public ::testing::Test {};
using Positions = ::testing::Types<std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(EntryOrder, Positions);

TYPED_TEST(EntryOrder, AgreesWithPlainLoopsOnDamagedLists) {
  const std::uint64_t seed = 5;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  int accepted = 0, refused = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::size_t levels = 1 + random() % 3;
    const bool is_long = round % 50 == 0;  // several blocks
    auto lists = random_lists<TypeParam>(random, levels, is_long ? 2000 : static_cast<int>(random() % 6),
                                         is_long ? 12 : 4);
    ASSERT_TRUE(in_order(lists.view(), 1));
    if (lists.crd[0].empty()) continue;
    auto& level = lists.crd[random() % levels];
    const std::size_t at = random() % level.size();
    const TypeParam values[] = {-1,
                                0,
                                static_cast<TypeParam>(lists.extents[0]),
                                level[at == 0 ? 0 : at - 1],
                                std::numeric_limits<TypeParam>::max(),
                                std::numeric_limits<TypeParam>::min(),
                                static_cast<TypeParam>(level[at] + 1)};
    level[at] = values[random() % std::size(values)];
    const bool expected = plain_in_order(lists);
    ++(expected ? accepted : refused);
    for (const int threads : {1, 3})
      ASSERT_EQ(in_order(lists.view(), threads), expected) << "round " << round;
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 1000);
}

TYPED_TEST(EntryOrder, ComparesPairsUnderOneParentLikePlainLoops) {
  std::mt19937_64 random(9);
  int refused = 0;
  for (int round = 0; round < 400; ++round) {
    Lists<TypeParam> lists;
    lists.extents = {40, 50};
    lists.crd.resize(2);
    for (TypeParam row = 0; row < 40; ++row) {
      for (auto column = static_cast<TypeParam>(random() % 20); column < 50;
           column = static_cast<TypeParam>(column + 1 + random() % 20)) {
        lists.crd[0].push_back(row);
        lists.crd[1].push_back(column);
      }
    }
    lists.pos = {0, static_cast<TypeParam>(lists.crd[0].size())};
    ASSERT_TRUE(in_order(lists.view(), 1));
    auto& level = lists.crd[random() % 2];
    const std::size_t at = random() % level.size();
    const TypeParam values[] = {-1,
                                0,
                                40,
                                50,
                                level[at == 0 ? 0 : at - 1],
                                std::numeric_limits<TypeParam>::max(),
                                std::numeric_limits<TypeParam>::min(),
                                static_cast<TypeParam>(level[at] - 1)};
    level[at] = values[random() % std::size(values)];
    const bool expected = plain_in_order(lists);
    refused += expected ? 0 : 1;
    ASSERT_EQ(in_order(lists.view(), 1), expected) << "round " << round << ", entry " << at;
  }
  EXPECT_GT(refused, 200);
}

TYPED_TEST(EntryOrder, FindsOneDamagedEntryAmongManyOnSeveralThreads) {
  std::mt19937_64 random(6);
  auto lists = random_lists<TypeParam>(random, 1, 60000, 20);
  ASSERT_GT(lists.crd[0].size(), std::size_t{1} << 19);  // shared by the threads
  for (const int threads : {1, 2, 5}) ASSERT_TRUE(in_order(lists.view(), threads));
  for (std::size_t at : {std::size_t{0}, std::size_t{1023}, std::size_t{1024}, lists.crd[0].size() / 2,
                         lists.crd[0].size() - 1}) {
    const TypeParam before = std::exchange(lists.crd[0][at], static_cast<TypeParam>(lists.extents[0]));
    for (const int threads : {1, 2, 5}) {
      EXPECT_FALSE(in_order(lists.view(), threads)) << at;
    }
    lists.crd[0][at] = before;
  }
}

TYPED_TEST(EntryOrder, FindsNothingOutsideWhereEntriesAreInDisorder) {
  std::mt19937_64 random(8);
  auto lists = random_lists<TypeParam>(random, 1, 3000, 20);
  auto& level = lists.crd[0];
  std::shuffle(level.begin(), level.end(), random);
  for (const int threads : {1, 3}) {
    EXPECT_FALSE(in_order(lists.view(), threads));
    EXPECT_TRUE(inside_extents(lists.view(), threads));
    for (const std::size_t at : {std::size_t{0}, level.size() / 2, level.size() - 1}) {
      for (const TypeParam wrong : {TypeParam{-1}, static_cast<TypeParam>(lists.extents[0])}) {
        const TypeParam before = std::exchange(level[at], wrong);
        EXPECT_FALSE(inside_extents(lists.view(), threads)) << wrong << " at " << at;
        level[at] = before;
      }
    }
  }
}

TYPED_TEST(EntryOrder, CountsDistinctEntries) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    auto lists =
        random_lists<TypeParam>(random, 3, round % 10 == 0 ? 900 : static_cast<int>(random() % 6), 6);
    for (std::size_t levels = 3; levels > 0; --levels) {
      lists.crd.resize(levels);
      std::int64_t expected = 0;
      for (std::size_t p = 0; p + 1 < lists.pos.size(); ++p) {
        for (auto q = static_cast<std::size_t>(lists.pos[p]); q < static_cast<std::size_t>(lists.pos[p + 1]);
             ++q) {
          bool differs = q == static_cast<std::size_t>(lists.pos[p]);
          for (const auto& level : lists.crd) differs = differs || level[q] != level[q - 1];
          expected += differs ? 1 : 0;
        }
      }
      ASSERT_EQ(distinct(lists.view()), expected) << "round " << round << ", " << levels << " levels";
    }
  }
}

TYPED_TEST(EntryOrder, TakesExtentsBeyondThePositions) {
  Lists<TypeParam> lists;
  lists.pos = {0, 2};
  lists.crd = {{0, std::numeric_limits<TypeParam>::max()}};
  lists.extents = {std::numeric_limits<std::int64_t>::max()};
  EXPECT_EQ(in_order(lists.view(), 1), sizeof(TypeParam) == 4);  // of 64 bits: max is no coordinate below max
  lists.extents = {0};
  EXPECT_FALSE(in_order(lists.view(), 1));
}

TYPED_TEST(EntryOrder, FindsDescendingAndNegativePositions) {
  std::vector<TypeParam> pos(3000, 0);
  for (std::size_t p = 1; p < pos.size(); ++p) pos[p] = static_cast<TypeParam>(pos[p - 1] + (p % 3));
  const auto parents = static_cast<std::int64_t>(pos.size()) - 1;
  EXPECT_TRUE(ascend(pos.data(), parents, 1));
  for (const std::size_t at : {std::size_t{1}, std::size_t{1500}, pos.size() - 1}) {
    for (const TypeParam value : {std::numeric_limits<TypeParam>::min(), TypeParam{-1}}) {
      const TypeParam before = std::exchange(pos[at], value);
      EXPECT_FALSE(ascend(pos.data(), parents, 1)) << at;
      pos[at] = before;
    }
  }
  pos[1500] = std::numeric_limits<TypeParam>::max();
  EXPECT_FALSE(ascend(pos.data(), parents, 1));
}

TEST(Validation, NamesTheFirstEntryOutOfOrderAmongMany) {
  const std::int64_t extents[] = {1000, 50};
  const std::int32_t mode_order[] = {0, 1};
  std::vector<std::int32_t> pos{0}, crd;
  for (std::int32_t row = 0; row < 1000; ++row) {
    for (std::int32_t column = row % 7; column < 50; column += 5) crd.push_back(column);
    pos.push_back(static_cast<std::int32_t>(crd.size()));
  }
  std::vector<double> values(crd.size());
  const schaas_level levels[] = {
      {SCHAAS_LEVEL_DENSE, 0, nullptr, nullptr, 1000},
      {SCHAAS_LEVEL_COMPRESSED, 32, pos.data(), crd.data(), static_cast<std::int64_t>(crd.size())}};
  const auto message = [&] {
    const auto valid = validate({2, SCHAAS_F64, extents, mode_order, levels, values.data()}, "B");
    return valid.ok() ? "" : support::render(valid.error());
  };
  EXPECT_EQ(message(), "");
  const auto at = static_cast<std::size_t>(pos[700]) + 3;
  crd[at] = crd[at - 1];
  crd[at + 400] = 50;
  EXPECT_EQ(message(), "invalid [tensor-structure]: `B` level 2: coordinate " + std::to_string(crd[at]) +
                           " at position " + std::to_string(at) + " does not follow " +
                           std::to_string(crd[at - 1]) + ": sorted and unique is expected");
}

TEST(Validation, TakesAnyOrderWhereBoundsAloneAreChecked) {
  const std::int64_t extents[] = {2, 5};
  const std::int32_t mode_order[] = {0, 1};
  std::vector<std::int32_t> pos{0, 3, 4}, crd{4, 1, 1, 0};
  std::vector<double> values(4);
  const schaas_level levels[] = {{SCHAAS_LEVEL_DENSE, 0, nullptr, nullptr, 2},
                                 {SCHAAS_LEVEL_COMPRESSED, 32, pos.data(), crd.data(), 4}};
  const auto message = [&](Trust trust) {
    const auto valid = validate({2, SCHAAS_F64, extents, mode_order, levels, values.data()}, "B", 1, trust);
    return valid.ok() ? "" : valid.error().message;
  };
  EXPECT_EQ(message(Trust::bounds), "");
  EXPECT_NE(message(Trust::check), "");
  crd[2] = 5;
  EXPECT_EQ(message(Trust::bounds), "`B` level 2: coordinate 5 at position 2 is outside 0..4");
  crd[2] = 1;
  pos[1] = 5;
  EXPECT_EQ(message(Trust::bounds), "`B` level 2: position 2 is 4, below its predecessor 5");
}

}  // namespace
}  // namespace schaas::client
