#pragma once
#include <optional>
#include <vector>

namespace schaas::frontier {

/// sum(coefficients * x) <= bound.
struct LinearRow {
  std::vector<double> coefficients;
  double bound = 0;
};

/// Small dense linear programs over x >= 0 (tens of rows and columns), two phases, smallest-index rule (never
/// cycles). Double precision: whoever claims a proof checks it again (log_bounds.h does, in integers).
class Simplex {
 public:
  Simplex(int variables, const std::vector<LinearRow>& rows);

  bool feasible() const { return feasible_; }

  struct Optimum {
    double value = 0;
    std::vector<double> x;
    std::vector<double> multipliers;  ///< one per row, >= 0: value = sum(multiplier * bound)
  };
  /// The maximum of sum(objective * x); nullopt when unbounded or (never seen) after too many steps. Needs
  /// feasible().
  std::optional<Optimum> maximise(const std::vector<double>& objective) const;

 private:
  using Row = std::vector<double>;
  struct Tableau {
    std::vector<Row> rows;   ///< per basic variable: coefficients of all columns, then the value
    std::vector<int> basis;  ///< column that is basic in each row
    Row cost;                ///< reduced costs (to be made <= 0), then minus the value
  };
  static void pivot(Tableau& tableau, std::size_t row, std::size_t column);
  static bool optimise(Tableau& tableau, std::size_t columns);
  void make_feasible();

  std::size_t variables_;
  std::size_t slacks_;
  Tableau start_;
  bool feasible_ = true;
};

}  // namespace schaas::frontier
