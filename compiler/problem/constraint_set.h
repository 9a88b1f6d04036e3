#pragma once
#include <map>
#include <string>
#include <vector>

#include "compiler/index_notation/nodes.h"
#include "compiler/problem/constraint.h"
#include "compiler/support/result.h"

namespace schaas::problem {

/// The constraints of a problem in the form it stores them: every extent written on its class's first index
/// (index_notation/extent_classes.h); of constraints that differ in their constant alone the strongest; `i <=
/// j`, `j <= i` for every other index of a class; sorted, unique. simplify(simplify(x)) == simplify(x).
/// Errors: invalid [constant-range], [never-true] (equal extents make a constraint impossible), without a
/// source range.
support::Result<std::vector<Constraint>> simplify(const std::vector<index_notation::Assignment>& statements,
                                                  const std::vector<Constraint>& constraints);

/// `constraint` with extents and tensors renamed and brought back to normal form; names without an entry
/// stay.
support::Result<std::vector<Constraint>> rename(const Constraint& constraint,
                                                const std::map<std::string, std::string>& index_names,
                                                const std::map<std::string, std::string>& tensor_names);

/// Two constraints, by position, that bound the same extent or count so that no value is left; first <
/// second.
struct Contradiction {
  std::size_t first = 0;
  std::size_t second = 0;
  Symbol symbol;
  std::int64_t least = 0;  ///< one says least <= symbol, the other symbol <= most, and most < least
  std::int64_t most = 0;
};
/// The first pair found when reading from the front, or none.
std::vector<Contradiction> find_contradiction(const std::vector<Constraint>& constraints);

}  // namespace schaas::problem
