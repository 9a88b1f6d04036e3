#include "kernels_cache/schedule_store_memory.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

// The twin of the SQLite store in vectors, for tests of what stands above a store. Newer rows are behind
// older ones, which gives the orders that SQL asks for by time. Searches are linear: tests hold few rows.
namespace schaas::kernels_cache {
namespace {

using support::Result;

bool same(const FrontierKey& a, const FrontierKey& b) {
  return a.problem_key == b.problem_key && a.options == b.options && a.search_version == b.search_version;
}

struct ProblemRow {
  std::string key, canonical, created;
  Pinned pinned = Pinned::no;
  std::uint64_t number = 0;
};

class MemoryScheduleStore final : public ScheduleStore {
 public:
  explicit MemoryScheduleStore(std::shared_ptr<const Clock> clock) : clock_(std::move(clock)) {}

  Claims& claims() override { return claims_; }

  Result<void> put_frontier(const FrontierRow& row) override {
    const std::lock_guard lock(mutex_);
    insert_problem(row.key.problem_key, row.canonical);
    std::erase_if(frontiers_, [&](const FrontierRow& old) { return same(old.key, row.key); });
    frontiers_.push_back(row);
    frontiers_.back().created = print(clock_->now());
    uses_[slot_of(row.key)] = clock_->now();
    changes_.of_problem(row.key.problem_key);
    return {};
  }

  Result<std::optional<FrontierRow>> frontier(const FrontierKey& key) override {
    const std::lock_guard lock(mutex_);
    for (const auto& row : frontiers_) {
      if (!same(row.key, key)) continue;
      uses_[slot_of(key)] = clock_->now();
      return std::optional(row);
    }
    return std::optional<FrontierRow>();
  }

  Result<std::vector<FrontierRow>> frontiers_of(const std::string& unconstrained_key,
                                                const std::string& options, int search_version,
                                                std::size_t limit) override {
    const std::lock_guard lock(mutex_);
    std::vector<FrontierRow> rows;
    for (auto row = frontiers_.rbegin(); row != frontiers_.rend() && rows.size() < limit; ++row) {
      if (row->complete && row->unconstrained_key == unconstrained_key && row->key.options == options &&
          row->key.search_version == search_version)
        rows.push_back(*row);
    }
    return rows;
  }

  Result<std::optional<FrontierRow>> newest_frontier(const std::string& problem_key) override {
    const std::lock_guard lock(mutex_);
    for (auto row = frontiers_.rbegin(); row != frontiers_.rend(); ++row) {
      if (row->key.problem_key == problem_key) return std::optional(*row);
    }
    return std::optional<FrontierRow>();
  }

  Result<void> put_kernel(const KernelRow& row) override {
    const std::lock_guard lock(mutex_);
    insert_problem(row.problem_key, row.canonical);
    std::erase_if(kernels_, [&](const KernelRow& old) { return old.kernel_key == row.kernel_key; });
    kernels_.push_back(row);
    kernels_.back().created = print(clock_->now());
    changes_.of_problem(row.problem_key);
    return {};
  }

  Result<std::optional<KernelRow>> kernel(const std::string& kernel_key) override {
    const std::lock_guard lock(mutex_);
    for (const auto& row : kernels_) {
      if (row.kernel_key == kernel_key) return std::optional(row);
    }
    return std::optional<KernelRow>();
  }

  Result<std::vector<KernelRow>> kernels_of(const std::string& problem_key) override {
    const std::lock_guard lock(mutex_);
    std::vector<KernelRow> rows;
    for (const auto& row : kernels_) {
      if (row.problem_key == problem_key) rows.push_back(row);
    }
    return rows;
  }

  Result<std::uint64_t> drop_kernels_with(const std::vector<std::string>& sha256) override {
    const std::lock_guard lock(mutex_);
    const std::uint64_t dropped = std::erase_if(kernels_, [&](const KernelRow& row) {
      return std::find(sha256.begin(), sha256.end(), row.digest.sha256) != sha256.end();
    });
    if (dropped > 0) changes_.of_all();
    return dropped;
  }

  Result<std::set<std::string>> binaries() override {
    const std::lock_guard lock(mutex_);
    std::set<std::string> out;
    for (const auto& row : kernels_) out.insert(row.digest.sha256);
    return out;
  }

