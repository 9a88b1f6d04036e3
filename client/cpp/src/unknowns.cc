#include "unknowns.h"

namespace schaas::client {

int Unknowns::number(const Variable& variable) {
  const auto [place, added] = numbers_.try_emplace(variable, static_cast<int>(variables_.size()));
  if (added) variables_.push_back(variable);
  return place->second;
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
