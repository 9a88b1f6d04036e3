#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gmpxx.h>

#include "compiler/cost/cost.h"
#include "compiler/schedule/trace.h"

namespace schaas::space {

/// One schedule, or several of one cost that differ in loop orders that do not matter.
struct ListedMember {
  schedule::Trace trace;
  cost::Cost cost;
  mpz_class schedules;           ///< it stands for
  std::uint64_t loop_trees = 1;  ///< distinct ones among these
  bool counted = true;           ///< they are not those of an earlier member of the list as well
  /// Targets of a program's nests that share no loop, with the paths of their sections.
  std::vector<std::pair<std::string, schedule::Path>> apart{};
};

/// The members of a space that is small enough, or too irregular, to be counted otherwise.
struct ListedMembers {
  std::vector<ListedMember> members;
  mpz_class schedules;    ///< schedules of the whole space, as far as it was listed
  std::size_t steps = 0;  ///< trees that the listing looked at
  std::string limited;    ///< sentence on what was left out; "" when nothing was
};

}  // namespace schaas::space
