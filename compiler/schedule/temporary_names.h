#pragma once
#include <string>
#include <vector>

#include "compiler/problem/problem.h"

namespace schaas::schedule {

/// t1, t2, ... in order of creation, without the names the problem has taken.
class TemporaryNames {
 public:
  explicit TemporaryNames(const problem::Problem& problem);
  std::string next();

 private:
  std::vector<std::string> taken_;
  int last_ = 0;
};

}  // namespace schaas::schedule
