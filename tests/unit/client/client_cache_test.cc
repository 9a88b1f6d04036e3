// The client's own cache: files that many processes share, compared when they are read, the oldest dropped.
#include "client/cpp/remote/client_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "tests/support/temporary_directory.h"

namespace schaas::client {
namespace {

constexpr std::uint64_t plenty = 1 << 20;

std::string some_binary(unsigned seed, std::size_t bytes = 1000) {
  std::mt19937 random(seed);
  std::string text(bytes, ' ');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

class Cache : public ::testing::Test {
 protected:
  std::unique_ptr<ClientCache> open(std::uint64_t bytes = plenty) { return ClientCache::open(path_, bytes); }
  test_support::TemporaryDirectory directory_;
  const std::string path_ = directory_.path().string() + "/cache";
};

TEST_F(Cache, gives_back_what_was_kept) {
  const std::string binary = some_binary(1);
  const auto digest = support::digest_of(binary);
  const auto cache = open();
  ASSERT_TRUE(cache);
  EXPECT_FALSE(cache->binary(digest).has_value());
  EXPECT_FALSE(cache->has_binary(digest));
  cache->keep_binary(digest, binary);
  EXPECT_EQ(open()->binary(digest), binary);
  EXPECT_TRUE(cache->has_binary(digest));
  struct stat status {};
  ASSERT_EQ(stat((path_ + "/binaries/" + digest.sha256).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(Cache, answers_belong_to_their_server) {
  const std::string key(64, 'a');
  BundledAnswer answer;
  answer.problem.expression = "A(i) = B(i)";
  answer.isa = "generic";
  const auto cache = open();
  EXPECT_FALSE(cache->knows("unix:/one"));
  cache->keep_answer("unix:/one", key, answer);
  EXPECT_TRUE(cache->knows("unix:/one"));
  EXPECT_FALSE(cache->knows("unix:/two"));
  EXPECT_FALSE(cache->answer("unix:/two", key).has_value());
  const auto found = open()->answer("unix:/one", key);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->problem.expression, answer.problem.expression);
  EXPECT_EQ(found->isa, answer.isa);
  EXPECT_EQ(found->frontier, answer.frontier);
}

TEST_F(Cache, what_is_damaged_is_not_there) {
  const std::string binary = some_binary(2), key(64, 'b');
  const auto digest = support::digest_of(binary);
  const auto cache = open();
  cache->keep_binary(digest, binary);
  cache->keep_answer("unix:/one", key, {});
  for (const auto& file : std::filesystem::recursive_directory_iterator(path_)) {
    if (!file.is_regular_file()) continue;
    std::ofstream(file.path(), std::ios::app) << "more";
  }
  EXPECT_FALSE(cache->binary(digest).has_value());
  EXPECT_FALSE(cache->has_binary(digest));
  EXPECT_FALSE(cache->answer("unix:/one", key).has_value());
  EXPECT_FALSE(cache->knows("unix:/one"));
}

TEST_F(Cache, is_not_opened_where_others_may_write) {
  std::filesystem::create_directories(path_);
  chmod(path_.c_str(), 0770);
  EXPECT_FALSE(open());
  chmod(path_.c_str(), 0700);
  EXPECT_TRUE(open());
  EXPECT_FALSE(open(0));
  std::filesystem::remove_all(path_);
  std::filesystem::create_directory_symlink(directory_.path(), path_);
  EXPECT_FALSE(open());
}

TEST_F(Cache, keeps_to_its_size_and_what_was_used_last) {
  std::vector<support::Digest> digests;
  for (unsigned seed = 0; seed < 40; ++seed) {
    const std::string binary = some_binary(seed, 2000);
    digests.push_back(support::digest_of(binary));
    open(32'000)->keep_binary(digests.back(), binary);  // each a process of its own
    const std::string path = path_ + "/binaries/" + digests.back().sha256;
    const std::filesystem::file_time_type used{std::chrono::seconds(1'000'000 + seed)};
    if (std::filesystem::exists(path)) std::filesystem::last_write_time(path, used);
    std::uintmax_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(path_ + "/binaries"))
      bytes += file.file_size();
    EXPECT_LE(bytes, 32'000U);
  }
  const auto cache = open(32'000);
  EXPECT_FALSE(cache->has_binary(digests.front()));
  EXPECT_TRUE(cache->has_binary(digests.back()));
}

TEST_F(Cache, many_processes_and_threads_share_it) {
  std::vector<pid_t> children;
  for (unsigned process = 0; process < 4; ++process) {
    const pid_t child = fork();
    if (child == 0) {
      const auto cache = ClientCache::open(path_, 40'000);
      std::atomic<bool> wrong{!cache};
      std::vector<std::thread> threads;
      for (unsigned t = 0; t < 3 && cache; ++t) {
        threads.emplace_back([&, t] {
          for (unsigned round = 0; round < 100; ++round) {
            const std::string binary = some_binary((round * 7 + t) % 30, 3000);
            const auto digest = support::digest_of(binary);
            const auto found = cache->binary(digest);
            if (found && *found != binary) wrong = true;
            if (!found) cache->keep_binary(digest, binary);
          }
        });
      }
      for (auto& thread : threads) thread.join();
      _exit(wrong ? 1 : 0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

}  // namespace
}  // namespace schaas::client
