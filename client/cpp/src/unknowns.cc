#include "unknowns.h"

#include <algorithm>

namespace schaas::client {

int Unknowns::number(const Variable& variable) {
  const auto found = std::find(variables_.begin(), variables_.end(), variable);
  const auto number = static_cast<int>(found - variables_.begin());
  if (found == variables_.end()) variables_.push_back(variable);
  return number;
}

support::Result<std::vector<double>> Unknowns::values(const Sizes& sizes) const {
  std::vector<double> out;
  out.reserve(variables_.size());
  for (const Variable& variable : variables_) {
    SCHAAS_ASSIGN_OR_RETURN(const double value, evaluate(variable, sizes));
    out.push_back(value);
  }
  return out;
}

}  // namespace schaas::client
