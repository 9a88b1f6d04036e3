#pragma once
#include <array>
#include <string_view>

namespace schaas::server {

/// Permissions of tokens.
enum class Scope {
  any,         ///< any valid token
  read,        ///< read stored answers and the state of the server, download binaries
  schedule,    ///< search and compile
  precompute,  ///< submit jobs, cancel and retry one's own
  report,      ///< report timings
  admin,       ///< everything else
};

/// A remote procedure and the scope it requires. A handler passes its own to RequestBoundary::run, so every
/// procedure has one.
struct Method {
  std::string_view path;  ///< on the wire
  const char* name;       ///< in the log
  Scope scope;
};

namespace methods {
inline constexpr Method schedule{"schaas.v1.Scheduler.Schedule", "Schedule", Scope::schedule};
inline constexpr Method lookup{"schaas.v1.Scheduler.Lookup", "Lookup", Scope::read};
inline constexpr Method explain{"schaas.v1.Scheduler.Explain", "Explain", Scope::schedule};
inline constexpr Method emit{"schaas.v1.Scheduler.Emit", "Emit", Scope::schedule};
inline constexpr Method download{"schaas.v1.Scheduler.Download", "Download", Scope::read};
inline constexpr Method report{"schaas.v1.Scheduler.Report", "Report", Scope::report};
inline constexpr Method info{"schaas.v1.Scheduler.Info", "Info", Scope::any};
inline constexpr Method list_cache{"schaas.v1.Scheduler.ListCache", "ListCache", Scope::read};
inline constexpr Method verify_cache{"schaas.v1.Scheduler.VerifyCache", "VerifyCache", Scope::admin};
inline constexpr Method submit_job{"schaas.v1.Jobs.Submit", "SubmitJob", Scope::precompute};
inline constexpr Method list_jobs{"schaas.v1.Jobs.List", "ListJobs", Scope::read};
inline constexpr Method watch_job{"schaas.v1.Jobs.Watch", "WatchJob", Scope::read};
inline constexpr Method cancel_job{"schaas.v1.Jobs.Cancel", "CancelJob", Scope::precompute};
inline constexpr Method retry_job{"schaas.v1.Jobs.Retry", "RetryJob", Scope::precompute};

inline constexpr Method backup{"schaas.v1.Admin.Backup", "Backup", Scope::admin};
inline constexpr Method pin{"schaas.v1.Admin.Pin", "Pin", Scope::admin};
inline constexpr Method collect{"schaas.v1.Admin.Collect", "CollectCache", Scope::admin};
inline constexpr Method list_quarantine{"schaas.v1.Admin.ListQuarantine", "ListQuarantine", Scope::admin};
inline constexpr Method lift_quarantine{"schaas.v1.Admin.LiftQuarantine", "LiftQuarantine", Scope::admin};

inline constexpr std::array all = {schedule,  lookup,    explain,         emit,           download,
                                   report,    info,      list_cache,      verify_cache,   submit_job,
                                   list_jobs, watch_job, cancel_job,      retry_job,      backup,
                                   pin,       collect,   list_quarantine, lift_quarantine};
}  // namespace methods

}  // namespace schaas::server
