#pragma once
#include <map>
#include <string>

#include "compiler/problem/problem.h"

namespace schaas::test_support {

/// A problem that must be right, without constraints.
inline problem::Problem problem_of(const std::string& expression,
                                   const std::map<std::string, std::string>& formats,
                                   const std::string& profile = "default") {
  problem::ProblemText text;
  text.expression = expression;
  text.formats = formats;
  text.profile = profile;
  return problem::build(text).value();
}

}  // namespace schaas::test_support
