#pragma once
#include <string>
#include <vector>

#include "client/cpp/selection/occupied_rows.h"
#include "schaas/select.h"

// Variables of cost terms by number, so that real sizes are looked up once for each and not once for each of
// its uses.

namespace schaas::client {

class Unknowns {
 public:
  /// Returns the number of a variable, from 0; equal ones with the same leading levels have the same one.
  int number(const Variable& variable, LeadingLevels leading = {});
  /// Returns the number of the share of a storage level's coordinates that entries have.
  int share(const OccupiedRows& coordinates);
  /// The values of all, by number. Errors: [unknown-size].
  support::Result<std::vector<double>> values(const Sizes& sizes) const;

 private:
  struct Unknown {
    Variable variable;
    LeadingLevels leading{};
    bool is_share = false;  // share of the coordinates of the variable's level
    bool operator==(const Unknown&) const = default;
  };
  int index_of(const Unknown& unknown);

  std::vector<Unknown> unknowns_;  // few: compared one by one
};

/// Returns the numbers of the trips of a nest's loops, by loop.
std::vector<int> trip_numbers(const Nest& nest, Unknowns& unknowns);

}  // namespace schaas::client
