// Memory of buffers: recycled, cleared where that is promised, bounded.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "client/cpp/platform/block_cache.h"
#include "schaas/buffer.h"

namespace schaas::client {
namespace {

std::vector<void*> released;  // by the caches of these tests
void note(Block block) { released.push_back(block.data); }

class Blocks : public ::testing::Test {
 protected:
  static constexpr std::size_t kib = 1024;
  void SetUp() override { released.clear(); }
  Block block(std::size_t capacity) { return {&memory[next++], capacity}; }
  char memory[200] = {};
  int next = 0;
  BlockCache::Clock::time_point now = BlockCache::Clock::now();
};

TEST_F(Blocks, AreTakenForAboutTheSameSize) {
  BlockCache cache({1000 * kib}, note);
  const Block small = block(100 * kib), large = block(120 * kib);
  cache.give(large, now);
  cache.give(small, now);
  EXPECT_FALSE(cache.take(121 * kib, now));                // larger than any
  EXPECT_FALSE(cache.take(70 * kib, now));                 // less than four fifths
  EXPECT_EQ(cache.take(99 * kib, now)->data, small.data);  // the smallest that suits
  EXPECT_EQ(cache.take(99 * kib, now)->data, large.data);
  EXPECT_FALSE(cache.take(99 * kib, now));
  EXPECT_EQ(cache.bytes(), 0U);
  EXPECT_TRUE(released.empty());
}

TEST_F(Blocks, AreReleasedBeyondTheBounds) {
  BlockCache cache({300 * kib, 4}, note);
  const Block first = block(100 * kib), second = block(100 * kib);
  for (const Block& one : {first, second, block(100 * kib)}) cache.give(one, now);
  EXPECT_TRUE(released.empty());
  cache.give(block(150 * kib), now);  // the two given longest ago go
  EXPECT_EQ(released, (std::vector<void*>{first.data, second.data}));
  EXPECT_EQ(cache.bytes(), 250 * kib);
  const Block tiny = block(kib), huge = block(301 * kib);
  cache.give(tiny, now);
  cache.give(huge, now);
  EXPECT_EQ(released.size(), 4U);  // neither is kept
  BlockCache few({1000 * kib, 2}, note);
  for (int n = 0; n < 3; ++n) few.give(block(64 * kib), now);
  EXPECT_EQ(few.bytes(), 128 * kib);
}

TEST_F(Blocks, AreReleasedWhenTheyAreOldAndAtTheEnd) {
  {
    BlockCache cache({1000 * kib}, note);
    cache.give(block(100 * kib), now);
    cache.give(block(100 * kib), now + std::chrono::seconds(8));
    EXPECT_FALSE(cache.take(500 * kib, now + std::chrono::seconds(11)));
    EXPECT_EQ(cache.bytes(), 100 * kib);
  }
  EXPECT_EQ(released.size(), 2U);
}

bool is_zero(const Buffer& buffer) {
  return std::all_of(buffer.as<char>(), buffer.as<char>() + buffer.bytes(), [](char c) { return c == 0; });
}

TEST(BufferMemory, IsZeroAgainAfterItWasUsed) {
  for (const std::size_t bytes : {100U, 70'000U, 4'194'300U, 4'194'304U, 5'000'000U}) {
    for (int round = 0; round < 3; ++round) {
      Buffer buffer(bytes);
      ASSERT_EQ(buffer.bytes(), bytes);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0U);
      ASSERT_TRUE(is_zero(buffer)) << bytes << " round " << round;
      std::memset(buffer.data(), 7, bytes);
    }
  }
}

#ifndef __SANITIZE_ADDRESS__  // there freed memory is not used again
TEST(BufferMemory, IsUsedAgain) {
  for (const std::size_t bytes : {200'000U, 9'000'000U}) {
    const void* before = nullptr;
    {
      const Buffer buffer(bytes, Buffer::Contents::any);
      before = buffer.data();
    }
    const Buffer buffer(bytes - 1000, Buffer::Contents::any);
    EXPECT_EQ(buffer.data(), before);
  }
}
#endif

TEST(BufferMemory, KeepsItsContentsWhenItGrowsAndShrinks) {
  Buffer buffer(0);
  std::vector<int> expected;
  for (const std::size_t count :
       {10U, 5'000U, 100'000U, 30'000U, 900'000U, 3'000'000U, 2'900'000U, 400'000U, 20U}) {
    Buffer(4 * count + 64).as<char>();  // sometimes a freed block is there
    buffer.resize(4 * count);
    ASSERT_EQ(buffer.bytes(), 4 * count);
    ASSERT_GE(buffer.capacity(), 4 * count);
    const std::size_t kept = std::min(count, expected.size());
    ASSERT_TRUE(
        std::equal(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(kept), buffer.as<int>()))
        << count;
    expected.resize(count);
    for (std::size_t n = 0; n < count; ++n)
      expected[n] = buffer.as<int>()[n] = static_cast<int>(n * 2654435761U);
  }
  EXPECT_LE(buffer.capacity(), 64U << 10);
}

}  // namespace
}  // namespace schaas::client
