#pragma once
#include <string>
#include <vector>

#include "compiler/problem/problem.h"

namespace schaas::schedule {

/// Issues t1, t2, ... in order of creation, without names that the problem has.
class TemporaryNames {
 public:
  explicit TemporaryNames(const problem::Problem& problem);
  std::string next();

 private:
  std::vector<std::string> taken_;
  int last_ = 0;
};

}  // namespace schaas::schedule
