#include "compiler/schedule/temporary_names.h"

#include <algorithm>

namespace schaas::schedule {

TemporaryNames::TemporaryNames(const problem::Problem& problem)
    : taken_(index_notation::index_variables(problem.statement)) {
  for (const auto& [tensor, format] : problem.formats) taken_.push_back(tensor);
  for (const auto& intermediate : problem.intermediates) {
    taken_.push_back(intermediate.result.tensor);
    for (const auto& index : index_notation::index_variables(intermediate)) taken_.push_back(index);
  }
}

std::string TemporaryNames::next() {
  std::string name;
  do {
    name = "t";
    name += std::to_string(++last_);
  } while (std::find(taken_.begin(), taken_.end(), name) != taken_.end());
  return name;
}

}  // namespace schaas::schedule
