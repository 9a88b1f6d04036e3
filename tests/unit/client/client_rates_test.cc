#include "schaas/rates.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/support/temporary_directory.h"

// Machine parameters derived from measured rates, and the file that keeps them. Rates are given numbers;
// nothing is timed. A level of memory that measures faster than the one before it counts as equally fast, so
// no parameter is negative. The file is altered in one word at a time: its version, host, names or numbers.
// Each altered file must give the defaults.
namespace schaas::client {
namespace {

TEST(Rates, follow_from_what_was_measured) {
  const Rates rates = rates_of({{"first-level cache", 1, 1, 0.05},
                                {"second-level cache", 2, 1, 0.1},
                                {"last-level cache", 3, 1, 0.4},
                                {"memory", 4, 1, 1.2},
                                {"memory", 4, 8, 0.3}});
  EXPECT_DOUBLE_EQ(rates.nanoseconds, 0.1);
  EXPECT_DOUBLE_EQ(rates.in_first, 0.5);
  EXPECT_DOUBLE_EQ(rates.beyond_first, 0.5);
  EXPECT_DOUBLE_EQ(rates.beyond_second, 3);
  EXPECT_DOUBLE_EQ(rates.beyond_last, 8);
  EXPECT_DOUBLE_EQ(rates.memory_threads, 4);
}

TEST(Rates, never_say_that_further_away_is_faster) {
  const Rates rates = rates_of({{"", 1, 1, 0.2}, {"", 2, 1, 0.1}, {"", 3, 1, 0.15}, {"", 4, 1, 0.1}});
  EXPECT_EQ(rates, (Rates{0.2, 1, 0, 0, 0, 1}));
  EXPECT_EQ(
      rates_of({{"", 1, 1, 1}, {"", 2, 1, 1}, {"", 3, 1, 1}, {"", 4, 1, 1}, {"", 4, 2, 3}}).memory_threads,
      1);
}

class StoredRates : public ::testing::Test {
 protected:
  std::string text() const {
    std::ifstream file(directory_ / "rates");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void replace(const std::string& what, const std::string& by) {
    std::string changed = text();
    const auto at = changed.find(what);
    ASSERT_NE(at, std::string::npos) << changed;
    std::ofstream(directory_ / "rates") << changed.replace(at, what.size(), by);
  }

  test_support::TemporaryDirectory directory_;
  const Rates rates_{0.1, 0.4, 0.6, 1.0 / 3, 7, 1.5};
};

TEST_F(StoredRates, come_back_to_the_last_bit) {
  EXPECT_EQ(stored_rates(directory_.path()), Rates());
  ASSERT_TRUE(store_rates(directory_.path(), rates_).ok());
  EXPECT_EQ(stored_rates(directory_.path()), rates_);
}

TEST_F(StoredRates, of_another_host_or_damaged_are_not_used) {
  for (const auto& [what, by] : {std::pair<std::string, std::string>{"schaas-rates 1", "schaas-rates 2"},
                                 {"host ", "host an abacus "},
                                 {"in_first 0.4", "in_first 0.4x"},
                                 {"in_first 0.4", "in_first nan"},
                                 {"in_first 0.4", "in_first -1"},
                                 {"in_first", "in_second"},
                                 {"nanoseconds 0.1", "nanoseconds 0"},
                                 {"memory_threads 1.5\n", ""}}) {
    ASSERT_TRUE(store_rates(directory_.path(), rates_).ok());
    replace(what, by);
    EXPECT_EQ(stored_rates(directory_.path()), Rates()) << text();
  }
}

TEST_F(StoredRates, make_their_directory) {
  const std::string below = directory_ / "data/schaas";
  ASSERT_TRUE(store_rates(below, rates_).ok());
  EXPECT_EQ(stored_rates(below), rates_);
  EXPECT_EQ(std::filesystem::status(below).permissions(), std::filesystem::perms::owner_all);
}

TEST_F(StoredRates, that_cannot_be_stored_say_where) {
  std::ofstream(directory_ / "file") << "no directory";
  const auto stored = store_rates(directory_ / "file/schaas", Rates());
  ASSERT_FALSE(stored.ok());
  EXPECT_NE(support::render(stored.error()).find(directory_ / "file/schaas/rates"), std::string::npos);
  EXPECT_FALSE(store_rates("", Rates()).ok());
}

}  // namespace
}  // namespace schaas::client
