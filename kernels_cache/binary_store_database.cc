#include "kernels_cache/binary_store_database.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "kernels_cache/binary_errors.h"

// The database is the store; files near by are a cache of it that is read through. A failure of the cache is
// none of the store. Uses are noted in the database at most once a minute for each binary, since all servers
// together decide what is evicted.
namespace schaas::kernels_cache {
namespace {

using support::Digest;
using support::Result;

constexpr std::chrono::minutes near_use_precision{1};
/// Binaries whose last noted use is known; beyond it the oldest knowledge is dropped at once.
constexpr std::size_t max_noted = 10'000;

std::int64_t milliseconds_of(Clock::Time time) { return time.time_since_epoch().count(); }

class DatabaseBinaryStore final : public BinaryStore {
 public:
  DatabaseBinaryStore(std::shared_ptr<Database> database, std::unique_ptr<BinaryStore> near,
                      std::uint64_t near_bytes, std::shared_ptr<const Clock> clock)
      : database_(std::move(database)),
        near_(std::move(near)),
        near_bytes_(near_bytes),
        clock_(std::move(clock)) {}

  Result<Digest> put(std::string_view bytes) override {
    const Digest digest = support::digest_of(bytes);
    {
      SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
      Statement insert(*session,
                       "INSERT INTO binary_content(sha256, bytes, content, used) VALUES ($1, $2, $3, $4) "
                       "ON CONFLICT(sha256) DO UPDATE SET used = excluded.used");
      insert.bind(digest.sha256).bind(static_cast<std::int64_t>(bytes.size())).bind(Bytes{bytes});
      SCHAAS_RETURN_IF_ERROR(insert.bind(milliseconds_of(clock_->now())).run("store a binary"));
    }
    keep_near(bytes);
    return digest;
  }

  Result<std::string> get(const std::string& sha256) override {
    if (!support::is_sha256_hex(sha256)) return wrong_digest(sha256);
    if (auto found = near_->get(sha256); found.ok()) {
      note_use(sha256);
      return found;
    }
    SCHAAS_ASSIGN_OR_RETURN(std::string content, stored(sha256));
    keep_near(content);
    note_use(sha256);
    return content;
  }

  bool contains(const std::string& sha256) override {
    if (near_->contains(sha256)) return true;
    const auto session = database_->session();
    if (!session.ok()) return true;  // nobody knows; rows that name it are kept
    Statement query(**session, "SELECT 1 FROM binary_content WHERE sha256 = $1");
    const auto found = query.bind(sha256).step("look for a binary");
    return !found.ok() || *found;
  }

  Result<std::uint64_t> bytes() override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    Statement query(*session, "SELECT binary_bytes FROM total");
    SCHAAS_RETURN_IF_ERROR(query.step("read the size of the binaries"));
    return query.count(0);
  }

  Result<std::vector<Digest>> list() override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    Statement query(*session, "SELECT sha256, bytes FROM binary_content ORDER BY sha256");
    return all_rows(query, "list the binaries", [](const Statement& row) {
      return Digest{row.text(0), row.count(1)};
    });
  }

  Result<std::vector<UsedBinary>> uses() override {
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    Statement query(*session, "SELECT sha256, bytes, used FROM binary_content");
    return all_rows(query, "list the binaries", [](const Statement& row) {
      return UsedBinary{{row.text(0), row.count(1)}, Clock::Time(std::chrono::milliseconds(row.integer(2)))};
    });
  }

  Result<void> drop(const std::string& sha256) override {
    SCHAAS_RETURN_IF_ERROR(near_->drop(sha256));
    SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
    return Statement(*session, "DELETE FROM binary_content WHERE sha256 = $1")
        .bind(sha256)
        .run("drop a binary");
  }

  Result<VerifyReport> verify() override {
    SCHAAS_RETURN_IF_ERROR(near_->verify());
    VerifyReport report;
    SCHAAS_ASSIGN_OR_RETURN(const auto binaries, list());
    for (const Digest& digest : binaries) {
      const auto read = stored(digest.sha256);
      ++report.checked;
      if (read.ok() || read.error().code == "unknown-binary") continue;
      if (read.error().code != "damaged-binary") return read.error();
      report.damaged.push_back(digest.sha256);
    }
    return report;
  }

 private:
  // Reads a binary of the database; drops it when it is damaged.
  Result<std::string> stored(const std::string& sha256) {
    std::string content;
    {
      SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
      Statement query(*session, "SELECT content FROM binary_content WHERE sha256 = $1");
      SCHAAS_ASSIGN_OR_RETURN(const bool found, query.bind(sha256).step("read a binary"));
      if (!found) return unknown_binary(sha256);
      content = query.text(0);
    }
    if (support::digest_of(content).sha256 == sha256) return content;
    SCHAAS_RETURN_IF_ERROR(drop(sha256));
    return damaged_binary(sha256);
  }

  // Keeps a binary near by, where there may be no room for it.
  void keep_near(std::string_view bytes) {
    if (!near_->put(bytes).ok() || near_bytes_ == 0) return;
    const std::unique_lock lock(evicting_, std::try_to_lock);
    const auto total = near_->bytes();
    if (!lock.owns_lock() || !total.ok() || *total <= near_bytes_) return;
    auto uses = near_->uses();
    if (!uses.ok()) return;
    std::sort(uses->begin(), uses->end(),
              [](const UsedBinary& a, const UsedBinary& b) { return a.used < b.used; });
    std::uint64_t left = *total;
    for (const auto& binary : *uses) {
      if (left <= near_bytes_ / 10 * 9) return;
      if (near_->drop(binary.digest.sha256).ok()) left -= std::min(left, binary.digest.bytes);
    }
  }

  // Records a use. An error does not fail the read.
  void note_use(const std::string& sha256) {
    const auto now = clock_->now();
    {
      const std::lock_guard lock(noting_);
      if (noted_.size() > max_noted) noted_.clear();
      Clock::Time& last = noted_[sha256];
      if (last + near_use_precision > now) return;
      last = now;
    }
    const auto session = database_->session();
    if (!session.ok()) return;
    Statement update(**session, "UPDATE binary_content SET used = $1 WHERE sha256 = $2 AND used < $3");
    update.bind(milliseconds_of(now)).bind(sha256).bind(milliseconds_of(now - near_use_precision));
    (void)update.run("note a use");
  }

  const std::shared_ptr<Database> database_;
  const std::unique_ptr<BinaryStore> near_;
  const std::uint64_t near_bytes_;
  const std::shared_ptr<const Clock> clock_;
  std::mutex evicting_;
  std::mutex noting_;
  std::map<std::string, Clock::Time> noted_;  ///< last use that the database was told
};

}  // namespace

std::unique_ptr<BinaryStore> make_database_binary_store(std::shared_ptr<Database> database,
                                                        std::unique_ptr<BinaryStore> near,
                                                        std::uint64_t near_bytes,
                                                        std::shared_ptr<const Clock> clock) {
  return std::make_unique<DatabaseBinaryStore>(std::move(database), std::move(near), near_bytes,
                                               std::move(clock));
}

}  // namespace schaas::kernels_cache
