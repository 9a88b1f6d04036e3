#include "compiler/problem/constraint.h"

namespace schaas::problem {
namespace {

std::string print(const Monomial& monomial) {
  std::string out;
  if (monomial.coefficient != 1 || monomial.powers.empty()) out = std::to_string(monomial.coefficient);
  for (const auto& [symbol, exponent] : monomial.powers) {
    for (int n = 0; n < exponent; ++n) {
      if (!out.empty()) out += '*';
      out += problem::print(symbol);
    }
  }
  return out;
}

std::string print(const std::vector<Monomial>& sum) {
  if (sum.empty()) return "0";
  std::string out;
  for (const auto& monomial : sum) {
    if (!out.empty()) out += " + ";
    out += print(monomial);
  }
  return out;
}

}  // namespace

std::string print(const Symbol& symbol) {
  if (symbol.kind != Symbol::Kind::nonzeros) return symbol.name;
  return "nnz(" + symbol.name + "," + std::to_string(symbol.levels) + ")";
}

std::string print(const Constraint& constraint) {
  return print(constraint.lhs) + " <= " + print(constraint.rhs);
}

}  // namespace schaas::problem
