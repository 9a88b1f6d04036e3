#include "schaas/oracle.h"

#include <new>

#include "oracle_product.h"

namespace schaas::client {
namespace {

std::optional<OracleProduct> product_of(const Program& program) {
  OracleProduct product;
  product.semiring = program.semiring;
  product.result = program.result();
  const Expression& value = program.statements.back().value;
  if (const auto* access = std::get_if<Access>(&value.value)) {
    product.operands = {*access};
    return product;
  }
  const auto* operation = std::get_if<Operation>(&value.value);
  if (operation == nullptr || operation->function != Function::multiply) return std::nullopt;
  for (const auto& argument : operation->arguments) {
    const auto* access = std::get_if<Access>(&argument.value);
    if (access == nullptr) return std::nullopt;
    product.operands.push_back(*access);
  }
  return product;
}

}  // namespace

support::Result<Expected> evaluate(const Program& program,
                                   const std::map<std::string, OracleOperand>& operands,
                                   std::int64_t memory_limit) {
  const auto product = product_of(program);
  if (!product || program.statements.size() != 1 || program.statements.front().update.has_value() ||
      program.semiring != &semirings().front()) {
    return support::unsupported("oracle-expression",
                                "verifying is limited to one product of tensors with ordinary sums");
  }
  try {
    return evaluate_product(*product, operands, memory_limit);
  } catch (const std::bad_alloc&) {
    return support::exhausted("memory", "verifying ran out of memory");
  }
}

}  // namespace schaas::client
