#include "client/cli/verify.h"

#include <algorithm>
#include <chrono>

// Compares a result with the oracle, on the data as they were read, so that packing is verified, too.
namespace schaas::cli {

support::Result<Verification> verify(const client::Program& program, const client::Operands& operands,
                                     const client::Packed& packed, const client::PackedTensor& result) {
  const auto start = std::chrono::steady_clock::now();
  std::map<std::string, client::OracleOperand> values;
  std::map<std::string, client::CooTensor> bands;  // which store more than was read
  for (const auto& operand : operands.tensors) {
    std::visit([&](const auto& data) { values[operand.name] = &data; }, operand.data);
    const auto& levels = operand.format.levels;
    // A band stores all elements between its first and last entry, and a kernel sees them; the oracle must,
    // too.
    if (std::count(levels.begin(), levels.end(), format::LevelFormat::banded) == 0) continue;
    if (operand.name == packed.result) continue;
    values[operand.name] = &(bands[operand.name] = client::all_stored(packed.tensors.at(operand.name)));
  }
  client::OracleOptions options;
  options.extents = operands.extents;
  options.type = packed.value_type;
  for (const auto& operand : operands.tensors)
    if (operand.format.values) options.stored[operand.name] = *operand.format.values;
  SCHAAS_ASSIGN_OR_RETURN(const client::Expected expected, client::evaluate(program, values, options));
  // The structure is checked first: comparing values reads through positions.
  SCHAAS_RETURN_IF_ERROR(client::validate(result.view(), program.result().tensor));
  SCHAAS_ASSIGN_OR_RETURN(const client::Comparison comparison, client::compare(result, expected));
  Verification verification;
  verification.checked = comparison.checked;
  verification.max_relative_error = comparison.max_relative_error;
  verification.tolerance = client::tolerance(result.value_type());
  verification.passed = comparison.max_relative_error <= verification.tolerance;
  verification.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return verification;
}

}  // namespace schaas::cli
