#pragma once
#include <map>
#include <string>
#include <vector>

#include "compiler/index_notation/nodes.h"
#include "compiler/problem/constraint.h"
#include "compiler/support/result.h"

namespace schaas::problem {

/// Index -> the first index (in index_variables order) that must have the same extent because both stand at
/// the same mode of one tensor: in B(i,j) * B(j,k) all of i, j, k. An index alone in its class stands for
/// itself.
std::map<std::string, std::string> extent_classes(const index_notation::Assignment& statement);

/// The constraints of a problem in the form it stores them: every extent written on its class's first index;
/// of constraints that differ in their constant alone the strongest; `i <= j`, `j <= i` for every other index
/// of a class; sorted, unique. simplify(simplify(x)) == simplify(x). Errors: invalid [constant-range],
/// [never-true] (equal extents make a constraint impossible), without a place.
support::Result<std::vector<Constraint>> simplify(const index_notation::Assignment& statement,
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
