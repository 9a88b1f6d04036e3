#include "kernels_cache/schedule_store_memory.h"

#include <algorithm>
#include <mutex>
#include <tuple>
#include <utility>

namespace schaas::kernels_cache {
namespace {

using support::Result;

bool same(const FrontierKey& a, const FrontierKey& b) {
  return a.problem_key == b.problem_key && a.options == b.options && a.search_version == b.search_version;
}

struct ProblemRow {
  std::string key, canonical, created;
  Pinned pinned = Pinned::no;
};

class MemoryScheduleStore final : public ScheduleStore {
 public:
  explicit MemoryScheduleStore(std::shared_ptr<const Clock> clock) : clock_(std::move(clock)) {}

  Result<void> put_frontier(const FrontierRow& row) override {
    const std::lock_guard lock(mutex_);
    remember(row.key.problem_key, row.canonical);
    std::erase_if(frontiers_, [&](const FrontierRow& old) { return same(old.key, row.key); });
    frontiers_.push_back(row);
    frontiers_.back().created = print(clock_->now());
    return {};
  }

  Result<std::optional<FrontierRow>> frontier(const FrontierKey& key) override {
    const std::lock_guard lock(mutex_);
    for (const auto& row : frontiers_) {
      if (same(row.key, key)) return std::optional(row);
    }
    return std::optional<FrontierRow>();
  }

  Result<std::vector<FrontierRow>> frontiers_of(const std::string& family, const std::string& options,
                                                int search_version, std::size_t limit) override {
    const std::lock_guard lock(mutex_);
    std::vector<FrontierRow> rows;
    for (auto row = frontiers_.rbegin(); row != frontiers_.rend() && rows.size() < limit; ++row) {
      if (row->complete && row->family == family && row->key.options == options &&
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
    remember(row.problem_key, row.canonical);
    std::erase_if(kernels_, [&](const KernelRow& old) { return old.kernel_key == row.kernel_key; });
    kernels_.push_back(row);
    kernels_.back().created = print(clock_->now());
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
      if (problem_key.empty() || row.problem_key == problem_key) rows.push_back(row);
    }
    return rows;
  }

  Result<std::uint64_t> drop_kernels_with(const std::string& sha256) override {
    const std::lock_guard lock(mutex_);
    return std::uint64_t{
        std::erase_if(kernels_, [&](const KernelRow& row) { return row.digest.sha256 == sha256; })};
  }

  Result<void> put_measurement(const MeasurementRow& row) override {
    const std::lock_guard lock(mutex_);
    remember(row.problem_key, row.canonical);
    const auto circumstances = [](const MeasurementRow& of) {
      return std::tie(of.problem_key, of.host, of.sizes, of.threads, of.isa, of.trace, of.code_version);
    };
    std::erase_if(measurements_,
                  [&](const MeasurementRow& old) { return circumstances(old) == circumstances(row); });
    measurements_.push_back(row);
    measurements_.back().created = print(clock_->now());
    const auto of_problem = [&](const MeasurementRow& old) { return old.problem_key == row.problem_key; };
    if (std::count_if(measurements_.begin(), measurements_.end(), of_problem) >
        static_cast<std::ptrdiff_t>(most_measurements))
      measurements_.erase(std::find_if(measurements_.begin(), measurements_.end(), of_problem));
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
    return std::uint64_t{std::erase_if(
        frontiers_, [&](const FrontierRow& row) { return row.key.search_version < search_version; })};
  }

  Result<void> back_up(const std::string&) override {
    return support::internal("storage", "rows in memory cannot be backed up");
  }

  Result<std::vector<ProblemSummary>> list() override {
    const std::lock_guard lock(mutex_);
    std::vector<ProblemSummary> out;
    for (const auto& problem : problems_) {
      ProblemSummary summary{problem.key, problem.canonical, 0, 0, problem.created, problem.pinned};
      for (const auto& row : frontiers_) {
        if (row.key.problem_key == problem.key) summary.schedules = row.schedules;
      }
      summary.kernels = static_cast<std::uint64_t>(
          std::count_if(kernels_.begin(), kernels_.end(),
                        [&](const KernelRow& row) { return row.problem_key == problem.key; }));
      out.push_back(std::move(summary));
    }
    return out;
  }

  Result<Statistics> statistics() override {
    const std::lock_guard lock(mutex_);
    return Statistics{problems_.size(), frontiers_.size(), kernels_.size()};
  }

 private:
  void remember(const std::string& key, const std::string& canonical) {
    for (const auto& problem : problems_) {
      if (problem.key == key) return;
    }
    problems_.push_back({key, canonical, print(clock_->now()), Pinned::no});
  }

  std::shared_ptr<const Clock> clock_;
  std::mutex mutex_;
  std::vector<ProblemRow> problems_;
  std::vector<FrontierRow> frontiers_;
  std::vector<KernelRow> kernels_;
  std::vector<MeasurementRow> measurements_;
};

}  // namespace

std::unique_ptr<ScheduleStore> make_memory_schedule_store(std::shared_ptr<const Clock> clock) {
  return std::make_unique<MemoryScheduleStore>(std::move(clock));
}

}  // namespace schaas::kernels_cache
