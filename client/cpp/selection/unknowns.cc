#include "client/cpp/selection/unknowns.h"

#include <algorithm>

// Numbers for the variables of cost terms. A frontier's terms share few variables, so equal ones are found by
// a linear search when it is prepared; each is looked up once per selection.
namespace schaas::client {

int Unknowns::number(const Variable& variable) { return index_of(Unknown{variable, false}); }

int Unknowns::share(const OccupiedRows& coordinates) {
  return index_of(Unknown{{Variable::Kind::fiber, "", coordinates.tensor, coordinates.level}, true});
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
  for (const auto& [variable, is_share] : unknowns_) {
    // A share that is not known counts as whole: the estimate is then an upper bound.
    if (is_share) {
      const auto known = sizes.occupied.find(variable.tensor);
      const auto level = static_cast<std::size_t>(variable.level);
      out.push_back(known == sizes.occupied.end() || level >= known->second.size() ? 1
                                                                                   : known->second[level]);
      continue;
    }
    SCHAAS_ASSIGN_OR_RETURN(const double value, evaluate(variable, sizes));
    out.push_back(value);
  }
  return out;
}

}  // namespace schaas::client
