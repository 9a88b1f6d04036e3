#include "compiler/frontier/proofs/simplex.h"

#include <algorithm>
#include <cmath>

// Simplex method on a dense tableau, in two phases, with Bland's smallest-index rule, which never cycles (New
// finite pivoting rules for the simplex method, 1977). Phase 1 adds one artificial column and runs once:
// `start_` stays feasible, and every objective starts from it. Multipliers of rows are the negated reduced
// costs of their slacks. Results are approximate; callers that prove something check them in integers.
namespace schaas::frontier {
namespace {
/// Coefficients below it count as zero.
constexpr double epsilon = 1e-9;
constexpr int max_steps = 5000;
}  // namespace

Simplex::Simplex(int variables, const std::vector<LinearRow>& rows)
    : variables_(static_cast<std::size_t>(variables)), slacks_(rows.size()) {
  const std::size_t columns = variables_ + slacks_;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    Row row(columns + 1, 0);
    std::copy(rows[r].coefficients.begin(), rows[r].coefficients.end(), row.begin());
    row[variables_ + r] = 1;
    row[columns] = rows[r].bound;
    start_.rows.push_back(std::move(row));
    start_.basis.push_back(static_cast<int>(variables_ + r));
  }
  make_feasible();
}

/// Makes a column basic in a row and eliminates it elsewhere.
void Simplex::pivot(Tableau& tableau, std::size_t row, std::size_t column) {
  Row& by = tableau.rows[row];
  const double factor = 1 / by[column];
  for (double& value : by) value *= factor;
  const auto eliminate = [&](Row& from) {
    const double times = from[column];
    if (times == 0) return;
    for (std::size_t c = 0; c < from.size(); ++c) from[c] -= times * by[c];
    from[column] = 0;
  };
  for (std::size_t r = 0; r < tableau.rows.size(); ++r) {
    if (r != row) eliminate(tableau.rows[r]);
  }
  eliminate(tableau.cost);
  tableau.basis[row] = static_cast<int>(column);
}

/// True at an optimum, false when unbounded.
bool Simplex::optimise(Tableau& tableau, std::size_t columns) {
  for (int step = 0; step < max_steps; ++step) {
    std::size_t enter = columns;
    for (std::size_t c = 0; c < columns && enter == columns; ++c) {
      if (tableau.cost[c] > epsilon) enter = c;
    }
    if (enter == columns) return true;
    std::size_t leave = tableau.rows.size();
    double best = 0;
    for (std::size_t r = 0; r < tableau.rows.size(); ++r) {
      const double slope = tableau.rows[r][enter];
      if (slope <= epsilon) continue;
      const double ratio = tableau.rows[r].back() / slope;
      const bool closer = leave == tableau.rows.size() || ratio < best - epsilon ||
                          (ratio < best + epsilon && tableau.basis[r] < tableau.basis[leave]);
      if (closer) {
        leave = r;
        best = ratio;
      }
    }
    if (leave == tableau.rows.size()) return false;
    pivot(tableau, leave, enter);
  }
  return false;
}

/// Phase 1: one artificial column is driven to zero.
void Simplex::make_feasible() {
  std::size_t worst = 0;
  for (std::size_t r = 0; r < start_.rows.size(); ++r) {
    if (start_.rows[r].back() < start_.rows[worst].back()) worst = r;
  }
  start_.cost.assign(variables_ + slacks_ + 1, 0);
  if (start_.rows.empty() || start_.rows[worst].back() >= 0) return;
  const std::size_t artificial = variables_ + slacks_;
  Tableau tableau = start_;
  for (Row& row : tableau.rows) row.insert(row.end() - 1, -1);
  tableau.cost.assign(artificial + 2, 0);
  tableau.cost[artificial] = -1;
  pivot(tableau, worst, artificial);
  feasible_ = optimise(tableau, artificial + 1) && std::abs(tableau.cost.back()) < 1e-7;
  if (!feasible_) return;
  for (std::size_t r = 0; r < tableau.rows.size(); ++r) {
    if (tableau.basis[r] != static_cast<int>(artificial)) continue;
    // Zero in the basis: any column with a coefficient may take its position.
    for (std::size_t c = 0; c < artificial; ++c) {
      if (std::abs(tableau.rows[r][c]) > epsilon) {
        pivot(tableau, r, c);
        break;
      }
    }
  }
  for (Row& row : tableau.rows) row.erase(row.end() - 2);
  start_.rows = std::move(tableau.rows);
  start_.basis = std::move(tableau.basis);
}

std::optional<Simplex::Optimum> Simplex::maximise(const std::vector<double>& objective) const {
  const std::size_t columns = variables_ + slacks_;
  Tableau tableau = start_;
  tableau.cost.assign(columns + 1, 0);
  std::copy(objective.begin(), objective.end(), tableau.cost.begin());
  for (std::size_t r = 0; r < tableau.rows.size(); ++r) {
    const auto basic = static_cast<std::size_t>(tableau.basis[r]);
    // The artificial column could not leave the basis.
    if (basic >= columns) return std::nullopt;
    const double times = tableau.cost[basic];
    if (times == 0) continue;
    for (std::size_t c = 0; c <= columns; ++c) tableau.cost[c] -= times * tableau.rows[r][c];
    tableau.cost[basic] = 0;
  }
  if (!optimise(tableau, columns)) return std::nullopt;
  Optimum optimum;
  optimum.value = -tableau.cost[columns];
  optimum.x.assign(variables_, 0);
  for (std::size_t r = 0; r < tableau.rows.size(); ++r) {
    const auto basic = static_cast<std::size_t>(tableau.basis[r]);
    if (basic < variables_) optimum.x[basic] = tableau.rows[r].back();
  }
  for (std::size_t r = 0; r < slacks_; ++r)
    optimum.multipliers.push_back(std::max(0.0, -tableau.cost[variables_ + r]));
  return optimum;
}

}  // namespace schaas::frontier
