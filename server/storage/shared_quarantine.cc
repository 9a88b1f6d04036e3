#include "server/storage/quarantine.h"

#include <utility>

#include "kernels_cache/process_name.h"

// Rows that all servers of a database refuse by, so a kernel that failed at one of them is tried nowhere
// else. While the database cannot be read nothing is refused: then a trial decides.
namespace schaas::server {
namespace {

using kernels_cache::Bytes;
using kernels_cache::Session;
using kernels_cache::Statement;
using support::Result;

class SharedQuarantine final : public Quarantine {
 public:
  SharedQuarantine(std::shared_ptr<kernels_cache::Database> database,
                   std::shared_ptr<const kernels_cache::Clock> clock, Log log)
      : database_(std::move(database)), clock_(std::move(clock)), log_(std::move(log)) {}

  std::optional<std::string> reason(const std::string& key) const override {
    const auto found = with_rows([&](kernels_cache::Connection& rows) -> Result<std::optional<std::string>> {
      Statement query(rows, "SELECT report FROM rejection WHERE kernel_key = $1 AND created > $2");
      SCHAAS_ASSIGN_OR_RETURN(const bool there, query.bind(key).bind(oldest()).step(doing));
      if (!there) return std::optional<std::string>();
      return std::optional(first_line(query.text(0)));
    });
    return found.ok() ? *found : std::nullopt;
  }

  bool add(const std::string& key, const std::string& binary, const std::string& report) const override {
    const auto added = with_rows([&](kernels_cache::Connection& rows) -> Result<bool> {
      Statement expired(rows, "DELETE FROM rejection WHERE created <= $1");
      SCHAAS_RETURN_IF_ERROR(expired.bind(oldest()).run(doing));
      Statement insert(rows,
                       "INSERT INTO rejection(kernel_key, process, report, content, created) "
                       "SELECT $1, $2, $3, $4, $5 WHERE (SELECT count(*) FROM rejection) < $6 "
                       "ON CONFLICT(kernel_key) DO UPDATE SET process = excluded.process, "
                       "report = excluded.report, content = excluded.content, created = excluded.created");
      const std::string process = kernels_cache::process_name();
      insert.bind(key).bind(process).bind(first_line(report) + " (on " + process + ")" + rest(report));
      insert.bind(Bytes{binary}).bind(kernels_cache::print(clock_->now()));
      SCHAAS_RETURN_IF_ERROR(insert.bind(static_cast<std::int64_t>(max_kernels)).run(doing));
      return insert.changed() > 0;
    });
    return added.ok() && *added;
  }

  std::vector<QuarantinedKernel> list() const override {
    auto found = with_rows([&](kernels_cache::Connection& rows) {
      Statement query(rows,
                      "SELECT kernel_key, report, created FROM rejection WHERE created > $1 "
                      "ORDER BY created DESC, kernel_key");
      query.bind(oldest());
      return all_rows(query, doing, [](const Statement& row) {
        return QuarantinedKernel{row.text(0), first_line(row.text(1)), row.text(2)};
      });
    });
    return found.ok() ? std::move(found).value() : std::vector<QuarantinedKernel>();
  }

  bool lift(const std::string& key) const override {
    const auto dropped = with_rows([&](kernels_cache::Connection& rows) -> Result<bool> {
      Statement drop(rows, "DELETE FROM rejection WHERE kernel_key = $1");
      SCHAAS_RETURN_IF_ERROR(drop.bind(key).run(doing));
      return drop.changed() > 0;
    });
    return dropped.ok() && *dropped;
  }

 private:
  static constexpr const char* doing = "read the quarantine";
  static std::string first_line(const std::string& report) { return report.substr(0, report.find('\n')); }
  static std::string rest(const std::string& report) { return report.substr(first_line(report).size()); }
  std::string oldest() const { return kernels_cache::print(clock_->now() - max_age); }

  /// Returns what `work` makes of a connection; an error is logged.
  template <class Work>
  auto with_rows(const Work& work) const -> decltype(work(std::declval<kernels_cache::Connection&>())) {
    const auto attempt = [&]() -> decltype(work(std::declval<kernels_cache::Connection&>())) {
      SCHAAS_ASSIGN_OR_RETURN(const Session session, database_->session());
      return work(*session);
    };
    auto found = attempt();
    if (!found.ok()) log_->warn("{}", support::render(found.error()));
    return found;
  }

  const std::shared_ptr<kernels_cache::Database> database_;
  const std::shared_ptr<const kernels_cache::Clock> clock_;
  const Log log_;
};

}  // namespace

std::shared_ptr<const Quarantine> make_shared_quarantine(std::shared_ptr<kernels_cache::Database> database,
                                                         std::shared_ptr<const kernels_cache::Clock> clock,
                                                         Log log) {
  return std::make_shared<const SharedQuarantine>(std::move(database), std::move(clock), std::move(log));
}

}  // namespace schaas::server
