#pragma once
#include <map>
#include <string>
#include <vector>

#include "schaas/expression.h"
#include "schaas/oracle.h"

namespace schaas::client {

/// `result = operand * operand * ...` with the semiring's sum over every index that is not on the left.
struct OracleProduct {
  const Semiring* semiring = &operators::plus_times();
  Access result;
  std::vector<Access> operands;
};

/// invalid [oracle-operand]: a tensor that is missing or does not fit the statement.
inline support::Diagnostic bad_operand(const std::string& message) {
  return support::invalid("oracle-operand", message);
}

/// One sparse operand drives (the one with most entries); further sparse operands are looked up. A dense
/// factor is multiplied as soon as the indices it shares with the driver are bound. Errors: those of
/// evaluate (schaas/oracle.h).
support::Result<Expected> evaluate_product(const OracleProduct& product,
                                           const std::map<std::string, OracleOperand>& operands,
                                           std::int64_t memory_limit);

}  // namespace schaas::client
