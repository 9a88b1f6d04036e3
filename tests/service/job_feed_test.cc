#include "server/jobs/job_feed.h"

#include <gtest/gtest.h>

#include "tests/support/temporary_directory.h"

// News of jobs over a store in a file. Reading an item's request is counted, since it is what costs: items
// are told to all who watch and read once. Those who are behind, or watch a job that was retried, hear what
// the store lists.
namespace schaas::server {
namespace {

using kernels_cache::ItemState;

class Feed : public testing::Test {
 protected:
  std::string submit(std::size_t count) {
    return store_->submit({"key", "me", "", 0, 0, std::vector<std::string>(count, "request")}).value();
  }
  void end(std::size_t count, ItemState state = ItemState::done) {
    for (std::size_t n = 0; n < count; ++n) {
      const auto item = store_->claim();
      ASSERT_TRUE(item.ok() && item->has_value());
      ASSERT_TRUE(store_->finish(**item, state, "", 1).value());
    }
  }
  static std::vector<std::uint64_t> numbers(const JobFeed::News& news) {
    std::vector<std::uint64_t> out;
    for (const auto& item : news.items) out.push_back(item->number);
    return out;
  }

  test_support::TemporaryDirectory directory_;
  const std::shared_ptr<kernels_cache::JobStore> store_ =
      kernels_cache::open_job_store(directory_ / "jobs.db", kernels_cache::system_clock()).value();
  int read_ = 0;
  JobFeed feed_{store_,
                [this](const std::string& request) {
                  ++read_;
                  return request;
                },
                std::chrono::milliseconds(0)};
};

TEST_F(Feed, ReadsAnItemOnceForAllWhoWatch) {
  const std::string id = submit(3);
  auto one = feed_.watch(id), two = feed_.watch(id);
  EXPECT_EQ(numbers(one.news(0).value()), std::vector<std::uint64_t>());
  end(2);
  const auto first = one.news(0).value(), second = two.news(0).value();
  EXPECT_EQ(numbers(first), (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(first.items, second.items);
  EXPECT_EQ(first.job.done, 2u);
  EXPECT_EQ(read_, 2);
  end(1);
  EXPECT_EQ(numbers(two.news(second.items.back()->ended).value()), std::vector<std::uint64_t>{2});
  EXPECT_EQ(numbers(one.news(0).value()), (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(read_, 3);
  EXPECT_TRUE(one.news(0)->job.finished());
}

TEST_F(Feed, ReadsTheStoreForThoseWhoAreBehind) {
  const std::string id = submit(2600);
  end(300);
  auto one = feed_.watch(id);
  const auto some = one.news(0).value();
  EXPECT_EQ(some.items.size(), 300u);
  EXPECT_FALSE(some.more);
  end(2300);
  std::uint64_t after = 0, told = 0;
  for (;;) {
    const auto news = one.news(after).value();
    for (const auto& item : news.items) {
      EXPECT_EQ(item->number, told++);
      after = item->ended;
    }
    if (!news.more && told == 2600) break;
    ASSERT_LE(told, 2600u);
  }
}

TEST_F(Feed, TellsOfNoEndsThatARetryTookBack) {
  const std::string id = submit(2);
  auto one = feed_.watch(id);
  end(1, ItemState::failed);
  const auto failed = one.news(0).value();
  EXPECT_EQ(numbers(failed), std::vector<std::uint64_t>{0});
  ASSERT_TRUE(store_->retry(id, 0).ok());
  EXPECT_EQ(numbers(one.news(0).value()), std::vector<std::uint64_t>());
  end(2);
  EXPECT_EQ(numbers(one.news(failed.items.back()->ended).value()), (std::vector<std::uint64_t>{0, 1}));
}

// Watchers that are late by different times read nothing again, and yet miss no change: what they are told
// says which changes it includes.
TEST_F(Feed, ReadsOnceInAnInterval) {
  JobFeed feed(
      store_, [](const std::string& request) { return request; }, std::chrono::hours(24));
  const std::string id = submit(3);
  auto one = feed.watch(id), two = feed.watch(id);
  EXPECT_EQ(numbers(one.news(0).value()), std::vector<std::uint64_t>());
  end(1);
  // The first call of a watch includes every change.
  const auto fresh = two.news(0).value();
  EXPECT_EQ(numbers(fresh), std::vector<std::uint64_t>{0});
  EXPECT_EQ(fresh.seen, store_->changes().of(id));
  end(1);
  const auto again = one.news(0).value();
  EXPECT_EQ(numbers(again), std::vector<std::uint64_t>{0});
  EXPECT_EQ(again.seen, fresh.seen);
  EXPECT_LT(again.seen, store_->changes().of(id));
}

TEST_F(Feed, ReadsChangesInTheNextInterval) {
  JobFeed feed(
      store_, [](const std::string& request) { return request; }, std::chrono::milliseconds(20));
  const std::string id = submit(1);
  auto one = feed.watch(id);
  EXPECT_EQ(numbers(one.news(0).value()), std::vector<std::uint64_t>());
  end(1);
  one.wait_for_next_interval();
  const auto news = one.news(0).value();
  EXPECT_EQ(numbers(news), std::vector<std::uint64_t>{0});
  EXPECT_TRUE(news.job.finished());
}

TEST_F(Feed, KnowsNoOtherJobs) {
  auto one = feed_.watch("j7");
  const auto news = one.news(0);
  ASSERT_FALSE(news.ok());
  EXPECT_EQ(news.error().code, "unknown-job");
}

}  // namespace
}  // namespace schaas::server
