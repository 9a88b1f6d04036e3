#pragma once
#include <string>

#include "compiler/loop_ir/kernel.h"

namespace schaas::loop_ir {

/// Prints the text form (README.md); parse(print(k)) equals k.
std::string print(const Kernel& kernel);
std::string print(const ExpressionPtr& expression);
/// Prints statements as they stand in a phase.
std::string print(const StatementPtr& statement);

}  // namespace schaas::loop_ir
