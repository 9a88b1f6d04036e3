#include "server/http/gauges.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

// Gauges read the state when a monitor asks, so nothing has to be kept up to date. A source that cannot be
// read yields no sample, which a monitor tells from 0.
namespace schaas::server {
namespace {

namespace fs = std::filesystem;
using Samples = std::vector<Metrics::Sample>;

Samples one(double value) { return {{"", value}}; }

double entries(const std::string& directory) {
  double count = 0;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) ++count;
  return count;
}

// The second number of statm is the resident set, in pages.
Samples resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  double total = 0, resident = 0;
  if (!(statm >> total >> resident)) return {};
  return one(resident * static_cast<double>(::sysconf(_SC_PAGESIZE)));
}

void add_stored(Metrics& metrics, const GaugeSources& sources) {
  const auto rows = sources.stores.schedules;
  // Each gauge reads the statistics anew: counts of one request may differ by what happens in between.
  const auto stored = [rows](auto field) {
    return [rows, field]() -> Samples {
      const auto statistics = rows->statistics();
      return statistics.ok() ? one(static_cast<double>((*statistics).*field)) : Samples();
    };
  };
  using kernels_cache::Statistics;
  metrics.read("schaas_stored_problems", "Problems in the schedule database.", stored(&Statistics::problems));
  metrics.read("schaas_stored_frontiers", "Frontiers in the schedule database.",
               stored(&Statistics::frontiers));
  metrics.read("schaas_stored_kernels", "Kernels in the schedule database.", stored(&Statistics::kernels));
  metrics.read("schaas_stored_frontier_bytes", "Bytes of the stored frontiers.",
               stored(&Statistics::frontier_bytes));
  metrics.read("schaas_stored_bytes", "Bytes of the stored binaries.",
               [binaries = sources.stores.binaries]() -> Samples {
                 const auto bytes = binaries->bytes();
                 return bytes.ok() ? one(static_cast<double>(*bytes)) : Samples();
               });
  metrics.read(
      "schaas_quarantined_kernels", "Kernels in quarantine: they failed validation.",
      [quarantine = sources.quarantine] { return one(static_cast<double>(quarantine->list().size())); });
}

}  // namespace

void add_gauges(Metrics& metrics, const GaugeSources& sources) {
  metrics.read("schaas_ready", "1 while requests are accepted.",
               [is_ready = sources.is_ready] { return one(is_ready() ? 1 : 0); });
  metrics.read("schaas_requests_running", "Running requests.",
               [requests = sources.requests] { return one(static_cast<double>(requests->count())); });
  metrics.read("schaas_response_cache_bytes", "Memory of the response cache.",
               [response_cache = sources.response_cache] {
                 return one(static_cast<double>(response_cache->statistics().bytes));
               });
  // Both queues, told apart by a label.
  const auto each = [queues = sources.queues](auto count) {
    return [queues, count] {
      return Samples{
          {Metrics::labels_text({{"for", "search"}}), static_cast<double>(((*queues.searches).*count)())},
          {Metrics::labels_text({{"for", "compile"}}),
           static_cast<double>(((*queues.compilations).*count)())}};
    };
  };
  metrics.read("schaas_waiting", "Work waiting in the admission queues.", each(&AdmissionQueue::waiting));
  metrics.read("schaas_working", "Work admitted and running.", each(&AdmissionQueue::running));
  metrics.read(
      "schaas_job_items", "Requests of accepted jobs, by state.", [jobs = sources.jobs]() -> Samples {
        Samples samples;
        const auto counts = jobs->counts();
        if (!counts.ok()) return samples;
        for (const auto& [state, count] : *counts)
          samples.push_back(
              {Metrics::labels_text({{"state", kernels_cache::name(state)}}), static_cast<double>(count)});
        return samples;
      });
  add_stored(metrics, sources);
  metrics.read("process_resident_memory_bytes", "Resident memory of the daemon, without its children.",
               resident_bytes);
  metrics.read("process_open_fds", "Open descriptors of the daemon.",
               [] { return one(entries("/proc/self/fd") - 1); });  // less the one that lists them
}

}  // namespace schaas::server
