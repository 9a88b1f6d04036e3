#include "compiler/support/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "compiler/support/markup.h"

// A drawing as SVG text, laid out by hand on a page of fixed size. Both axes are logarithmic and span whole
// decades; x = 0, which has no logarithm, has a column of its own. Widths of texts are estimated from their
// number of characters, since no font is known here. Everything of the caller's passes through
// escaped_markup.
namespace schaas::support {
namespace {

constexpr double width = 860, height = 560;
constexpr double left = 92, right = 24, titled_top = 78, untitled_top = 24, bottom = 96;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

/// A decade as a tick: 1, 10, 1000, 1e6.
std::string tick(int decade) {
  if (decade < -3 || decade > 4) return "1e" + std::to_string(decade);
  char text[32];
  std::snprintf(text, sizeof text, "%g", std::pow(10.0, decade));
  return text;
}

/// Decades that hold every value; at least one wide.
struct Scale {
  int low = 0, high = 1;
  double begin = 0, end = 1;  ///< pixels of the two

  /// Returns the whole decades around the values, with a twentieth of a decade to spare at both ends.
  static Scale over(const std::vector<double>& values, double begin, double end) {
    Scale scale;
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (const double value : values) {
      least = std::min(least, value);
      most = std::max(most, value);
    }
    // Values are positive; without any the scale keeps its one decade.
    if (!values.empty()) {
      scale.low = static_cast<int>(std::floor(std::log10(least) - 0.05));
      scale.high = std::max(scale.low + 1, static_cast<int>(std::ceil(std::log10(most) + 0.05)));
    }
    scale.begin = begin;
    scale.end = end;
    return scale;
  }
  double at(double value) const { return begin + (std::log10(value) - low) / (high - low) * (end - begin); }
  double at_decade(int decade) const { return begin + double(decade - low) / (high - low) * (end - begin); }
  /// Every how many decades a tick is drawn.
  int step() const { return 1 + (high - low - 1) / 10; }
};

struct Colours {
  std::string ground, ink, quiet, line, good, mark;
};

/// Plain rules, no custom properties: programs that are not browsers draw those black. Only below the
/// drawing's own class, for the page around it has rules too.
std::string rules(const std::string& within, const Colours& c) {
  std::string out;
  const auto rule = [&](const std::string& of, const std::string& what) {
    out += within + of + " { " + what + " }\n";
  };
  rule(".ground", "fill: " + c.ground + ";");
  rule("text", "fill: " + c.ink + ";");
  rule(".quiet", "fill: " + c.quiet + ";");
  rule(".grid", "stroke: " + c.line + ";");
  rule(".steps", "stroke: " + c.good + ";");
  rule(".dropped", "stroke: " + c.quiet + ";");
  rule(".kept", "fill: " + c.good + "; stroke: " + c.ground + ";");
  rule(".chosen", "fill: " + c.good + "; stroke: " + c.mark + ";");
  rule("a:hover .kept", "fill: " + c.mark + ";");
  return out;
}

class Drawing {
 public:
  explicit Drawing(const Plot& plot) : plot_(plot) {
    if (plot.title.empty() && plot.subtitle.empty()) top_ = untitled_top;
    std::vector<double> across, up;
    for (const PlotPoint& point : plot.points) {
      up.push_back(point.y);
      if (point.x > 0) across.push_back(point.x);
      if (point.x <= 0) has_zero_ = true;
    }
    x_ = Scale::over(across, left + (has_zero_ ? 64 : 12), width - right);
    y_ = Scale::over(up, height - bottom, top_);
  }

  std::string text(const std::string& style) {
    head(style);
    axes();
    staircase();
    // Later kinds are drawn over earlier ones: the chosen point is never hidden.
    for (const auto kind : {PlotPoint::Kind::dropped, PlotPoint::Kind::kept, PlotPoint::Kind::chosen}) {
      for (const PlotPoint& point : plot_.points) {
        if (point.kind == kind) draw(point);
      }
    }
    labels();
    legend();
    return out_ + "</svg>\n";
  }

 private:
  double x(const PlotPoint& point) const { return point.x > 0 ? x_.at(point.x) : zero_column(); }
  double y(const PlotPoint& point) const { return y_.at(point.y); }
  static double zero_column() { return left + 24; }

  void head(const std::string& style) {
    out_ += "<svg class=\"schaas-plot\" xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) +
            "\" height=\"" + number(height) + "\" viewBox=\"0 0 " + number(width) + " " + number(height) +
            "\" role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"12\">\n" + style +
            "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n";
    if (!plot_.title.empty()) words(left, 28, plot_.title, "font-size=\"16\" font-weight=\"600\"");
    if (!plot_.subtitle.empty()) words(left, 50, plot_.subtitle, "class=\"quiet\"");
  }

  void words(double at_x, double at_y, const std::string& what, const std::string& more) {
    out_ += "<text x=\"" + number(at_x) + "\" y=\"" + number(at_y) + "\" " + more + ">" +
            escaped_markup(what) + "</text>\n";
  }
  void line(double x1, double y1, double x2, double y2) {
    out_ += "<line class=\"grid\" x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) +
            "\" y2=\"" + number(y2) + "\"/>\n";
  }

