#include "compiler/problem/constraint.h"

namespace schaas::problem {
namespace {

std::string monomial_text(const Monomial& monomial) {
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

std::string sum_text(const std::vector<Monomial>& sum) {
  if (sum.empty()) return "0";
  std::string out;
  for (const auto& monomial : sum) {
    if (!out.empty()) out += " + ";
    out += monomial_text(monomial);
  }
  return out;
}

}  // namespace

std::string print(const Symbol& symbol) {
  if (symbol.kind != Symbol::Kind::nonzeros) return symbol.name;
  return "nnz(" + symbol.name + "," + std::to_string(symbol.levels) + ")";
}

std::string print(const Constraint& constraint) {
  return sum_text(constraint.lhs) + " <= " + sum_text(constraint.rhs);
}

}  // namespace schaas::problem
