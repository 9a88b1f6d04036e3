#pragma once
#include <string>
#include <vector>

/// A drawing of points in a plane whose axes are logarithmic: time against memory, mostly. The one drawing of
/// `schaas plot`, of notebooks and of the server's pages.
namespace schaas::support {

struct PlotPoint {
  std::string label;    ///< drawn beside the point; may be empty
  std::string tooltip;  ///< lines
  double x = 0;         ///< >= 0
  double y = 0;         ///< > 0
  enum class Kind { kept, dropped, chosen } kind = Kind::kept;
  std::string link{};  ///< target of the point's link; may be empty
};

struct Plot {
  std::string title{}, subtitle{};  ///< no space is reserved where both are empty
  std::string x_label, y_label;
  std::vector<PlotPoint> points;
  std::string kept{}, dropped{}, chosen{};  ///< for the legend; "" leaves the line out
};

/// Renders SVG (valid XML, no script, no outside resource), fit for a file and for a page. Its rules hold
/// below its own class `schaas-plot` alone. x = 0 has a column of its own at the left; kept points are discs
/// joined along their best steps, dropped ones crosses, the chosen one ringed; tooltips are <title>. Follows
/// the reader's light or dark scheme. The same plot gives the same text.
std::string svg(const Plot& plot);

/// The same without its rules, for pages that may not hold any; they link a sheet with plot_style().
std::string unstyled_svg(const Plot& plot);
std::string plot_style();

}  // namespace schaas::support
