#include "server/frontier_page.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/frontier/log_bounds.h"
#include "server/html.h"
#include "server/stored_frontier.h"
#include "server/subject.h"

namespace schaas::server {
namespace {

using html::escaped;
using html::of_count;
using kernels_cache::MeasurementRow;
using support::Result;

constexpr std::size_t sizes_tried = 64;
constexpr double width = 720, height = 360, margin = 60;

/// A schedule of the frontier at the sizes of the picture.
struct Point {
  std::string id;
  double time = 0, memory = 0;  ///< weighted trips; elements
};

/// A logarithmic axis over what is drawn.
class Axis {
 public:
  Axis(double from, double to) : from_(from), to_(to) {}
  void take(double value) {
    least_ = std::min(least_, log(value));
    most_ = std::max(most_, log(value));
  }
  double place(double value) const {
    const double span = most_ - least_;
    return span < 1e-9 ? (from_ + to_) / 2 : from_ + (log(value) - least_) / span * (to_ - from_);
  }
  double least() const { return std::pow(10, least_); }
  double most() const { return std::pow(10, most_); }

 private:
  static double log(double value) { return std::log10(std::max(value, 1.0)); }
  double from_, to_;
  double least_ = std::numeric_limits<double>::infinity(), most_ = -least_;
};

std::string picture(const std::vector<Point>& points) {
  Axis across(margin, width - margin), up(height - margin, margin);
  for (const Point& point : points) {
    across.take(point.memory);
    up.take(point.time);
  }
  std::string out = fmt::format(
      "<svg viewBox=\"0 0 {} {}\" width=\"{}\" role=\"img\" aria-label=\"time against memory\">\n", width,
      height, width);
  out += fmt::format(
      "<line class=\"axis\" x1=\"{0}\" y1=\"{1}\" x2=\"{2}\" y2=\"{1}\"/>"
      "<line class=\"axis\" x1=\"{0}\" y1=\"{1}\" x2=\"{0}\" y2=\"{3}\"/>\n",
      margin - 15, height - margin + 15, width - margin, margin);
  const auto label = [&](double x, double y, const char* anchor, const std::string& text) {
    out += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                       escaped(text));
  };
  label(width / 2, height - 12, "middle", "memory: elements of temporaries");
  label(margin, 24, "middle", "time: weighted trips");
  label(margin, height - 28, "middle", of_count(across.least()));
  label(width - margin, height - 28, "middle", of_count(across.most()));
  label(margin - 20, height - margin, "end", of_count(up.least()));
  label(margin - 20, margin, "end", of_count(up.most()));
  for (const Point& point : points) {
    const double x = across.place(point.memory), y = up.place(point.time);
    out += fmt::format(
        "<a href=\"#{0}\"><title>{0}: time {1}, memory {2}</title><circle cx=\"{3:.1f}\" cy=\"{4:.1f}\" "
        "r=\"6\"/><text x=\"{5:.1f}\" y=\"{6:.1f}\">{0}</text></a>\n",
        escaped(point.id), of_count(point.time), of_count(point.memory), x, y, x + 9, y - 6);
  }
  return out + "</svg>\n";
}

// How many schedules of the frontier are on that of the sizes alone.
std::size_t shown_best(const std::vector<Point>& points) {
  return static_cast<std::size_t>(std::count_if(points.begin(), points.end(), [&](const Point& mine) {
    return std::none_of(points.begin(), points.end(), [&](const Point& other) {
      return other.time <= mine.time && other.memory <= mine.memory &&
             (other.time < mine.time || other.memory < mine.memory);
    });
  }));
}

std::vector<Point> points_at(const std::vector<NamedEntry>& entries, const cost::Point& sizes) {
  std::vector<Point> points;
  for (const NamedEntry& entry : entries)
    points.push_back(
        {entry.id, cost::evaluate_time(entry.cost, sizes), cost::evaluate_memory(entry.cost, sizes)});
  return points;
}

// Of some allowed sizes those at which most schedules are worth something; of equal ones the middle, which
// comes first.
cost::Point telling_sizes(const std::vector<NamedEntry>& entries, const std::vector<cost::Point>& samples) {
  const auto worth = [&](const cost::Point& sizes) { return shown_best(points_at(entries, sizes)); };
  return *std::max_element(samples.begin(), samples.end(),
                           [&](const cost::Point& a, const cost::Point& b) { return worth(a) < worth(b); });
}

std::string sizes_text(const cost::Variables& variables, const cost::Point& point) {
  std::string out;
  for (std::size_t v = 0; v < variables.extents.size(); ++v)
    out += (out.empty() ? "" : ", ") + variables.extents[v].index + " = " + of_count(point[v]);
  for (std::size_t f = 0; f < variables.fibers.size(); ++f) {
    const auto& fiber = variables.fibers[f];
    out += fmt::format(", entries of {} in level {} = {:.3g}", fiber.tensor, fiber.level,
                       point[cost::Variables::first_fiber + f]);
  }
  return out;
}

std::string measured_rows(const NamedEntry& entry, const std::vector<MeasurementRow>& measurements) {
  std::string rows;
  for (const MeasurementRow& row : measurements) {
    const auto of_entry = [&](const NamedVariant& variant) { return variant.trace == row.trace; };
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

std::string section(const NamedEntry& entry, const Point& point,
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

}  // namespace

Result<std::string> frontier_page(const kernels_cache::FrontierRow& row,
                                  const std::vector<MeasurementRow>& measurements) {
  SCHAAS_ASSIGN_OR_RETURN(const problem::Problem problem, problem::parse_problem(row.canonical));
  SCHAAS_ASSIGN_OR_RETURN(const frontier::Frontier found, parse_frontier(row.payload));
  problem::Canonical canonical = problem::canonicalize(problem);
  const Subject subject{canonical, UserNames(canonical), {}};
  SCHAAS_ASSIGN_OR_RETURN(const NamedFrontier frontier, named(found, subject));
  const auto samples = frontier::LogBounds(canonical.problem).samples(sizes_tried);
  if (samples.empty())
    return support::internal("stored-frontier", "no size is allowed by the stored constraints");
  const cost::Point sizes = telling_sizes(frontier.entries, samples);
  const std::vector<Point> points = points_at(frontier.entries, sizes);
  std::string sections;
  for (std::size_t e = 0; e < points.size(); ++e)
    sections += section(frontier.entries[e], points[e], measurements);
  std::string body = "<pre>" + escaped(row.canonical) + "</pre>\n";
  if (!frontier.complete)
    body += "<p class=\"bad\">" + escaped("not complete: " + frontier.limited) + "</p>\n";
  body += "<p>Of " + escaped(frontier.counts.space) + " schedules " +
          std::to_string(frontier.entries.size()) + " can win; searched in " + html::of_seconds(row.seconds) +
          ", " + escaped(row.created) + ". Drawn at " + escaped(sizes_text(frontier.variables, sizes)) +
          ".</p>\n";
  return html::page(frontier.statement, body + picture(points) + sections);
}

}  // namespace schaas::server
