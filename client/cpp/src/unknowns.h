#pragma once
#include <vector>

#include "schaas/select.h"

// Variables of cost terms by number, so that real sizes are looked up once for each and not once for each of
// its uses.

namespace schaas::client {

class Unknowns {
 public:
  /// Of equal variables the same one, counted from 0.
  int number(const Variable& variable);
  /// The values of all, by number. Errors: [unknown-size].
  support::Result<std::vector<double>> values(const Sizes& sizes) const;

 private:
  std::vector<Variable> variables_;  // few: compared one by one
};

}  // namespace schaas::client
