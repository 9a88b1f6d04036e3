#include "schaas/frontier_at.h"

#include <algorithm>
#include <cstdio>

#include "client/cpp/platform/allocate.h"
#include "client/cpp/platform/milliseconds_text.h"
#include "compiler/support/counts.h"
#include "schaas/tuning.h"

// A frontier at some sizes as figures, and as points of a drawing. The choice shown is that of a run: what
// was measured, else the prediction. Removed classes are evaluated in the same way, so that both lie in one
// drawing.
namespace schaas::client {
namespace {

using support::counted;
using support::grouped;
using support::Plot;
using support::PlotPoint;

std::string text_of(const char* form, double value) {
  char text[32];
  std::snprintf(text, sizeof text, form, value);
  return text;
}

std::string numbers_text(const Sizes& sizes) {
  std::string out;
  for (const auto& [index, extent] : sizes.extents)
    out += (out.empty() ? "" : ", ") + index + " = " + grouped(std::to_string(extent));
  for (const auto& [tensor, entries] : sizes.entries)
    if (!entries.empty())
      out += ", " + tensor + " has " + grouped(std::to_string(entries.back())) + " entries";
  return out;
}

std::string tooltip(const FrontierEntry& entry, const Evaluated& here,
                    const std::optional<double>& measured) {
  std::string out = entry.id + "  " + entry.tree + "\nT = " + entry.time + "\nM = " + entry.memory + "\n\n" +
                    text_of("%.4g", here.time) + " weighted trips, " + bytes_text(here.memory_bytes);
  if (measured) out += ", measured " + milliseconds_text(*measured);
  return out + "\n\n" + entry.code;
}

/// Places the costs of removed classes beside those of the frontier.
support::Result<std::vector<PlotPoint>> removed_points(const Frontier& frontier, const Sizes& sizes,
                                                       const Machine& machine) {
  std::vector<FrontierEntry> classes;
  std::vector<const Removal*> removals;
  for (const Removal& removal : frontier.removals) {
    // A summary stands for many removals and has no terms of its own.
    if (removal.summary()) continue;
    FrontierEntry entry;
    entry.id = removal.id;
    entry.time_terms = removal.time_terms;
    entry.memory_terms = removal.memory_terms;
    classes.push_back(std::move(entry));
    removals.push_back(&removal);
  }
  std::vector<PlotPoint> points;
  if (classes.empty()) return points;
  SCHAAS_ASSIGN_OR_RETURN(const auto costs, select(classes, sizes, machine));
  for (std::size_t r = 0; r < removals.size(); ++r) {
    const Removal& removal = *removals[r];
    points.push_back({"",
                      removal.id + ", dropped (" + removal.kind + ")\nT = " + removal.time +
                          "\nM = " + removal.memory + "\nfor " + removal.by,
                      costs.evaluated[r].memory_bytes, costs.evaluated[r].time, PlotPoint::Kind::dropped});
  }
  return points;
}

}  // namespace

support::Result<FrontierAt> frontier_at(const Frontier& frontier, const Sizes& sizes, const Sizes& told,
                                        const Machine& machine, const std::string& isa) {
  SCHAAS_ASSIGN_OR_RETURN(Selection selection, select(frontier.entries, sizes, machine));
  FrontierAt at{told, machine.threads, std::move(selection.evaluated), {}, selection.index, selection.reason};
  at.measured.resize(frontier.entries.size());
  for (const Measurement& one : measured_at(frontier, sizes, machine, {isa})) {
    const auto entry = entry_with(frontier.entries, one.trace);
    if (!entry) continue;
    // An entry may have several measurements, those of its variants: the least counts.
    auto& least = at.measured[*entry];
    least = std::min(one.seconds, least.value_or(one.seconds));
  }
  if (const auto best = remembered(frontier, sizes, machine, {isa})) {
    at.chosen = entry_with(frontier.entries, best->trace);
    at.reason = best->reason();
  }
  return at;
}

support::Result<Plot> plot(const Frontier& frontier, const FrontierAt& at, const Sizes& sizes,
                           const Machine& machine, const std::string& title) {
  Plot plot;
  SCHAAS_ASSIGN_OR_RETURN(plot.points, removed_points(frontier, sizes, machine));
  if (!plot.points.empty())
    plot.dropped = counted(plot.points.size(), "class", "classes") + " dropped, proven never better";
  for (std::size_t e = 0; e < frontier.entries.size(); ++e) {
    const FrontierEntry& entry = frontier.entries[e];
    const Evaluated& here = at.evaluated[e];
    plot.points.push_back({entry.id, tooltip(entry, here, at.measured[e]), here.memory_bytes, here.time,
                           e == at.chosen ? PlotPoint::Kind::chosen : PlotPoint::Kind::kept});
  }
  // An empty operand costs nothing anywhere; a logarithm needs something.
  for (PlotPoint& point : plot.points) point.y = std::max(point.y, 1.0);
  plot.title = title;
  plot.subtitle =
      numbers_text(at.sizes) + "; " + counted(static_cast<std::size_t>(at.threads), "thread", "threads");
  plot.x_label = "memory of temporaries, bytes";
  plot.y_label = "time, weighted trips";
  plot.kept = counted(frontier.entries.size(), "schedule", "schedules") + " on the frontier";
  if (at.chosen) plot.chosen = frontier.entries[*at.chosen].id + " runs at these sizes";
  return plot;
}

}  // namespace schaas::client
