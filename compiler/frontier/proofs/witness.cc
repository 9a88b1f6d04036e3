#include "compiler/frontier/proofs/witness.h"

#include <cmath>

// Search for whole sizes at which one sum is less than another. Samples come first, then corners where the
// ratio of two terms is extreme, last a model of the solver. Double precision only proposes sizes; a finding
// is compared in fractions. Corners are seldom whole numbers, so points between a corner and the middle are
// tried as well.
namespace schaas::frontier {
namespace {

constexpr std::size_t witness_samples = 384;
/// Extremes are looked for below these sizes, the modest ones first: people read them.
constexpr double boxes[] = {1e3, 1e6, 1e9, 1e18};

double value_of(const std::vector<cost::Term>& terms, const cost::Point& point) {
  return cost::evaluate_time({terms, {}}, point);
}

}  // namespace

WitnessSearch::WitnessSearch(LogBounds& bounds, Solver* solver, int solver_milliseconds)
    : bounds_(bounds), solver_(solver), milliseconds_(solver_milliseconds) {
  if (solver_ != nullptr) solver_->assume(bounds.solver_variables(), bounds.relations());
  for (const cost::Point& point : bounds.samples(witness_samples)) {
    auto sizes = whole_sizes(point, bounds);
    if (!sizes) continue;
    cost::Point exact = ExactValues(*sizes, bounds.problem(), bounds.variables()).point();
    samples_.push_back({std::move(*sizes), std::move(exact)});
  }
}

bool WitnessSearch::holds(const Sizes& sizes, const std::vector<cost::Term>& lesser,
                          const std::vector<cost::Term>& greater) const {
  const ExactValues values(sizes, bounds_.problem(), bounds_.variables());
  return values.of(lesser) < values.of(greater);
}

std::optional<Sizes> WitnessSearch::at_extremes(const std::vector<cost::Term>& lesser,
                                                const std::vector<cost::Term>& greater) const {
  constexpr int steps = 8;
  for (const double most : boxes) {
    for (cost::Term above : greater) {
      const auto ask = [&](cost::Term below) -> std::optional<Sizes> {
        const auto extreme = bounds_.extreme(above, below, most);
        if (!extreme) return std::nullopt;
        for (int step = steps; step > 0; --step) {
          // Mixed in logarithms with the middle of the samples: whole numbers need room.
          cost::Point point = *extreme;
          if (samples_.empty() && step < steps) break;
          for (std::size_t n = 0; n < point.size() && step < steps; ++n) {
            const double middle = n < samples_.front().point.size() ? samples_.front().point[n] : 1;
            const double part = static_cast<double>(step) / steps;
            if (point[n] > 0 && middle > 0) point[n] = std::pow(point[n], part) * std::pow(middle, 1 - part);
          }
          auto sizes = whole_sizes(point, bounds_);
          if (sizes && holds(*sizes, lesser, greater)) return sizes;
        }
        return std::nullopt;
      };
      // Without a lesser term the largest value of a greater one will do.
      if (lesser.empty()) {
        if (auto found = ask(0)) return found;
      }
      for (cost::Term below : lesser) {
        if (auto found = ask(below)) return found;
      }
    }
  }
  return std::nullopt;
}

std::optional<Sizes> WitnessSearch::by_solver(const std::vector<cost::Term>& lesser,
                                              const std::vector<cost::Term>& greater) {
  if (solver_ == nullptr) return std::nullopt;
  const SolverRelation less{bounds_.solver_sum(lesser), bounds_.solver_sum(greater), true};
  if (solver_->check(less, milliseconds_) != Verdict::satisfiable) return std::nullopt;
  const std::vector<double> model = solver_->model();
  if (model.size() != static_cast<std::size_t>(bounds_.solver_variables())) return std::nullopt;
  const cost::Point at = bounds_.point_of_model(model);
  // Larger sizes lose less by rounding.
  for (const double scale : {1.0, 2.0, 16.0, 1024.0}) {
    cost::Point point = at;
    for (double& value : point) value *= scale;
    auto sizes = whole_sizes(point, bounds_);
    if (sizes && holds(*sizes, lesser, greater)) return sizes;
  }
  return std::nullopt;
}

std::optional<Sizes> WitnessSearch::less(const std::vector<cost::Term>& lesser,
                                         const std::vector<cost::Term>& greater) {
  const Sample* clearest = nullptr;
  double best = 1;
  for (const Sample& sample : samples_) {
    const double ratio = value_of(lesser, sample.point) / value_of(greater, sample.point);
    if (!(ratio < best)) continue;
    best = ratio;
    clearest = &sample;
  }
  if (clearest != nullptr && holds(clearest->sizes, lesser, greater)) return clearest->sizes;
  if (auto found = at_extremes(lesser, greater)) return found;
  return by_solver(lesser, greater);
}

}  // namespace schaas::frontier
