#pragma once
#include <string>
#include <vector>

namespace schaas::cli {

/// One schedule, or one cost class that was removed, in the plane of memory and time.
struct PlotPoint {
  std::string label;    ///< drawn beside the point; may be empty
  std::string tooltip;  ///< lines
  double memory = 0;    ///< >= 0
  double time = 0;      ///< > 0
  enum class Kind { survivor, dropped, chosen } kind = Kind::survivor;
};

struct Plot {
  std::string title, subtitle;
  std::string memory_label, time_label;
  std::vector<PlotPoint> points;
  std::string survivors, dropped, chosen;  ///< for the legend; "" leaves the line out
};

/// A drawing as SVG (valid XML, no script, no outside resource): both axes logarithmic, with memory 0 in a
/// column of its own at the left; survivors as discs joined along their best steps, removed classes as
/// crosses, the chosen one ringed; tooltips as <title>. Follows the reader's light or dark scheme. The same
/// plot gives the same text.
std::string svg(const Plot& plot);

}  // namespace schaas::cli