  Result<void> put_toolchain(const std::string& target, const std::string& identity) override {
    const std::lock_guard lock(mutex_);
    toolchains_[target] = identity;
    changes_.of_all();
    return {};
  }

  Result<std::string> agree_on_toolchain(const std::string& target, const std::string& identity) override {
    const std::lock_guard lock(mutex_);
    const auto [agreed, is_new] = toolchains_.emplace(target, identity);
    if (is_new) changes_.of_all();
    return agreed->second;
  }

  Result<std::map<std::string, std::string>> toolchains() override {
    const std::lock_guard lock(mutex_);
    return toolchains_;
  }

  Result<void> put_measurements(const std::vector<MeasurementRow>& rows) override {
    const std::lock_guard lock(mutex_);
    // All columns of the unique key but the trace.
    const auto circumstances = [](const MeasurementRow& of) {
      return std::tie(of.problem_key, of.host, of.sizes, of.threads, of.isa, of.code_version);
    };
    std::vector<MeasurementRow> kept;
    for (const auto& row : rows) {
      const auto is_better = [&](const auto& old) {
        return circumstances(old) == circumstances(row) && old.exclusive && !row.exclusive;
      };
      if (std::none_of(measurements_.begin(), measurements_.end(), is_better)) kept.push_back(row);
    }
    for (const auto& row : kept)
      std::erase_if(measurements_, [&](const auto& old) { return circumstances(old) == circumstances(row); });
    for (const auto& row : kept) add_measurement(row);
    return {};
  }

  Result<std::vector<MeasurementRow>> measurements_of(const std::string& problem_key, const std::string& host,
                                                      int code_version, std::size_t limit) override {
    const std::lock_guard lock(mutex_);
    std::vector<MeasurementRow> rows;
    for (auto row = measurements_.rbegin(); row != measurements_.rend() && rows.size() < limit; ++row) {
      if (row->problem_key == problem_key && (host.empty() || row->host == host) &&
          row->code_version == code_version)
        rows.push_back(*row);
    }
    return rows;
  }

  Result<bool> set_pin(const std::string& problem_key, Pinned pinned) override {
    const std::lock_guard lock(mutex_);
    for (auto& problem : problems_) {
      if (problem.key == problem_key) return problem.pinned = pinned, true;
    }
    return false;
  }

  Result<std::set<std::string>> pinned_binaries() override {
    const std::lock_guard lock(mutex_);
    std::set<std::string> out;
    for (const auto& problem : problems_) {
      for (const auto& row : kernels_) {
        if (problem.pinned == Pinned::yes && row.problem_key == problem.key) out.insert(row.digest.sha256);
      }
    }
    return out;
  }

  Result<std::uint64_t> drop_frontiers_before(int search_version) override {
    const std::lock_guard lock(mutex_);
    std::set<std::string> changed;
    const std::uint64_t dropped = std::erase_if(frontiers_, [&](const FrontierRow& row) {
      const bool old = row.key.search_version < search_version;
      if (old) changed.insert(row.key.problem_key);
      return old;
    });
    for (const auto& key : changed) drop_if_unreferenced(key);
    if (dropped > 0) changes_.of_all();
    return dropped;
  }

  // Evicts as the SQLite store does, one frontier after the other.
  Result<DroppedFrontiers> drop_frontiers_above(std::uint64_t bytes, Clock::Time fresh) override {
    const std::lock_guard lock(mutex_);
    DroppedFrontiers out;
    out.left_bytes = frontier_bytes();
    while (out.left_bytes > bytes) {
      // Bytes above the bound mean that some frontier is left, so the list is not empty.
      const auto oldest = std::min_element(
          frontiers_.begin(), frontiers_.end(),
          [&](const FrontierRow& a, const FrontierRow& b) { return rank(a, fresh) < rank(b, fresh); });
      if (rank(*oldest, fresh) == never) break;
      const std::string key = oldest->key.problem_key;
      out.left_bytes -= oldest->payload.size();
      out.bytes += oldest->payload.size();
      ++out.frontiers;
      frontiers_.erase(oldest);
      drop_if_unreferenced(key);
      changes_.of_problem(key);
    }
    return out;
  }

  Result<void> back_up(const std::string&) override {
    return support::internal("storage", "rows in memory cannot be backed up");
  }

