#include "server/http/frontier_page.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "compiler/frontier/proofs/log_bounds.h"
#include "compiler/support/plot.h"
#include "server/answers/prepared_problem.h"
#include "server/http/html.h"
#include "server/storage/stored_frontier.h"

// One stored frontier as a page: a plot of time against memory, and a section for each entry. A plot needs
// numbers, so sizes are chosen from those that the constraints allow. The best are the ones at which most
// entries are Pareto optimal, because elsewhere entries hide behind others. Names are those of the last
// request when its problem still has this canonical form.
namespace schaas::server {
namespace {

using html::escaped;
using html::of_count;
using kernels_cache::MeasurementRow;
using support::Result;

constexpr std::size_t sizes_tried = 64;

/// A schedule of the frontier at the sizes of the plot.
struct Point {
  std::string id;
  double time = 0, memory = 0;  ///< weighted trips; elements
};

/// Draws the entries at the chosen sizes; a point leads to its section.
std::string picture(const std::vector<answers::Entry>& entries, const std::vector<Point>& points) {
  support::Plot plot;
  plot.x_label = "memory: elements of temporaries, on one thread";
  plot.y_label = "time: weighted trips";
  for (std::size_t e = 0; e < points.size(); ++e) {
    const Point& point = points[e];
    plot.points.push_back({point.id,
                           point.id + "  " + entries[e].tree + "\ntime " + of_count(point.time) +
                               ", memory " + of_count(point.memory) + "\n\n" + entries[e].code,
                           point.memory, std::max(point.time, 1.0), support::PlotPoint::Kind::kept,
                           "#" + point.id});
  }
  return support::unstyled_svg(plot);
}

// Counts the schedules that are Pareto optimal at these sizes alone.
std::size_t shown_best(const std::vector<Point>& points) {
  return static_cast<std::size_t>(std::count_if(points.begin(), points.end(), [&](const Point& mine) {
    return std::none_of(points.begin(), points.end(), [&](const Point& other) {
      return other.time <= mine.time && other.memory <= mine.memory &&
             (other.time < mine.time || other.memory < mine.memory);
    });
  }));
}

std::vector<Point> points_at(const frontier::Frontier& found, const cost::Point& sizes) {
  std::vector<Point> points;
  for (const frontier::Survivor& survivor : found.survivors)
    points.push_back({survivor.id, cost::evaluate_time(survivor.cost, sizes),
                      cost::evaluate_memory(survivor.cost, sizes)});
  return points;
}

// Chooses the allowed sizes at which most schedules are Pareto optimal; ties go to the middle, which comes
// first.
cost::Point telling_sizes(const frontier::Frontier& found, const std::vector<cost::Point>& samples) {
  const auto worth = [&](const cost::Point& sizes) { return shown_best(points_at(found, sizes)); };
  return *std::max_element(samples.begin(), samples.end(),
                           [&](const cost::Point& a, const cost::Point& b) { return worth(a) < worth(b); });
}

std::string sizes_text(const cost::Variables& variables, const cost::Point& point) {
  std::string out;
  for (std::size_t v = 0; v < variables.extents.size(); ++v)
    out += (out.empty() ? "" : ", ") + variables.extents[v].index + " = " + of_count(point[v]);
  for (std::size_t f = 0; f < variables.fibers.size(); ++f) {
    const auto& fiber = variables.fibers[f];
    const int bit = cost::Variables::first_fiber + static_cast<int>(f);
    const std::string name = cost::is_fiber(fiber)
                                 ? fmt::format("entries of {} in level {}", fiber.tensor, fiber.level)
                                 : variables.name(bit);
    out += fmt::format(", {} = {:.3g}", name, point[static_cast<std::size_t>(bit)]);
  }
  return out;
}

std::string measured_rows(const answers::Entry& entry, const std::vector<MeasurementRow>& measurements) {
  std::string rows;
  for (const MeasurementRow& row : measurements) {
    const auto of_entry = [&](const answers::Variant& variant) { return variant.trace == row.trace; };
    if (row.trace != entry.trace && std::none_of(entry.variants.begin(), entry.variants.end(), of_entry))
      continue;
    rows += "<tr><td class=\"n\">" + html::of_seconds(row.seconds) + "</td><td class=\"n\">" +
            std::to_string(row.threads) + "</td><td>" + escaped(row.isa) + "</td><td>" + escaped(row.sizes) +
            "</td><td>" + escaped(row.host) + "</td><td>" + escaped(row.created) + "</td></tr>\n";
  }
  if (rows.empty()) return "";
  return "<table><tr><th>measured</th><th>threads</th><th>isa</th><th>sizes</th><th>host</th><th>when</th></"
         "tr>\n" +
         rows + "</table>\n";
}

/// Describes one entry: costs as formulas and at the chosen sizes, trace, code, timings.
std::string section(const answers::Entry& entry, const Point& point,
                    const std::vector<MeasurementRow>& measurements) {
  return "<section id=\"" + escaped(entry.id) + "\">\n<h2>" + escaped(entry.id) + " <code>" +
         escaped(entry.tree) + "</code></h2>\n<table><tr><th>time</th><td><code>" + escaped(entry.time) +
         "</code></td><td class=\"n\">" + of_count(point.time) + "</td></tr>\n<tr><th>memory</th><td><code>" +
         escaped(entry.memory) + "</code></td><td class=\"n\">" + of_count(point.memory) +
         "</td></tr>\n<tr><th>schedules</th><td>" + escaped(entry.members) +
         " of this cost</td></tr>\n<tr><th>trace</th><td><code>" + escaped(entry.trace) +
         "</code></td></tr></table>\n<pre>" + escaped(entry.code) + "</pre>\n" +
         measured_rows(entry, measurements) + "</section>\n";
}

// Returns the problem in the names of the last request where they are known, else in canonical ones.
Result<problem::Canonical> canonical_of(const kernels_cache::FrontierRow& row) {
  if (const auto request = problem::parse_problem(row.asked); request.ok()) {
    problem::Canonical canonical = problem::canonicalize(*request);
    // The stored names are of no use when canonical form has changed since.
    if (canonical.text == row.canonical) return canonical;
  }
  SCHAAS_ASSIGN_OR_RETURN(const problem::Problem problem, problem::parse_problem(row.canonical));
  return problem::canonicalize(problem);
}

// Renames the traces of timings to the names of the page.
std::vector<MeasurementRow> renamed(std::vector<MeasurementRow> measurements, const UserNames& names) {
  for (MeasurementRow& row : measurements) {
    if (const auto trace = schedule::parse(row.trace); trace.ok())
      row.trace = schedule::print(names.to_user(*trace));
  }
  return measurements;
}

std::string problem_table(const problem::Canonical& canonical) {
  if (canonical.asked == canonical.text) return "<pre>" + escaped(canonical.text) + "</pre>\n";
  return "<table><tr><th>as requested</th><th>canonical form</th></tr>\n<tr><td><pre>" +
         escaped(canonical.asked) + "</pre></td><td><pre>" + escaped(canonical.text) +
         "</pre></td></tr></table>\n";
}

}  // namespace

/// The statement is the second line of a problem's text; the first is its version.
std::string statement_of(const std::string& problem_text) {
  const std::size_t begin = problem_text.find('\n') + 1;
  return problem_text.substr(begin, problem_text.find('\n', begin) - begin);
}

Result<std::string> frontier_page(const kernels_cache::FrontierRow& row,
                                  const std::vector<MeasurementRow>& measurements) {
  SCHAAS_ASSIGN_OR_RETURN(const problem::Canonical canonical, canonical_of(row));
  SCHAAS_ASSIGN_OR_RETURN(const frontier::Frontier found, parse_frontier(row.payload));
  const PreparedProblem prepared{canonical, UserNames(canonical), {}};
  SCHAAS_ASSIGN_OR_RETURN(const answers::Frontier frontier, named(found, prepared));
  const auto samples = frontier::LogBounds(canonical.problem).samples(sizes_tried);
  if (samples.empty())
    return support::internal("stored-frontier", "no size is allowed by the stored constraints");
  const cost::Point sizes = telling_sizes(found, samples);
  const std::vector<Point> points = points_at(found, sizes);
  const auto in_names = renamed(measurements, prepared.names);
  std::string sections;
  for (std::size_t e = 0; e < points.size(); ++e)
    sections += section(frontier.entries[e], points[e], in_names);
  std::string body = problem_table(canonical);
  if (!frontier.complete)
    body += "<p class=\"bad\">" + escaped("not complete: " + frontier.limited) + "</p>\n";
  body += "<p>Of " + escaped(frontier.counts.space) + " schedules " +
          std::to_string(frontier.entries.size()) + " can win; searched in " + html::of_seconds(row.seconds) +
          ", " + escaped(row.created) + ". Drawn at " +
          escaped(sizes_text(prepared.names.variables(), sizes)) + ".</p>\n";
  return html::page(statement_of(canonical.asked), body + picture(frontier.entries, points) + sections);
}

}  // namespace schaas::server
