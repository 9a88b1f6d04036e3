#include "compiler/index_notation/printer.h"

namespace schaas::index_notation {

std::string print(const Access& access) {
  if (access.indices.empty()) return access.tensor;
  std::string out = access.tensor;
  char separator = '(';
  for (const auto& index : access.indices) {
    out += separator + index;
    separator = ',';
  }
  return out + ')';
}

std::string print(const Expression& expression) {
  std::string out;
  for (const auto& access : operands(expression)) {
    if (!out.empty()) out += " * ";
    out += print(access);
  }
  return out;
}

std::string print(const Assignment& assignment) {
  return print(assignment.result) + " = " + print(assignment.value);
}

}  // namespace schaas::index_notation
