#pragma once
#include <map>
#include <string>

#include "compiler/problem/problem.h"

namespace schaas::test_support {

/// Returns the formats of tensors that the expression has.
inline std::map<std::string, std::string> present(const std::string& expression,
                                                  std::map<std::string, std::string> formats) {
  std::erase_if(formats,
                [&](const auto& one) { return expression.find(one.first + "(") == std::string::npos; });
  return formats;
}

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