  /// Draws a grid line and a tick for each step of decades, and the names of both axes.
  void axes() {
    for (int decade = y_.low; decade <= y_.high; decade += y_.step()) {
      line(left, y_.at_decade(decade), width - right, y_.at_decade(decade));
      words(left - 8, y_.at_decade(decade) + 4, tick(decade), "class=\"quiet\" text-anchor=\"end\"");
    }
    const double floor = height - bottom;
    if (has_zero_) {
      line(zero_column(), top_, zero_column(), floor);
      words(zero_column(), floor + 18, "0", "class=\"quiet\" text-anchor=\"middle\"");
    }
    for (int decade = x_.low; decade <= x_.high; decade += x_.step()) {
      line(x_.at_decade(decade), top_, x_.at_decade(decade), floor);
      words(x_.at_decade(decade), floor + 18, tick(decade), "class=\"quiet\" text-anchor=\"middle\"");
    }
    words((left + width - right) / 2, floor + 40, plot_.x_label, "text-anchor=\"middle\"");
    out_ += "<text transform=\"translate(22 " + number((top_ + floor) / 2) +
            ") rotate(-90)\" text-anchor=\"middle\">" + escaped_markup(plot_.y_label) + "</text>\n";
  }

  /// The least y with at most so much x.
  void staircase() {
    std::vector<const PlotPoint*> kept;
    for (const PlotPoint& point : plot_.points) {
      if (point.kind != PlotPoint::Kind::dropped) kept.push_back(&point);
    }
    std::stable_sort(kept.begin(), kept.end(), [](const PlotPoint* a, const PlotPoint* b) {
      return a->x != b->x ? a->x < b->x : a->y < b->y;
    });
    std::string path;
    double best = std::numeric_limits<double>::infinity();
    // Points are sorted by x, so a step goes down only where y beats all points with less x.
    for (const PlotPoint* point : kept) {
      if (point->y >= best) continue;
      path += path.empty() ? "M" + number(x(*point)) + " " + number(y(*point))
                           : " H" + number(x(*point)) + " V" + number(y(*point));
      best = point->y;
    }
    if (!path.empty()) out_ += "<path class=\"steps\" d=\"" + path + " H" + number(width - right) + "\"/>\n";
  }

  std::string mark(PlotPoint::Kind kind, double at_x, double at_y) const {
    if (kind != PlotPoint::Kind::dropped) {
      const bool chosen = kind == PlotPoint::Kind::chosen;
      return "<circle class=\"" + std::string(chosen ? "chosen" : "kept") + "\" cx=\"" + number(at_x) +
             "\" cy=\"" + number(at_y) + "\" r=\"" + (chosen ? "6.5" : "5") + "\"/>";
    }
    const auto corner = [&](double dx, double dy) { return number(at_x + dx) + " " + number(at_y + dy); };
    return "<path class=\"dropped\" d=\"M" + corner(-3, -3) + " L" + corner(3, 3) + " M" + corner(-3, 3) +
           " L" + corner(3, -3) + "\"/>";
  }

  void draw(const PlotPoint& point) {
    const std::string linked = point.link.empty() ? "g" : "a href=\"" + escaped_markup(point.link) + "\"";
    out_ += "<" + linked + "><title>" + escaped_markup(point.tooltip) + "</title>" +
            mark(point.kind, x(point), y(point)) + (point.link.empty() ? "</g>\n" : "</a>\n");
  }

  /// Points that lie on each other share one line of labels: the first stands for all.
  void labels() {
    std::vector<bool> written(plot_.points.size(), false);
    for (std::size_t n = 0; n < plot_.points.size(); ++n) {
      const PlotPoint& first = plot_.points[n];
      if (written[n] || first.label.empty()) continue;
      std::string together;
      for (std::size_t m = n; m < plot_.points.size(); ++m) {
        const PlotPoint& other = plot_.points[m];
        if (written[m] || other.label.empty() || std::abs(x(other) - x(first)) > 4 ||
            std::abs(y(other) - y(first)) > 8)
          continue;
        written[m] = true;
        together += (together.empty() ? "" : ", ") + other.label;
      }
      // A label that would leave the page is written to the left of its point.
      const bool at_the_edge = x(first) + 9 + 6.2 * static_cast<double>(together.size()) > width;
      words(x(first) + (at_the_edge ? -9 : 9), y(first) - 7, together,
            at_the_edge ? "font-size=\"11\" text-anchor=\"end\"" : "font-size=\"11\"");
    }
  }

  /// Writes the legend in one line, each entry as wide as its estimated text.
  void legend() {
    double at = left;
    const auto entry = [&](PlotPoint::Kind kind, const std::string& what) {
      if (what.empty()) return;
      out_ += mark(kind, at, height - 24) + "\n";
      words(at + 12, height - 20, what, "");
      at += 40 + 6.6 * static_cast<double>(what.size());
    };
    entry(PlotPoint::Kind::kept, plot_.kept);
    entry(PlotPoint::Kind::dropped, plot_.dropped);
    entry(PlotPoint::Kind::chosen, plot_.chosen);
  }

  const Plot& plot_;
  Scale x_, y_;
  double top_ = titled_top;
  bool has_zero_ = false;
  std::string out_;
};

}  // namespace

std::string plot_style() {
  const std::string within = ".schaas-plot ";
  std::string style = ".schaas-plot { max-width: 100%; height: auto; }\n" +
                      rules(within, {"#ffffff", "#1c1e21", "#6b7075", "#dfe2e6", "#1f5fbf", "#b4480a"});
  style += within + ".steps { fill: none; stroke-opacity: 0.45; }\n" + within + ".dropped { fill: none; }\n" +
           within + ".chosen { stroke-width: 2.5; }\n";
  return style + "@media (prefers-color-scheme: dark) {\n" +
         rules(within, {"#17191c", "#e9ebee", "#9aa0a6", "#33373c", "#7fb2ff", "#ffa45c"}) + "}\n";
}

std::string svg(const Plot& plot) { return Drawing(plot).text("<style>\n" + plot_style() + "</style>\n"); }

std::string unstyled_svg(const Plot& plot) { return Drawing(plot).text(""); }

}  // namespace schaas::support
