#include "client/cpp/selection/unknowns.h"

#include <algorithm>

// Numbers for the variables of cost terms. A frontier's terms share few variables, so equal ones are found by
// a linear search when it is prepared; each is looked up once per selection.
namespace schaas::client {

int Unknowns::number(const Variable& variable, LeadingLevels leading) {
  return index_of(Unknown{variable, std::move(leading), false});
}

int Unknowns::share(const OccupiedRows& coordinates) {
  return index_of(Unknown{{Variable::Kind::fiber, "", coordinates.tensor, coordinates.level}, {}, true});
}

int Unknowns::index_of(const Unknown& unknown) {
  const auto found = std::find(unknowns_.begin(), unknowns_.end(), unknown);
  const auto number = static_cast<int>(found - unknowns_.begin());
  if (found == unknowns_.end()) unknowns_.push_back(unknown);
  return number;
}

support::Result<std::vector<double>> Unknowns::values(const Sizes& sizes) const {
  std::vector<double> out;
  out.reserve(unknowns_.size());
  for (const auto& [variable, leading, is_share] : unknowns_) {
    // A share that is not known counts as whole: the estimate is then an upper bound.
    if (is_share) {
      const auto known = sizes.occupied.find(variable.tensor);
      const auto level = static_cast<std::size_t>(variable.level);
      out.push_back(known == sizes.occupied.end() || level >= known->second.size() ? 1
                                                                                   : known->second[level]);
      continue;
    }
    SCHAAS_ASSIGN_OR_RETURN(const double value, evaluate(variable, sizes, leading));
    out.push_back(value);
  }
  return out;
}

std::vector<int> trip_numbers(const Nest& nest, Unknowns& unknowns) {
  std::vector<int> numbers;
  std::vector<Variable> walked;
  for (const Nest::Loop& loop : nest.loops) {
    // Both loops of a list that is cut into blocks count its trips.
    if (loop.block == 0 || loop.inside) walked.push_back(loop.trips);
    numbers.push_back(loop.block > 0 && !loop.inside
                          ? unknowns.number(loop.trips)
                          : unknowns.number(loop.trips, leading_levels(walked, walked.size() - 1)));
  }
  return numbers;
}

}  // namespace schaas::client
