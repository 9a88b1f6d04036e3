#pragma once
#include <map>
#include <string>
#include <tuple>
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
  struct Less {
    bool operator()(const Variable& a, const Variable& b) const {
      const auto key = [](const Variable& v) {
        return std::tie(v.kind, v.index, v.tensor, v.level, v.copy_of, v.outer, v.outer_dense);
      };
      return key(a) < key(b);
    }
  };
  std::map<Variable, int, Less> numbers_;
  std::vector<Variable> variables_;
};

}  // namespace schaas::client
