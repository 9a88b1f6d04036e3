#include "compiler/support/plot.h"

#include <gtest/gtest.h>

#include <regex>

// Scatter plots as SVG: order of points on logarithmic axes, escaped text, links, style rules. Coordinates
// are compared with each other, not with numbers, so the layout may change. Zero has no logarithm and stands
// in the first column. A plot without points must print neither NaN nor infinity.
namespace schaas::support {
namespace {

using Kind = PlotPoint::Kind;

Plot three_points() {
  Plot plot;
  plot.x_label = "memory";
  plot.y_label = "time";
  plot.points = {{"s1", "s1: a < b", 0, 100, Kind::kept},
                 {"s2", "s2", 1000, 10, Kind::chosen},
                 {"", "r1", 1e6, 1000, Kind::dropped}};
  return plot;
}

std::size_t count(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  return static_cast<std::size_t>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), regex), std::sregex_iterator()));
}

double coordinate_of(const std::string& text, const std::string& circle, const char* coordinate) {
  std::smatch found;
  EXPECT_TRUE(std::regex_search(text, found,
                                std::regex("class=\"" + circle + "\"[^>]* " + coordinate + "=\"([0-9.]+)\"")))
      << text;
  return found.empty() ? -1 : std::stod(found[1]);
}

TEST(Plot, PlacesPointsByTheLogarithmsOfTheirCoordinates) {
  const std::string drawing = svg(three_points());
  EXPECT_EQ(count(drawing, "<circle class=\"kept\""), 1u);
  EXPECT_EQ(count(drawing, "<circle class=\"chosen\""), 1u);
  EXPECT_EQ(count(drawing, "<path class=\"dropped\""), 1u);
  EXPECT_LT(coordinate_of(drawing, "kept", "cx"),
            coordinate_of(drawing, "chosen", "cx"));  // 0 has the first column
  EXPECT_LT(coordinate_of(drawing, "kept", "cy"),
            coordinate_of(drawing, "chosen", "cy"));  // more time is higher up
  EXPECT_EQ(drawing, svg(three_points()));
}

TEST(Plot, TextIsEscapedAndLabelsOfOnePlaceStandTogether) {
  Plot plot = three_points();
  plot.title = "A(i) = \"<B>\" & C";
  plot.points[1].x = 0;
  plot.points[1].y = 100;
  const std::string drawing = svg(plot);
  EXPECT_NE(drawing.find("A(i) = &quot;&lt;B&gt;&quot; &amp; C"), std::string::npos) << drawing;
  EXPECT_NE(drawing.find("<title>s1: a &lt; b</title>"), std::string::npos);
  EXPECT_NE(drawing.find(">s1, s2</text>"), std::string::npos);
}

TEST(Plot, PointsMayLeadSomewhere) {
  Plot plot = three_points();
  EXPECT_EQ(svg(plot).find("<a "), std::string::npos);
  plot.points[0].link = "#s1";
  EXPECT_NE(svg(plot).find("<a href=\"#s1\"><title>s1: a &lt; b</title><circle"), std::string::npos);
}

TEST(Plot, RulesHoldBelowTheDrawingAloneAndMayBeElsewhere) {
  const std::string drawing = svg(three_points()), without = unstyled_svg(three_points());
  EXPECT_EQ(without.find("<style"), std::string::npos);
  const auto style = drawing.find("<style>\n" + plot_style() + "</style>\n");
  ASSERT_NE(style, std::string::npos);
  EXPECT_EQ(drawing.substr(0, style) + drawing.substr(drawing.find("</style>\n") + 9), without);
  const std::string rules = plot_style();
  EXPECT_EQ(count(rules, "\\{ [a-z]"), count(rules, "\\.schaas-plot "));
}

TEST(Plot, NothingIsAPictureToo) {
  Plot plot = three_points();
  plot.points.clear();
  const std::string drawing = svg(plot);
  EXPECT_EQ(drawing.find("nan"), std::string::npos);
  EXPECT_EQ(drawing.find("inf"), std::string::npos);
  EXPECT_EQ(count(drawing, "<circle"), 0u);
}

}  // namespace
}  // namespace schaas::support