  Result<std::vector<ProblemSummary>> list(const ProblemRange& range) override {
    const std::lock_guard lock(mutex_);
    std::vector<ProblemSummary> out;
    for (const auto& problem : problems_) {
      if (problem.number <= range.after || !problem.key.starts_with(range.prefix)) continue;
      ProblemSummary summary{problem.key,     problem.canonical, 0,  0,
                             problem.created, problem.pinned,    "", problem.number};
      for (const auto& row : frontiers_) {
        if (row.key.problem_key != problem.key) continue;
        summary.schedules = row.schedules;
        summary.asked = row.asked;
      }
      summary.kernels = static_cast<std::uint64_t>(
          std::count_if(kernels_.begin(), kernels_.end(),
                        [&](const KernelRow& row) { return row.problem_key == problem.key; }));
      out.push_back(std::move(summary));
    }
    if (range.order == ProblemRange::Order::newest_first) std::reverse(out.begin(), out.end());
    if (range.limit != 0 && out.size() > range.limit) out.resize(range.limit);
    return out;
  }

  Result<Statistics> statistics() override {
    const std::lock_guard lock(mutex_);
    return Statistics{problems_.size(), frontiers_.size(), kernels_.size(), frontier_bytes()};
  }

 private:
  void add_measurement(const MeasurementRow& row) {
    insert_problem(row.problem_key, row.canonical);
    measurements_.push_back(row);
    measurements_.back().created = print(clock_->now());
    const auto of_problem = [&](const MeasurementRow& old) { return old.problem_key == row.problem_key; };
    if (std::count_if(measurements_.begin(), measurements_.end(), of_problem) >
        static_cast<std::ptrdiff_t>(max_measurements))
      measurements_.erase(std::find_if(measurements_.begin(), measurements_.end(), of_problem));
    changes_.of_problem(row.problem_key);
  }

  static constexpr Clock::Time never = Clock::Time::max();
  using Slot = std::tuple<std::string, std::string, int>;

  static Slot slot_of(const FrontierKey& key) { return {key.problem_key, key.options, key.search_version}; }

  // Returns the last use of a frontier; `never` for one that must not be dropped.
  Clock::Time rank(const FrontierRow& row, Clock::Time fresh) {
    const auto pinned = [&](const ProblemRow& problem) {
      return problem.key == row.key.problem_key && problem.pinned == Pinned::yes;
    };
    const Clock::Time used = uses_[slot_of(row.key)];
    // Pinned and recently used frontiers stay, whatever the size.
    return used >= fresh || std::any_of(problems_.begin(), problems_.end(), pinned) ? never : used;
  }
  std::uint64_t frontier_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& row : frontiers_) bytes += row.payload.size();
    return bytes;
  }
  void drop_if_unreferenced(const std::string& key) {
    const auto frontier = [&](const FrontierRow& row) { return row.key.problem_key == key; };
    const auto other = [&](const auto& row) { return row.problem_key == key; };
    if (std::any_of(frontiers_.begin(), frontiers_.end(), frontier) ||
        std::any_of(kernels_.begin(), kernels_.end(), other) ||
        std::any_of(measurements_.begin(), measurements_.end(), other))
      return;
    std::erase_if(problems_, [&](const ProblemRow& problem) {
      return problem.key == key && problem.pinned == Pinned::no;
    });
  }
  void insert_problem(const std::string& key, const std::string& canonical) {
    for (const auto& problem : problems_) {
      if (problem.key == key) return;
    }
    problems_.push_back({key, canonical, print(clock_->now()), Pinned::no, ++last_number_});
  }

  std::shared_ptr<const Clock> clock_;
  ProcessClaims claims_;
  std::mutex mutex_;
  std::vector<ProblemRow> problems_;
  std::uint64_t last_number_ = 0;
  std::vector<FrontierRow> frontiers_;
  std::map<Slot, Clock::Time> uses_;
  std::vector<KernelRow> kernels_;
  std::vector<MeasurementRow> measurements_;
  std::map<std::string, std::string> toolchains_;
};

}  // namespace

std::unique_ptr<ScheduleStore> make_memory_schedule_store(std::shared_ptr<const Clock> clock) {
  return std::make_unique<MemoryScheduleStore>(std::move(clock));
}

}  // namespace schaas::kernels_cache
