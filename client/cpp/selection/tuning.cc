#include "schaas/tuning.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "client/cpp/platform/milliseconds_text.h"

// Autotuning on the user's tensors. Candidates run in turns, so that what else the machine does meets all
// alike. The median of a candidate's turns counts. Those far behind drop out: measurements go to those that
// may win. Results are kept by class of sizes: the rounded binary logarithms of all extents and entries. The
// candidate that was predicted to be best stays where it loses by noise alone.
namespace schaas::client {
namespace {

constexpr int max_rounds = 15, enough_rounds = 3;
// Times the least median: one run may be unlucky, three are not.
constexpr double hopeless_at_once = 4, hopeless = 1.5;
// A first run that takes so long needs no second one to show that a candidate is hopeless.
constexpr double long_run = 0.1;
constexpr double noise = 1.03;
// Minimum time of a turn, which is as many runs as that takes, up to a limit. A single run of some
// microseconds would find the caches as another candidate left them.
constexpr double min_turn = 1e-3;
constexpr int max_runs_of_turn = 100;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Measurements of a candidate.
struct Turns {
  double last = 0;            ///< time of the last run
  std::vector<double> times;  ///< mean run time of each turn
  int runs = 0;
};

support::Result<void> take_turn(const Candidate& candidate, Turns& turns) {
  const double wanted = std::ceil(min_turn / std::max(turns.last, min_turn / max_runs_of_turn));
  const int runs = std::max(static_cast<int>(wanted), 1);
  double total = 0;
  for (int run = 0; run < runs; ++run) {
    SCHAAS_ASSIGN_OR_RETURN(const double took, candidate.run());
    total += took;
  }
  turns.last = total / runs;
  turns.times.push_back(turns.last);
  turns.runs += runs;
  return {};
}

std::string rounded_logarithm(std::int64_t count) {
  return count <= 0 ? "-" : std::to_string(std::lround(std::log2(static_cast<double>(count))));
}

}  // namespace

support::Result<std::vector<Measured>> measure_candidates(const std::vector<Candidate>& candidates,
                                                          double seconds) {
  const auto start = std::chrono::steady_clock::now();
  const auto over = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds;
  };
  std::vector<Turns> turns(candidates.size());
  std::vector<std::size_t> running;
  // The first run warms caches and tells how many runs make a turn. It counts where it is hopeless.
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    SCHAAS_ASSIGN_OR_RETURN(turns[c].last, candidates[c].run());
    least = std::min(least, turns[c].last);
  }
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    Turns& its = turns[c];
    if (its.last < std::max(long_run, hopeless_at_once * least)) {
      running.push_back(c);
    } else {
      its.times.push_back(its.last);
      ++its.runs;
    }
  }
  for (int round = 1; round <= max_rounds && !running.empty(); ++round) {
    for (const std::size_t c : running) SCHAAS_RETURN_IF_ERROR(take_turn(candidates[c], turns[c]));
    // The best median bounds the others; a candidate's fastest turn must exceed the bound before it drops
    // out.
    double best = median(turns[running.front()].times);
    for (const std::size_t c : running) best = std::min(best, median(turns[c].times));
    const double most = best * (round < enough_rounds ? hopeless_at_once : hopeless);
    std::erase_if(running, [&](std::size_t c) {
      return *std::min_element(turns[c].times.begin(), turns[c].times.end()) > most;
    });
    if (running.size() == 1 && round >= enough_rounds) break;
    // Three rounds are wanted; a first one that takes longer than the time given is enough.
    if (over() && (round >= enough_rounds || round == 1)) break;
  }
  std::vector<Measured> out;
  for (std::size_t c = 0; c < candidates.size(); ++c)
    out.push_back({candidates[c].id, candidates[c].trace, median(turns[c].times), turns[c].runs});
  return out;
}

std::size_t winner(const std::vector<Measured>& measured) {
  SCHAAS_CHECK(!measured.empty(), "no candidates were measured");
  std::size_t best = 0;
  for (std::size_t m = 1; m < measured.size(); ++m)
    if (measured[m].seconds < measured[best].seconds) best = m;
  // Candidates are in the order of their predictions.
  for (std::size_t m = 0; m < best; ++m)
    if (measured[m].seconds <= noise * measured[best].seconds) return m;
  return best;
}

std::string size_class(const Frontier& frontier, const Sizes& sizes) {
  std::string text;
  const auto add = [&](const std::string& word) { text += (text.empty() ? "" : " ") + word; };
  for (const auto& [canonical, user] : frontier.user_indices) {
    const auto extent = sizes.extents.find(user);
    if (extent != sizes.extents.end()) add(canonical + "=" + rounded_logarithm(extent->second));
  }
  for (const auto& [canonical, user] : frontier.user_tensors) {
    const auto entries = sizes.entries.find(user);
    if (entries == sizes.entries.end()) continue;
    std::string levels;
    for (const std::int64_t count : entries->second)
      levels += (levels.empty() ? "" : ",") + rounded_logarithm(count);
    add(canonical + ":" + levels);
  }
  return text;
}

std::string sizes_text(const Frontier& frontier, const Sizes& sizes, const Where& where) {
  return size_class(frontier, sizes) + (where.device.empty() ? "" : " @ " + where.device);
}

std::vector<Measurement> measured_at(const Frontier& frontier, const Sizes& sizes, const Machine& machine,
                                     const Where& where) {
  const std::string here = sizes_text(frontier, sizes, where);
  std::vector<Measurement> out;
  std::copy_if(frontier.measurements.begin(), frontier.measurements.end(), std::back_inserter(out),
               [&](const Measurement& one) {
                 return one.sizes == here && one.threads == machine.threads && one.isa == where.isa;
               });
  return out;
}

// One measurement alone is no comparison: two schedules must have been measured, here or on the other device.
std::optional<Remembered> remembered(const Frontier& frontier, const Sizes& sizes, const Machine& machine,
                                     const Where& where, const std::optional<Where>& beside) {
  const auto measured = measured_at(frontier, sizes, machine, where);
  const std::size_t others = beside ? measured_at(frontier, sizes, machine, *beside).size() : 0;
  if (measured.empty() || measured.size() + others < 2) return std::nullopt;
  const auto best =
      std::min_element(measured.begin(), measured.end(),
                       [](const Measurement& a, const Measurement& b) { return a.seconds < b.seconds; });
  return Remembered{best->trace, best->seconds, measured.size() + others};
}

std::string Remembered::reason() const {
  return "the fastest of " + std::to_string(of) +
         " that were measured at sizes like these on such a host: " + milliseconds_text(seconds);
}

std::optional<std::size_t> entry_with(const std::vector<FrontierEntry>& entries, const std::string& trace) {
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const auto& variants = entries[e].variants;
    if (entries[e].trace == trace ||
        std::any_of(variants.begin(), variants.end(),
                    [&](const Variant& variant) { return variant.trace == trace; }))
      return e;
  }
  return std::nullopt;
}

}  // namespace schaas::client
